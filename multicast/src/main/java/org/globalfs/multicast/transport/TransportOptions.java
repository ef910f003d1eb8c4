package org.globalfs.multicast.transport;

import java.net.InetSocketAddress;
import java.util.Map;

/**
 * Where and with whom to talk.
 *
 * @param maxQueuedBytes memory that what waits for one peer may take; beyond it the connection is
 *     given up, and the peer then catches up
 */
public record TransportOptions(
        String cluster,
        int self,
        InetSocketAddress bind,
        Map<Integer, InetSocketAddress> peers,
        int maxQueuedBytes) {
    /** What ring 0 has under way at most, and half as much, as buffers may be half empty. */
    private static final int LEAST_QUEUED_BYTES = 24 << 20;

    private static final int MOST_QUEUED_BYTES = 64 << 20;

    /** Several peers may hang at once. */
    private static final int PART_OF_MEMORY = 8;

    /**
     * The default of {@code maxQueuedBytes}.
     *
     * @param memoryBytes limit of the process's direct memory: as large as its heap may be
     */
    public static int maxQueuedBytes(long memoryBytes) {
        return Math.clamp(memoryBytes / PART_OF_MEMORY, LEAST_QUEUED_BYTES, MOST_QUEUED_BYTES);
    }
}
