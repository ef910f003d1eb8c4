package org.globalfs.multicast.log;

import java.nio.file.Path;

/**
 * How a process keeps its log.
 *
 * @param folder where the segments are
 * @param cluster name of the cluster, kept in every segment so that a folder is not mixed up
 * @param node replica id, kept likewise
 * @param durable false: never wait for the disk (benchmarks only)
 * @param segmentBytes size that segments grow to
 * @param retainedBytes how much of the newest log outlives checkpoints, for peers that lag
 */
public record LogOptions(
        Path folder,
        String cluster,
        int node,
        boolean durable,
        int segmentBytes,
        long retainedBytes) {
    public static final int DEFAULT_SEGMENT_BYTES = 64 << 20;
}
