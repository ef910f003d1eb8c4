package org.globalfs.datastore.node;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node holds more than its {@link Scrub} can read within a period, which is worth a line
 * in the log once a period: damage is found late then, perhaps after the block's other chunks are
 * lost. For one thread.
 */
final class LateScrub {
    private static final double MIB = 1 << 20;

    private final ScrubOptions options;
    private @Nullable Long toldNs;

    LateScrub(ScrubOptions options) {
        this.options = options;
    }

    /**
     * What is to be said now, if anything.
     *
     * @param liveBytes all that is to be read
     * @param nowNs of {@link System#nanoTime}
     */
    Optional<String> of(long liveBytes, long nowNs) {
        double needed = liveBytes * 1e3 / Math.max(1, options.periodMs());
        boolean late = options.periodMs() > 0 && needed > options.bytesPerSecond();
        if (!late
                || toldNs != null
                        && nowNs - toldNs < Duration.ofMillis(options.periodMs()).toNanos()) {
            return Optional.empty();
        }
        toldNs = nowNs;
        String takes =
                options.bytesPerSecond() == 0
                        ? "reads none of its chunks"
                        : String.format(
                                "takes %.1f h to read all its chunks",
                                liveBytes / 3.6e3 / options.bytesPerSecond());
        return Optional.of(
                String.format(
                        "%s, and not its scrubPeriod of %.1f h: set scrubBandwidth to %dMiB at"
                                + " least, or a longer scrubPeriod",
                        takes, options.periodMs() / 3.6e6, (long) Math.ceil(needed / MIB)));
    }
}
