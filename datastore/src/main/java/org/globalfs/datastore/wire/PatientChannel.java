package org.globalfs.datastore.wire;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * A TCP connection whose reads and writes both end when the other side does nothing for a while:
 * sockets have such a limit for reads only. Not thread-safe, but that any thread may close it.
 */
final class PatientChannel implements Closeable {
    /** For an array the JDK keeps a buffer of what was written at once, a thread. */
    private static final int MOST_AT_ONCE = 64 << 10;

    private final InetSocketAddress address;
    private final long patienceNs;
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;

    PatientChannel(InetSocketAddress address, int patienceMs) throws IOException {
        this.address = address;
        patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
        channel = SocketChannel.open();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            boolean connected = channel.connect(address);
            key = channel.register(selector, SelectionKey.OP_CONNECT);
            while (!connected) {
                await(SelectionKey.OP_CONNECT, "cannot be connected to");
                connected = channel.finishConnect();
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Writes all of it; each part within the limit. */
    void write(byte[] bytes, int at, int length) throws IOException {
        int end = at + length;
        int from = at;
        while (from < end) {
            int n = channel.write(ByteBuffer.wrap(bytes, from, Math.min(end - from, MOST_AT_ONCE)));
            from += n;
            if (n == 0) {
                await(SelectionKey.OP_WRITE, "takes nothing");
            }
        }
    }

    /** Fills the array from `at` on; each part within the limit. */
    void read(byte[] into, int at, int length) throws IOException {
        int end = at + length;
        int from = at;
        while (from < end) {
            int n = channel.read(ByteBuffer.wrap(into, from, Math.min(end - from, MOST_AT_ONCE)));
            if (n < 0) {
                throw new EOFException(address + " closed the connection");
            }
            from += n;
            if (n == 0) {
                await(SelectionKey.OP_READ, "does not answer");
            }
        }
    }

    /** Between an answer and the next request: false if the other side has closed it, or fails. */
    boolean isQuiet() {
        try {
            return channel.read(ByteBuffer.allocate(1)) == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private void await(int operation, String failure) throws IOException {
        long untilNs = System.nanoTime() + patienceNs;
        try {
            key.interestOps(operation);
            while (selector.selectedKeys().isEmpty()) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(untilNs - System.nanoTime());
                if (leftMs <= 0) {
                    throw new SocketTimeoutException(
                            address
                                    + " "
                                    + failure
                                    + " for "
                                    + TimeUnit.NANOSECONDS.toMillis(patienceNs)
                                    + " ms");
                }
                selector.select(leftMs);
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException("interrupted");
                }
            }
            selector.selectedKeys().clear();
        } catch (ClosedSelectorException | java.nio.channels.CancelledKeyException e) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            selector.close();
        } finally {
            channel.close();
        }
    }
}
