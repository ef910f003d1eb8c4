package org.globalfs.cli.server;

import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.GroupLimit;

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

    /** Java itself, its threads and code, and what is on its way. */
    private static final long BESIDE_BYTES = 64L << 20;

    /** RocksDB and transfers of a server, or a mount's requests. */
    private static final long BESIDE_EACH_BYTES = 96L << 20;

    private static final long LEAST_SERVER_HEAP_BYTES = 96L << 20;
    private static final long LEAST_MOUNT_HEAP_BYTES = 192L << 20;

    private LimitsNeeded() {}

    /**
     * How large a server's, or several servers', heap may become.
     *
     * @param wanted without a limit
     * @param group what all processes of the control group may have
     */
    public static long serverHeap(int servers, long wanted, GroupLimit group) {
        return heap(wanted, LEAST_SERVER_HEAP_BYTES, besides(servers), group);
    }

    /** Likewise a mount's. */
    public static long mountHeap(long wanted, GroupLimit group) {
        return heap(wanted, LEAST_MOUNT_HEAP_BYTES, besides(1), group);
    }

    private static long heap(long wanted, long least, long besides, GroupLimit group) {
        return Math.min(wanted, Math.max(least, group.most() - besides));
    }

    private static long besides(int servers) {
        return BESIDE_BYTES + servers * BESIDE_EACH_BYTES;
    }

    /**
     * The kernel ends a process, without a word, that takes more memory than there is.
     *
     * @param heapBytes what Java's heap may take
     */
    static void checkServerMemory(int servers, long heapBytes, GroupLimit group) throws Failure {
        checkMemory(heapBytes, LEAST_SERVER_HEAP_BYTES, besides(servers), group);
    }

    /** Likewise for a mount. */
    public static void checkMountMemory(long heapBytes, GroupLimit group) throws Failure {
        checkMemory(heapBytes, LEAST_MOUNT_HEAP_BYTES, besides(1), group);
    }

    private static void checkMemory(long heapBytes, long least, long besides, GroupLimit group)
            throws Failure {
        if (heapBytes + besides > group.most()) {
            long fits = group.most() - besides;
            throw new Failure(
                    ExitCode.CONFIG,
                    "the processes of this control group may have "
                            + (group.most() >> 20)
                            + " MiB of memory in all ("
                            + group.file()
                            + "), and the heap of this one may take "
                            + (heapBytes >> 20)
                            + " MiB of it, the rest "
                            + (besides >> 20)
                            + " MiB: raise the limit to "
                            + (Math.max(heapBytes, least) + besides >> 20)
                            + " MiB (MemoryMax= in its systemd unit, or the container's limit of"
                            + " memory)"
                            + (fits < least
                                    ? ""
                                    : ", or set GLOBALFS_JVM_FLAGS=-Xmx" + (fits >> 20) + "m"));
        }
    }

    /**
     * For one server, or several in a process.
     *
     * @param threads what all of this user's processes may have
     * @param group what all processes of the control group may have
     * @param fileBytes what a file may have
     */
    static void check(int servers, long threads, GroupLimit group, long fileBytes) throws Failure {
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
    public static void checkMount(long threads, GroupLimit group) throws Failure {
        checkThreads(MOUNT_THREADS, threads, group);
    }

    private static void checkThreads(long needed, long limit, GroupLimit group) throws Failure {
        if (group.most() < needed) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "the processes of this control group may have "
                            + group.most()
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
