package org.globalfs.cli;

/** How the program ends; scripts rely on these numbers (docs/operations.md). */
public final class ExitCode {
    public static final int OK = 0;

    /** The operation failed for a reason that has no number of its own. */
    public static final int FAILED = 1;

    public static final int USAGE = 2;

    /** A configuration or a folder that cannot be used. */
    public static final int CONFIG = 3;

    public static final int PORT_BUSY = 4;
    public static final int ZOOKEEPER = 5;
    public static final int ALREADY_RUNNING = 6;

    private ExitCode() {}
}
