package org.globalfs.cli.command;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Logging;
import org.globalfs.cli.server.ServerProcess;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.config.ServerConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The life of a server process: start, serve until told to end, close in order. */
final class Serving {
    private static final Logger LOG = LoggerFactory.getLogger(Serving.class);

    private Serving() {}

    static int run(List<ServerConfig> configs, RunFileOption runFile, boolean verbose)
            throws Exception {
        Logging.serving(verbose);
        LostThreads.endTheProcess();
        runFile.begin();
        CountDownLatch ended = new CountDownLatch(1);
        try (ServerProcess process = ServerProcess.start(configs, Serving::fatal)) {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> end(process, runFile, ended), "stop"));
            runFile.ready();
            ended.await();
        }
        return ExitCode.OK;
    }

    private static void end(ServerProcess process, RunFileOption runFile, CountDownLatch ended) {
        process.close();
        runFile.end();
        LOG.info("stopped");
        ended.countDown();
    }

    private static String remedy(Throwable cause) {
        return OpenFiles.areUsedUp(cause) ? ". " + OpenFiles.remedy() : "";
    }

    /** What was acknowledged is on disk; going on could corrupt it. */
    private static void fatal(Throwable cause) {
        try {
            LOG.error("this process cannot go on and ends at once{}", remedy(cause), cause);
        } finally {
            Runtime.getRuntime().halt(ExitCode.FAILED);
        }
    }
}
