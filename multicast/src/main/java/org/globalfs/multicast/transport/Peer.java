package org.globalfs.multicast.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Another process of the cluster, connected or not. Used by the event loop only. */
final class Peer {
    private static final long FIRST_BACKOFF_NS = 20_000_000L;
    private static final long MAX_BACKOFF_NS = 250_000_000L;
    private static final long MAX_CONTESTED_BACKOFF_NS = 10_000_000_000L;

    /** Whoever else was this process has ended if a connection has lasted for so long. */
    private static final long UNCONTESTED_AFTER_NS = 30_000_000_000L;

    final int id;
    InetSocketAddress address;

    /** Greeted and usable. */
    @Nullable Connection connection;

    /** Being set up by this process. */
    @Nullable Connection dialling;

    /** It was connected, and is no longer. */
    boolean lost;

    /**
     * It has had a connection from another process that says that it is this one: the two would
     * take the connection from each other for ever.
     */
    boolean contested;

    boolean resolving;
    long nextDialNs;
    private long greetedNs;
    private long backoffNs = FIRST_BACKOFF_NS;

    /** Last complaint logged about this peer: a complaint is logged once, not at each attempt. */
    String complaint = "";

    Peer(int id, InetSocketAddress address) {
        this.id = id;
        this.address = address;
    }

    void dialFailed(long nowNs) {
        nextDialNs = nowNs + backoffNs;
        long most = contested ? MAX_CONTESTED_BACKOFF_NS : MAX_BACKOFF_NS;
        backoffNs = Math.min(most, backoffNs * 2);
    }

    void greeted(long nowNs) {
        greetedNs = nowNs;
        if (!contested) {
            calm();
        }
    }

    /** The connection with it has ended. */
    void ended(long nowNs) {
        if (contested && nowNs - greetedNs > UNCONTESTED_AFTER_NS) {
            contested = false;
            calm();
        }
    }

    private void calm() {
        backoffNs = FIRST_BACKOFF_NS;
        complaint = "";
    }
}
