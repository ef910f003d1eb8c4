package org.globalfs.protocol.config;

import java.util.List;

/**
 * How a cluster looks after what it has in buckets.
 *
 * @param checkPeriodMs how often the buckets are compared for what is missing; 0: only when one of
 *     them has been away, and when somebody asks
 * @param scrubPeriodMs every object is read once in this time; 0: only when somebody asks
 * @param scrubBytesPerSecond reads at most, for each partition; 0: only when somebody asks
 * @param repairBytesPerSecond writes at most, for each partition; 0: nothing is looked for and
 *     nothing is made anew
 */
public record S3Upkeep(
        long checkPeriodMs,
        long scrubPeriodMs,
        long scrubBytesPerSecond,
        long repairBytesPerSecond) {
    public static final long DEFAULT_SCRUB_BYTES_PER_SECOND = 32L << 20;

    private static final List<String> KEYS =
            List.of("checkPeriod", "scrubPeriod", "scrubBandwidth", "repairBandwidth");
    private static final long HOUR_MS = 3_600_000;

    public static final S3Upkeep DEFAULT =
            new S3Upkeep(24 * HOUR_MS, 7 * 24 * HOUR_MS, DEFAULT_SCRUB_BYTES_PER_SECOND, 64L << 20);

    private static final long LEAST_PERIOD_MS = 60_000;

    /** Of the keys that go with 'store: s3'. */
    static S3Upkeep read(Yaml yaml) throws ConfigException {
        return new S3Upkeep(
                periodMs(yaml, "checkPeriod", DEFAULT.checkPeriodMs),
                periodMs(yaml, "scrubPeriod", DEFAULT.scrubPeriodMs),
                yaml.sizeBytes("scrubBandwidth", DEFAULT.scrubBytesPerSecond),
                yaml.sizeBytes("repairBandwidth", DEFAULT.repairBytesPerSecond));
    }

    /** Each begins with listing whole buckets. */
    private static long periodMs(Yaml yaml, String key, long otherwise) throws ConfigException {
        long periodMs = yaml.durationMs(key, otherwise);
        if (periodMs != 0 && periodMs < LEAST_PERIOD_MS) {
            throw yaml.error(key, "must be 0s, for never, or at least 1min");
        }
        return periodMs;
    }

    /** For a store that has no buckets. */
    static void refuse(Yaml yaml) throws ConfigException {
        for (String key : KEYS) {
            if (yaml.has(key)) {
                throw yaml.error(
                        key,
                        "goes with 'store: s3': remove it; storage nodes have theirs in"
                                + " 'roles.storage'");
            }
        }
    }
}
