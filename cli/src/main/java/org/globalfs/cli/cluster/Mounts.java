package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.globalfs.client.fuse.MountTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts seen from outside: nothing here touches, and so hangs on, what is mounted. */
public final class Mounts {
    private static final Logger LOG = LoggerFactory.getLogger(Mounts.class);
    private static final int COMMAND_LIMIT_S = 10;

    private Mounts() {}

    public static boolean isMounted(Path mountpoint) throws IOException {
        return MountTable.named(mountpoint) != null;
    }

    /** Detaches a mount whose process is gone or asked to go; false when the kernel refuses. */
    public static boolean unmount(Path mountpoint, boolean lazy)
            throws IOException, InterruptedException {
        MountTable.Mount mount = MountTable.named(mountpoint);
        String point =
                mount == null
                        ? mountpoint.toAbsolutePath().normalize().toString()
                        : mount.mountpoint();
        return run("fusermount3", lazy ? "-uzq" : "-uq", point)
                || run("umount", lazy ? "-l" : "-v", point);
    }

    /**
     * Ends the kernel's connection of a mount, whatever its process does, so that everything in it
     * answers ENOTCONN; then detaches it. False when the kernel refuses.
     */
    public static boolean force(Path mountpoint) throws IOException, InterruptedException {
        MountTable.Mount mount = MountTable.named(mountpoint);
        if (mount == null) {
            return true;
        }
        String point = mount.mountpoint();
        if (Files.isWritable(mount.abortFile())) {
            Files.writeString(mount.abortFile(), "1");
        } else if (run("umount", "-f", "-c", point)) {
            return true;
        }
        return unmount(Path.of(point), true);
    }

    /** False also where there is no such program: root needs no fusermount3. */
    private static boolean run(String... command) throws InterruptedException {
        Process process;
        try {
            process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
        } catch (IOException e) {
            LOG.debug("{}: {}", command[0], e.getMessage());
            return false;
        }
        if (!process.waitFor(COMMAND_LIMIT_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return false;
        }
        return process.exitValue() == 0;
    }
}
