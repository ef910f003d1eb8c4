package org.globalfs.datastore.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.Hello;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;

/**
 * What one operation at a time uses: a selector with a connection to each node. The calling thread
 * runs its own event loop, so there is no hand-over between threads on the way, and every wait ends
 * at a deadline. Not thread-safe; lanes are pooled.
 */
final class Lane {
    private static final int TRANSFER_BYTES = 256 << 10;

    /** A link whose oldest request waits this long, across operations, is dead. */
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(10);

    private final String cluster;
    private final boolean background;
    private final long stuckNs;
    private final Selector selector;
    private final Map<String, NodeLink> links = new HashMap<>();
    private final Deque<Exchange> finished = new ArrayDeque<>();
    private final ByteBuffer transfer = ByteBuffer.allocateDirect(TRANSFER_BYTES);
    private byte[] scratch = new byte[0];
    private long requests;
    private long lastUsedNs = System.nanoTime();

    /**
     * @param background nobody waits for what is asked for
     */
    Lane(String cluster, boolean background) throws IOException {
        this(cluster, background, STUCK_NS);
    }

    /**
     * @param stuckNs a link whose oldest request waits this long is dead
     */
    Lane(String cluster, boolean background, long stuckNs) throws IOException {
        this.cluster = cluster;
        this.background = background;
        this.stuckNs = stuckNs;
        this.selector = Selector.open();
    }

    /** What it asks for is read once: nodes need not keep it in the page cache, as pages would. */
    boolean isInBackground() {
        return background;
    }

    long nextRequest() {
        return ++requests;
    }

    /** At least so many bytes, which are the current operation's while it runs. */
    byte[] scratch(int bytes) {
        if (scratch.length < bytes) {
            scratch = new byte[bytes];
        }
        return scratch;
    }

    long lastUsedNs() {
        return lastUsedNs;
    }

    /** Sends a request; failure to connect is reported like any other, as a finished exchange. */
    void send(Exchange exchange, HostPort address) {
        try {
            link(exchange.node, address).send(exchange);
        } catch (IOException e) {
            exchange.sentNs = System.nanoTime();
            exchange.fail(e);
            finished.add(exchange);
        }
    }

    private NodeLink link(String node, HostPort address) throws IOException {
        NodeLink link = links.get(node);
        if (link != null) {
            link.lookIfClosed();
        }
        if (link != null && link.isOpen()) {
            Exchange oldest = link.oldest();
            boolean stuck = oldest != null && System.nanoTime() - oldest.sentNs >= stuckNs;
            if (link.address().equals(address) && !stuck) {
                return link;
            }
            link.fail(new IOException("node moved, or is stuck"));
        }
        Hello greeting = new Hello(cluster, node, background);
        link = new NodeLink(node, address, greeting, selector, transfer, finished);
        links.put(node, link);
        return link;
    }

    /** Gives up on everything that was sent to the node over this lane. */
    void drop(String node, IOException cause) {
        NodeLink link = links.get(node);
        if (link != null) {
            link.fail(cause);
        }
    }

    /** The next finished exchange, null if there is none now. */
    @Nullable Exchange poll() {
        return finished.pollFirst();
    }

    /** Waits until something finished, something moved, or the time has come. */
    void await(long untilNs) throws IOException {
        if (!finished.isEmpty()) {
            return;
        }
        long left = untilNs - System.nanoTime();
        if (left <= 0) {
            selector.selectNow(Lane::ready);
        } else {
            selector.select(Lane::ready, Math.max(1, (left + 999_999) / 1_000_000));
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted");
        }
    }

    private static void ready(SelectionKey key) {
        if (key.attachment() instanceof NodeLink link) {
            link.onReady();
        }
    }

    /** After every operation, however it ended. */
    void endOperation() throws IOException {
        boolean closed = false;
        Iterator<NodeLink> all = links.values().iterator();
        while (all.hasNext()) {
            NodeLink link = all.next();
            link.endOperation();
            if (!link.isOpen()) {
                all.remove();
                closed = true;
            }
        }
        if (closed) {
            selector.selectNow(Lane::ready); // only now are the sockets closed
        }
        finished.clear();
        lastUsedNs = System.nanoTime();
    }

    void close() throws IOException {
        for (NodeLink link : links.values()) {
            link.fail(new IOException("closed"));
        }
        links.clear();
        finished.clear();
        selector.close();
    }
}
