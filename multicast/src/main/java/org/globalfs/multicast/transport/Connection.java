package org.globalfs.multicast.transport;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.globalfs.multicast.wire.WireException;
import org.jspecify.annotations.Nullable;

/** One TCP connection to a peer: frames in, frames out. Used by the event loop only. */
final class Connection {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int KEPT_BYTES = 4 << 20;

    /** Then other connections get their turn. */
    private static final int MOST_AT_ONCE_BYTES = 4 << 20;

    interface FrameConsumer {
        /** The buffer holds one checked body; its content is gone after the call. */
        void accept(Connection connection, ByteBuffer body) throws WireException;
    }

    final SocketChannel channel;
    private final Frames frames;
    private final SelectionKey key;

    /** What arrived and is not handed on yet is [taken, in.position()). */
    private ByteBuffer in = BufferPool.direct(BUFFER_BYTES);

    private int taken;

    /** To the peer. */
    final SendQueue out;

    /** Something was queued since the last flush. */
    boolean unflushed;

    final long sinceNs;
    long lastReceivedNs;
    long lastSentNs;

    /** Whom it turned out to lead to, once greeted. */
    @Nullable Peer peer;

    /** Whom this process meant to reach; null for an accepted connection. */
    final @Nullable Peer dialled;

    Connection(
            SocketChannel channel,
            Selector selector,
            Frames frames,
            SendQueue out,
            @Nullable Peer dialled,
            long nowNs)
            throws IOException {
        this.channel = channel;
        this.frames = frames;
        this.out = out;
        this.dialled = dialled;
        this.sinceNs = nowNs;
        this.lastReceivedNs = nowNs;
        this.lastSentNs = nowNs;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.key = channel.register(selector, 0, this);
    }

    void awaitConnect() {
        key.interestOps(SelectionKey.OP_CONNECT);
    }

    void awaitFrames() {
        key.interestOps(SelectionKey.OP_READ);
    }

    /** Reads what is there and hands on every complete frame. False: the peer closed. */
    boolean receive(FrameConsumer consumer, long nowNs) throws IOException, WireException {
        long total = 0;
        while (true) {
            int room = in.remaining();
            int read = channel.read(in);
            if (read < 0) {
                return false;
            }
            if (read > 0) {
                lastReceivedNs = nowNs;
            }
            handOn(consumer);
            total += read;
            if (read < room || total >= MOST_AT_ONCE_BYTES || !channel.isOpen()) {
                return true;
            }
        }
    }

    private void handOn(FrameConsumer consumer) throws WireException {
        int end = in.position();
        in.flip().position(taken);
        int frameBytes = Frames.frameBytes(in, maxBodyBytes());
        while (frameBytes > 0 && in.remaining() >= frameBytes) {
            int start = in.position();
            frames.check(in, start, frameBytes);
            in.limit(start + frameBytes).position(start + Frames.HEADER_BYTES);
            consumer.accept(this, in);
            if (!channel.isOpen()) {
                return;
            }
            in.limit(end).position(start + frameBytes);
            frameBytes = Frames.frameBytes(in, maxBodyBytes());
        }
        taken = in.position();
        in.limit(in.capacity()).position(end);
        makeRoom(Math.max(frameBytes, Frames.HEADER_BYTES));
    }

    /** A stranger must not say for how much room is to be made. */
    private int maxBodyBytes() {
        return peer == null ? Frames.GREETING_BYTES : Frames.MAX_BODY_BYTES;
    }

    /** For the rest of a frame that began to arrive, or for the next one. */
    private void makeRoom(int frameBytes) {
        if (taken == in.position()) {
            in = in.capacity() > KEPT_BYTES ? BufferPool.direct(BUFFER_BYTES) : in.clear();
            taken = 0;
        } else if (frameBytes > in.capacity()) {
            int bytes = Math.max(frameBytes, Math.min(2 * in.capacity(), KEPT_BYTES));
            in = BufferPool.direct(bytes).put(in.flip().position(taken));
            taken = 0;
        } else if (in.capacity() - taken < frameBytes || in.remaining() < in.capacity() / 8) {
            in.flip().position(taken);
            in.compact();
            taken = 0;
        }
    }

    /** Sends what the socket takes. */
    void flush(long nowNs) throws IOException {
        if (out.isEmpty()) {
            return;
        }
        out.writeTo(channel);
        lastSentNs = nowNs;
        int wanted =
                out.isEmpty() ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        if (key.interestOps() != wanted) {
            key.interestOps(wanted);
        }
    }

    void close() {
        out.clear();
        try {
            channel.close();
        } catch (IOException e) {
            // The connection is given up either way; the peer sees it end.
            key.cancel();
        }
    }
}
