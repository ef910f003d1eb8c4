package org.globalfs.multicast.transport;

import java.net.InetSocketAddress;
import java.util.Map;

/**
 * Where and with whom to talk.
 *
 * @param maxQueuedBytes unsent bytes for one peer at which its connection is given up; the peer
 *     then catches up
 */
public record TransportOptions(
        String cluster,
        int self,
        InetSocketAddress bind,
        Map<Integer, InetSocketAddress> peers,
        int maxQueuedBytes) {
    public static final int DEFAULT_MAX_QUEUED_BYTES = 64 << 20;
}
