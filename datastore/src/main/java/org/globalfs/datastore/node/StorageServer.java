package org.globalfs.datastore.node;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
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
    private static final int MAX_CONNECTIONS = 4096;
    private static final long ACCEPT_PAUSE_NS = 50_000_000;
    private static final long STACK_BYTES = 256 << 10;
    private static final long CLOSE_WAIT_MS = 5_000;

    private final String cluster;
    private final String node;
    private final ServerSocketChannel listener;
    private final HostPort address;
    private final Thread acceptor;
    private @Nullable Supplier<Requests> requests;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /**
     * Listens; connections are served from {@link #start} on.
     *
     * @param node what clients have to ask for
     * @param bind port 0 takes a free one
     */
    public StorageServer(String cluster, String node, HostPort bind) throws IOException {
        this.cluster = cluster;
        this.node = node;
        listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(bind.resolve(), 512);
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
        acceptor.start();
    }

    private void accept() {
        while (listener.isOpen()) {
            try {
                SocketChannel channel = listener.accept();
                if (open.size() >= MAX_CONNECTIONS) {
                    LOG.warn("{}: more than {} connections, one refused", node, MAX_CONNECTIONS);
                    channel.close();
                    continue;
                }
                serve(channel);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException | OutOfMemoryError e) {
                LOG.warn("{}: accept failed: {}", node, e.toString());
                // Out of descriptors, or of memory for buffers, most likely.
                LockSupport.parkNanos(ACCEPT_PAUSE_NS);
            }
        }
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
        open.add(channel);
        Supplier<Requests> answers = Objects.requireNonNull(requests);
        ConnectionHandler handler = new ConnectionHandler(channel, answers.get(), cluster, node);
        Thread thread =
                Thread.ofPlatform()
                        .daemon()
                        .stackSize(STACK_BYTES)
                        .name("storage-" + node)
                        .unstarted(() -> {
                            try {
                                handler.run();
                            } finally {
                                open.remove(channel);
                                threads.remove(Thread.currentThread());
                            }
                        });
        threads.add(thread);
        thread.start();
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
        for (SocketChannel channel : open) {
            channel.close();
        }
        for (Thread thread : threads) {
            interrupted |= join(thread);
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
