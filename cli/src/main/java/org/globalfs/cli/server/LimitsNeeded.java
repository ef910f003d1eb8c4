package org.globalfs.cli.server;

import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.PidsLimit;

/**
 * What the system has to let a process have besides open files: RocksDB ends a process that cannot
 * begin a thread, and a file that may not grow looks like a full disk.
 */
public final class LimitsNeeded {
    /** Of a server at rest are some 60 in use; each connection takes one. */
    private static final long SERVER_THREADS = 256;

    /** For its workers, and what it asks others. */
    private static final long MOUNT_THREADS = 128;

    /** Segments have 64 MiB, files of RocksDB several times as much. */
    private static final long FILE_BYTES = 1L << 30;

    private LimitsNeeded() {}

    /**
     * For one server, or several in a process.
     *
     * @param threads what all of this user's processes may have
     * @param group what all processes of the control group may have
     * @param fileBytes what a file may have
     */
    static void check(int servers, long threads, PidsLimit group, long fileBytes) throws Failure {
        checkThreads(servers * SERVER_THREADS, threads, group);
        if (fileBytes < FILE_BYTES) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "files may have "
                            + (fileBytes >> 20)
                            + " MiB only, "
                            + (FILE_BYTES >> 20)
                            + " MiB are needed: raise the limit ('ulimit -f unlimited' before it is"
                            + " started, or LimitFSIZE=infinity in its systemd unit)");
        }
    }

    /**
     * For a mount.
     *
     * @param threads what all of this user's processes may have
     * @param group what all processes of the control group may have
     */
    public static void checkMount(long threads, PidsLimit group) throws Failure {
        checkThreads(MOUNT_THREADS, threads, group);
    }

    private static void checkThreads(long needed, long limit, PidsLimit group) throws Failure {
        if (group.threads() < needed) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "the processes of this control group may have "
                            + group.threads()
                            + " threads in all ("
                            + group.file()
                            + "), "
                            + needed
                            + " are needed for this one: raise the limit (TasksMax=65536 in its"
                            + " systemd unit, or the container's limit of processes)");
        }
        if (limit < needed) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "this user's processes may have "
                            + limit
                            + " threads in all, "
                            + needed
                            + " are needed for this one: raise the limit ('ulimit -u 65536' before"
                            + " it is started, or LimitNPROC=65536 in its systemd unit)");
        }
    }
}
