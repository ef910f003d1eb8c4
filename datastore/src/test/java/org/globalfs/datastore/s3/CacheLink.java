package org.globalfs.datastore.s3;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;
import org.globalfs.protocol.HostPort;

/** What stands between a client and a cache, and holds back what that answers first. */
final class CacheLink implements AutoCloseable {
    static final long FOREVER_MS = TimeUnit.HOURS.toMillis(1);

    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final HostPort cache;
    private final IntToLongFunction holdMs;
    private final AtomicInteger connections = new AtomicInteger();
    private final CountDownLatch closed = new CountDownLatch(1);

    /**
     * @param holdMs how long the first answer on a connection is held back, by its number
     */
    CacheLink(HostPort cache, IntToLongFunction holdMs) throws IOException {
        this.cache = cache;
        this.holdMs = holdMs;
        Thread.ofVirtual().start(this::accept);
    }

    HostPort address() {
        return new HostPort("127.0.0.1", socket.getLocalPort());
    }

    /** How many there were so far. */
    int connections() {
        return connections.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                Socket to = new Socket(cache.host(), cache.port());
                long hold = holdMs.applyAsLong(connections.getAndIncrement());
                Thread.ofVirtual().start(() -> pass(client, to, 0));
                Thread.ofVirtual().start(() -> pass(to, client, hold));
            }
        } catch (IOException e) {
            return; // the test is over
        }
    }

    private void pass(Socket from, Socket to, long hold) {
        byte[] buffer = new byte[1 << 16];
        try (from;
                to) {
            int n = from.getInputStream().read(buffer);
            if (hold > 0 && closed.await(hold, TimeUnit.MILLISECONDS)) {
                return;
            }
            while (n >= 0) {
                to.getOutputStream().write(buffer, 0, n);
                n = from.getInputStream().read(buffer);
            }
        } catch (IOException e) {
            return; // one side has ended it
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        socket.close();
    }
}
