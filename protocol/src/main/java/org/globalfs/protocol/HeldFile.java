package org.globalfs.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is open, and can be found by its path. The system lets whoever has it open write on
 * after it, or a folder around it, was removed: nothing of that would be there after a restart.
 */
public final class HeldFile {
    private static final Logger LOG = LoggerFactory.getLogger(HeldFile.class);

    private final Path path;
    private final @Nullable Object key;

    private HeldFile(Path path, @Nullable Object key) {
        this.path = path;
        this.key = key;
    }

    /** For who has it open, and so keeps its number from being given to another. */
    public static HeldFile of(Path path) throws IOException {
        return new HeldFile(path, keyOf(path));
    }

    /**
     * Looks whether it is still there.
     *
     * @throws IOException nothing, or another file, has its path
     */
    public void check() throws IOException {
        Object now;
        try {
            now = keyOf(path);
        } catch (NoSuchFileException e) {
            throw new IOException(lost(), e);
        } catch (IOException e) {
            LOG.debug("it is not known whether {} is there: {}", path, e.toString());
            return; // such as for want of permission: what is written is still on disk
        }
        if (key != null && !key.equals(now)) {
            throw new IOException(lost());
        }
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private String lost() {
        return path
                + " was removed, renamed or replaced while it was written to. Put it, or its folder,"
                + " back where that is possible, and start the process again: what is lost it gets"
                + " from the others";
    }
}
