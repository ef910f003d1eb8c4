package org.globalfs.datastore.node;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.globalfs.protocol.AcceptTrouble;
import org.globalfs.protocol.BindFailure;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections of the storage protocol; each is served by a platform thread, since its disk
 * calls block.
 */
public final class StorageServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StorageServer.class);
    private static final long LOOK_MS = 1_000;
    private static final long ACCEPT_PAUSE_NS = 50_000_000;
    private static final long STACK_BYTES = 256 << 10;
    private static final long CLOSE_WAIT_MS = 5_000;

    private final String cluster;
    private final String node;
    private final ServerSocketChannel listener;
    private final HostPort address;
    private final Thread acceptor;
    private @Nullable Supplier<Requests> requests;
    private final Limits limits;
    private final ConnectionHandler.Budgets budgets;
    private final AtomicBoolean began = new AtomicBoolean();
    private final Map<SocketChannel, ConnectionWatch> open = new ConcurrentHashMap<>();
    private final ThreadFactory connectionThreads;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /**
     * How long connections last.
     *
     * @param idleMs without a request; clients open another one then
     * @param stalledMs in the middle of a request or an answer, or before HELLO
     * @param connections at once; for one more, that is closed which has waited longest for a
     *     request
     */
    public record Limits(long idleMs, long stalledMs, int connections) {
        private static final int CONNECTIONS = 4096;
        public static final Limits DEFAULT = new Limits(300_000, 30_000, CONNECTIONS);

        /** Of as many connections as usual. */
        public Limits(long idleMs, long stalledMs) {
            this(idleMs, stalledMs, CONNECTIONS);
        }
    }

    /**
     * Listens; connections are served from {@link #start} on.
     *
     * @param node what clients have to ask for
     * @param bind port 0 takes a free one
     */
    public StorageServer(String cluster, String node, HostPort bind) throws IOException {
        this(cluster, node, bind, Limits.DEFAULT);
    }

    /** With other limits. */
    public StorageServer(String cluster, String node, HostPort bind, Limits limits)
            throws IOException {
        this(cluster, node, bind, limits, ServerBudgets.OF_PROCESS.ofServer(), ofConnections(node));
    }

    private static ThreadFactory ofConnections(String node) {
        return Thread.ofPlatform()
                .daemon()
                .stackSize(STACK_BYTES)
                .name("storage-" + node)
                .factory();
    }

    StorageServer(
            String cluster,
            String node,
            HostPort bind,
            Limits limits,
            ConnectionHandler.Budgets budgets,
            ThreadFactory connectionThreads)
            throws IOException {
        this.connectionThreads = connectionThreads;
        this.cluster = cluster;
        this.node = node;
        this.limits = limits;
        this.budgets = budgets;
        listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(bind.resolve(), 512);
            listener.socket().setSoTimeout((int) lookMs());
        } catch (BindException e) {
            listener.close();
            throw new IOException(
                    node
                            + " cannot listen on "
                            + bind
                            + " ("
                            + e.getMessage()
                            + "): "
                            + BindFailure.mend(e),
                    e);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
        int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        address = new HostPort(bind.host(), port);
        acceptor =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + node + "-accept")
                        .unstarted(this::accept);
    }

    /** Where it listens. */
    public HostPort address() {
        return address;
    }

    /**
     * @param answers makes what answers one connection
     */
    public void start(Supplier<Requests> answers) {
        requests = answers;
        if (began.compareAndSet(false, true)) {
            budgets.process().begin();
        }
        acceptor.start();
    }

    /** Threads of connections, those included that are about to begin or to end. */
    int threads() {
        return threads.size();
    }

    /** Connections now. */
    public int connections() {
        return open.size();
    }

    /** How often the acceptor looks whether a connection has lasted too long. */
    private long lookMs() {
        return Math.clamp(Math.min(limits.idleMs, limits.stalledMs) / 4, 1, LOOK_MS);
    }

    private void accept() {
        AcceptTrouble trouble = new AcceptTrouble(LOG, node);
        long lookedNs = System.nanoTime();
        while (listener.isOpen()) {
            try {
                if (System.nanoTime() - lookedNs >= TimeUnit.MILLISECONDS.toNanos(lookMs())) {
                    closeOverdue();
                    lookedNs = System.nanoTime();
                }
                SocketChannel channel = listener.socket().accept().getChannel();
                if (open.size() >= limits.connections && !closeIdle()) {
                    trouble.refused(limits.connections, System.nanoTime());
                    channel.close();
                    continue;
                }
                serve(channel);
            } catch (SocketTimeoutException e) {
                LOG.trace("{}: nobody connects", node); // time to look at those that there are
            } catch (IOException | OutOfMemoryError e) {
                if (!listener.isOpen()) {
                    return;
                }
                trouble.failed(e, System.nanoTime());
                // Out of descriptors, or of memory for buffers, most likely.
                LockSupport.parkNanos(ACCEPT_PAUSE_NS);
            }
        }
    }

    private void closeOverdue() throws IOException {
        long nowNs = System.nanoTime();
        for (Map.Entry<SocketChannel, ConnectionWatch> connection : open.entrySet()) {
            if (connection.getValue().isOverdue(nowNs, limits)) {
                LOG.debug("{}: connection closed, as nothing moves on it", node);
                connection.getKey().close();
            }
        }
    }

    /**
     * Closes the connection that has been idle longest, as clients keep those that they do not need
     * now for those who do; false: all are in use.
     */
    private boolean closeIdle() throws IOException {
        long nowNs = System.nanoTime();
        SocketChannel idlest = null;
        long longestNs = -1;
        for (Map.Entry<SocketChannel, ConnectionWatch> connection : open.entrySet()) {
            long forNs = connection.getValue().idleNs(nowNs);
            if (forNs > longestNs) {
                longestNs = forNs;
                idlest = connection.getKey();
            }
        }
        if (idlest == null) {
            return false;
        }
        open.remove(idlest);
        idlest.close();
        return true;
    }

    private void serve(SocketChannel channel) throws IOException {
        try {
            startServing(channel);
        } catch (IOException | RuntimeException | Error e) {
            open.remove(channel);
            channel.close();
            throw e;
        }
    }

    private void startServing(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        ConnectionWatch watch = new ConnectionWatch();
        open.put(channel, watch);
        Supplier<Requests> answers = Objects.requireNonNull(requests);
        ConnectionHandler handler =
                new ConnectionHandler(channel, watch, budgets, answers.get(), cluster, node);
        Thread thread =
                connectionThreads.newThread(() -> {
                    try {
                        handler.run();
                    } finally {
                        open.remove(channel);
                        threads.remove(Thread.currentThread());
                    }
                });
        threads.add(thread);
        try {
            thread.start();
        } catch (Error e) {
            threads.remove(thread); // it would keep the connection's buffers
            throw e;
        }
        if (!listener.isOpen()) {
            channel.close(); // closed meanwhile: close() may have missed this one
        }
    }

    /** Stops listening, drops every connection and waits until no request is under way. */
    @Override
    public void close() throws IOException {
        listener.close();
        // The port is taken until the thread that waits for a connection has left the kernel.
        boolean interrupted = join(acceptor);
        for (SocketChannel channel : open.keySet()) {
            channel.close();
        }
        for (Thread thread : threads) {
            interrupted |= join(thread);
        }
        if (began.compareAndSet(true, false)) {
            budgets.process().end();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** True: interrupted meanwhile. */
    private static boolean join(Thread thread) {
        try {
            thread.join(CLOSE_WAIT_MS);
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }
}
