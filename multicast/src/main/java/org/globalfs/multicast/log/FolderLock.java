package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.globalfs.multicast.log.LogException.Reason;
import org.globalfs.protocol.Folders;
import org.jspecify.annotations.Nullable;

/** Keeps a second process out of a log folder. */
final class FolderLock {
    private final FileChannel channel;

    private FolderLock(FileChannel channel) {
        this.channel = channel;
    }

    static FolderLock take(Path folder) throws IOException {
        Folders.create(folder.toAbsolutePath());
        FileChannel channel =
                FileChannel.open(
                        folder.resolve("lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
        @Nullable FileLock held;
        try {
            held = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            held = null;
        }
        if (held == null) {
            channel.close();
            throw new LogException(
                    Reason.REFUSED,
                    "the multicast log in "
                            + folder
                            + " is in use by a running replica: stop that first");
        }
        return new FolderLock(channel);
    }

    void close() throws IOException {
        channel.close();
    }
}
