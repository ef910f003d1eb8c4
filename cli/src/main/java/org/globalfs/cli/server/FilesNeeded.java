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
final class FilesNeeded {
    /** The program, logs, ZooKeeper, and some clients. */
    private static final long PROCESS = 100;

    private static final long REPLICA = 64;
    private static final long STORAGE = 12;
    private static final long CACHE = 12;

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
        if (limit < needed) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "too few open files: "
                            + needed
                            + " are needed before anything is kept. "
                            + OpenFiles.remedy(limit));
        }
    }

    private static long of(Roles roles) {
        return (roles.replica().isPresent() ? REPLICA : 0)
                + STORAGE * roles.storage().size()
                + (roles.cache().isPresent() ? CACHE : 0);
    }
}
