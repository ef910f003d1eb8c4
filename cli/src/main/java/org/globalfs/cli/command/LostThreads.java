package org.globalfs.cli.command;

import org.globalfs.cli.ExitCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of a serving process one of whose threads ended by an Error: its part stays undone,
 * such as taking old content back from a kernel, so the process ends as in a crash.
 */
final class LostThreads {
    private static final Logger LOG = LoggerFactory.getLogger(LostThreads.class);

    private LostThreads() {}

    static void endTheProcess() {
        Thread.setDefaultUncaughtExceptionHandler(LostThreads::ended);
    }

    private static void ended(Thread thread, Throwable cause) {
        try {
            LOG.error("the thread {} ended", thread.getName(), cause);
        } finally {
            if (cause instanceof Error) {
                Runtime.getRuntime().halt(ExitCode.FAILED);
            }
        }
    }
}
