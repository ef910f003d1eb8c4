package org.globalfs.oracle.policy;

/**
 * Operations of one region in a directory, those of longer ago counting less: each faded by {@code
 * exp(-age / window)}, so that a steady rate shows as what happens in one window.
 */
public record Use(double reads, double writes) {

    static final Use NONE = new Use(0, 0);

    public double operations() {
        return reads + writes;
    }

    Use plus(double moreReads, double moreWrites) {
        return new Use(reads + moreReads, writes + moreWrites);
    }

    Use plus(Use more) {
        return plus(more.reads, more.writes);
    }

    Use times(double factor) {
        return new Use(reads * factor, writes * factor);
    }
}
