package org.globalfs.cli.server;

import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.ServerConfig;

/**
 * How many files and connections a process has open before it keeps anything: with fewer it could
 * start, if at all, only to end soon.
 */
public final class FilesNeeded {
    /** The program, logs, ZooKeeper, and some clients. */
    private static final long PROCESS = 100;

    private static final long REPLICA = 64;
    private static final long STORAGE = 12;
    private static final long CACHE = 12;

    /** With some programs that write, to storage nodes of its region. */
    private static final long MOUNT = 128;

    private FilesNeeded() {}

    /**
     * @param limit what the process may have
     */
    static void check(List<ServerConfig> configs, long limit) throws Failure {
        long needed =
                PROCESS
                        + configs.stream()
                                .map(ServerConfig::roles)
                                .mapToLong(FilesNeeded::of)
                                .sum();
        check(needed, "before anything is kept", limit);
    }

    /**
     * For a mount.
     *
     * @param limit what the process may have
     */
    public static void checkMount(long limit) throws Failure {
        check(MOUNT, "for what a few programs do at once", limit);
    }

    private static void check(long needed, String what, long limit) throws Failure {
        if (limit < needed) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "too few open files: "
                            + needed
                            + " are needed "
                            + what
                            + ". "
                            + OpenFiles.remedy(limit));
        }
    }

    private static long of(Roles roles) {
        return (roles.replica().isPresent() ? REPLICA : 0)
                + STORAGE * roles.storage().size()
                + (roles.cache().isPresent() ? CACHE : 0);
    }
}
