package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small process that ends the connection of a mount whose own process died and cannot go away.
 *
 * <p>When a process dies, the kernel closes {@code /dev/fuse} for it, and whoever waits for the
 * mount gets ENOTCONN. But a thread that brings an invalidation waits in the kernel, and no signal
 * ends that, for a directory or a page that a request has locked ({@link FuseKernelCache}). Is the
 * process killed meanwhile, nobody answers that request any more, the thread waits for ever and
 * keeps the descriptors of all its threads open: the mount and all who use it hang. The guard looks
 * once a second whether the process is such a dead one (its first thread is a zombie), and ends the
 * connection. It goes itself when the mount is closed, or when its process has really ended.
 *
 * <p>Thread-safe.
 */
final class ConnectionGuard implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ConnectionGuard.class);

    /**
     * Arguments: mountpoint, file that ends its connection, pid. Input: open while it is served.
     */
    private static final String SCRIPT =
            """
            trap '' HUP INT TERM
            while :; do
              read -r -t 1; [ $? -gt 128 ] || exit 0
              { read -r state < /proc/$3/stat; } 2> /dev/null || exit 0
              case ${state##*) } in [ZX]*) break ;; esac
            done
            { echo 1 > "$2"; } 2> /dev/null || umount -f -c "$1"
            echo "globalfs: the process $3 of the mount $1 died while it waited for the kernel; its connection was ended" >&2
            """;

    private final @Nullable Process process;

    private ConnectionGuard(@Nullable Process process) {
        this.process = process;
    }

    /** Guards this process's mount; where that is not possible, says so in the log. */
    static ConnectionGuard start(Path mountpoint) throws IOException {
        MountTable.Mount mount = MountTable.at(mountpoint);
        if (mount == null) {
            return new ConnectionGuard(null); // unmounted meanwhile
        }
        Path abort = mount.abortFile();
        if (!Files.isWritable(abort) && !Mounter.privileged()) {
            log.info("no guard for {}: {} cannot be written", mountpoint, abort);
            return new ConnectionGuard(null);
        }
        List<String> command =
                List.of(
                        "setsid",
                        "bash",
                        "-c",
                        SCRIPT,
                        "globalfs-guard",
                        mountpoint.toString(),
                        abort.toString(),
                        Long.toString(ProcessHandle.current().pid()));
        try {
            return new ConnectionGuard(
                    new ProcessBuilder(command)
                            .directory(Path.of("/").toFile())
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start());
        } catch (IOException e) {
            log.warn("no guard for {}: {}", mountpoint, e.getMessage());
            return new ConnectionGuard(null);
        }
    }

    @Override
    public void close() {
        if (process == null) {
            return;
        }
        try {
            process.getOutputStream().close();
        } catch (IOException gone) {
            log.debug("the guard is gone", gone);
        }
    }
}
