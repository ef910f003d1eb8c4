package org.globalfs.multicast.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Another process of the cluster, connected or not. Used by the event loop only. */
final class Peer {
    private static final long FIRST_BACKOFF_NS = 20_000_000L;
    private static final long MAX_BACKOFF_NS = 250_000_000L;

    final int id;
    InetSocketAddress address;

    /** Greeted and usable. */
    @Nullable Connection connection;

    /** Being set up by this process. */
    @Nullable Connection dialling;

    /** It was connected, and is no longer. */
    boolean lost;

    boolean resolving;
    long nextDialNs;
    private long backoffNs = FIRST_BACKOFF_NS;

    /** Last complaint logged about this peer: a complaint is logged once, not at each attempt. */
    String complaint = "";

    Peer(int id, InetSocketAddress address) {
        this.id = id;
        this.address = address;
    }

    void dialFailed(long nowNs) {
        nextDialNs = nowNs + backoffNs;
        backoffNs = Math.min(MAX_BACKOFF_NS, backoffNs * 2);
    }

    void greeted() {
        backoffNs = FIRST_BACKOFF_NS;
        complaint = "";
    }
}
