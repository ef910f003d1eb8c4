package org.globalfs.protocol;

import java.nio.ByteBuffer;
import java.nio.file.OpenOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What writes past the page cache (O_DIRECT) take: an option to open a file with, and buffers that
 * begin where a disk's blocks may.
 */
public final class DirectIo {
    private static final Logger LOG = LoggerFactory.getLogger(DirectIo.class);

    /** Of jdk.unsupported, whose names javac warns of. */
    private static final Optional<OpenOption> OPTION = find();

    private DirectIo() {}

    private static Optional<OpenOption> find() {
        try {
            Object[] options =
                    Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
            for (Object option : options) {
                if (option instanceof OpenOption direct && option.toString().equals("DIRECT")) {
                    return Optional.of(direct);
                }
            }
        } catch (ClassNotFoundException e) {
            LOG.debug("writing through the page cache: {}", e.toString());
        }
        return Optional.empty();
    }

    /** Empty: this Java has none. Whether a file system takes it shows when a file is opened. */
    public static Optional<OpenOption> option() {
        return OPTION;
    }

    /** A buffer outside of the heap that begins at a multiple of `alignment`, a power of two. */
    public static ByteBuffer buffer(int bytes, int alignment) {
        return ByteBuffer.allocateDirect(bytes + alignment - 1)
                .alignedSlice(alignment)
                .limit(bytes)
                .slice();
    }
}
