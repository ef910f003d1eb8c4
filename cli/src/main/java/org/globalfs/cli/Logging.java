package org.globalfs.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

/** How much is logged; where to is logback.xml's: standard error. */
public final class Logging {
    private Logging() {}

    /** For a process that serves: what it does, one line an event. */
    public static void serving(boolean verbose) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger("org.globalfs").setLevel(verbose ? Level.DEBUG : Level.INFO);
        }
    }
}
