package org.globalfs.protocol;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How many files, connections among them, this process may have open at a time. */
public final class OpenFiles {

    /** Enough for all but storage nodes that hold terabytes. */
    private static final long SUGGESTED = 65_536;

    /** It cannot be read any more once it is reached. */
    private static final long OWN = ProcessLimits.limit("Max open files");

    private OpenFiles() {}

    /** {@link Long#MAX_VALUE}: unlimited, or not known. */
    public static long limit() {
        return OWN;
    }

    /** Whether something failed for lack of them, which says nothing of the disk or the network. */
    public static boolean areUsedUp(@Nullable Throwable failure) {
        Set<Throwable> met = new HashSet<>();
        for (Throwable t = failure; t != null && met.add(t); t = t.getCause()) {
            String message = t.getMessage();
            if (message != null && message.contains("Too many open files")) {
                return true;
            }
        }
        return false;
    }

    /** For who met the limit. */
    public static String remedy() {
        return remedy(limit());
    }

    /**
     * @param limit what the process may have
     */
    public static String remedy(long limit) {
        return (limit == Long.MAX_VALUE
                        ? "Raise the limit of files and connections"
                        : "This process may have "
                                + limit
                                + " files and connections open: raise the limit")
                + " ("
                + how(SUGGESTED)
                + ")";
    }

    /**
     * How a limit is set.
     *
     * @param wanted as many as there should be
     */
    public static String how(long wanted) {
        return "'ulimit -n "
                + wanted
                + "' before it is started, or LimitNOFILE="
                + wanted
                + " in its systemd unit";
    }
}
