package org.globalfs.protocol;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file system that a folder is on. Each call asks the kernel anew, and does not wait for the
 * disk. Thread-safe.
 */
public interface Disk {

    /** For who met a full disk and had to stop. */
    String FULL_REMEDY =
            "Make room there, then start this process again; nothing that was acknowledged is lost";

    /** Bytes that a user without privileges may still take. */
    long freeBytes() throws IOException;

    /** Bytes that it has in all. */
    long sizeBytes() throws IOException;

    /**
     * Of a folder that exists, and stays.
     *
     * @throws IOException the folder is not there, or cannot be reached
     */
    static Disk of(Path folder) throws IOException {
        FileStore store = Files.getFileStore(folder);
        return new Disk() {
            @Override
            public long freeBytes() throws IOException {
                return store.getUsableSpace();
            }

            @Override
            public long sizeBytes() throws IOException {
                return store.getTotalSpace();
            }
        };
    }

    /**
     * What tells the file system of a folder from others, of this machine and of others, until the
     * machine starts again.
     *
     * @throws IOException the folder is not there, or cannot be reached
     */
    static String identity(Path folder) throws IOException {
        Path boot = Path.of("/proc/sys/kernel/random/boot_id");
        return Files.isReadable(boot)
                ? Files.readString(boot).strip() + ":" + Files.getAttribute(folder, "unix:dev")
                : InetAddress.getLocalHost().getHostName()
                        + ":"
                        + Files.getFileStore(folder).name();
    }

    /** Whether something failed because the disk, or somebody's quota of it, is used up. */
    static boolean isFull(@Nullable Throwable failure) {
        String message = failure == null ? null : failure.getMessage();
        return message != null
                && (message.contains("No space left") || message.contains("quota exceeded"));
    }
}
