package org.globalfs.datastore.node;

import java.util.concurrent.TimeUnit;

/**
 * Whether what a pass of {@link Repair} left is worth a line in the log: passes may follow each
 * other every few seconds while something is left. For one thread.
 */
final class RepairNews {
    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(10);

    private record Left(long toMove, long toRebuild, long unmade) {}

    private Left told = new Left(0, 0, 0);
    private long toldNs;

    /**
     * True: it is not what was told last, or was told long ago.
     *
     * @param nowNs of {@link System#nanoTime}
     */
    boolean of(long toMove, long toRebuild, long unmade, long nowNs) {
        Left left = new Left(toMove, toRebuild, unmade);
        if (left.equals(told) && nowNs - toldNs < AGAIN_NS) {
            return false;
        }
        told = left;
        toldNs = nowNs;
        return true;
    }
}
