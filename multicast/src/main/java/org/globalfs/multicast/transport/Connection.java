package org.globalfs.multicast.transport;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.wire.MessageCodec;
import org.globalfs.multicast.wire.WireException;
import org.jspecify.annotations.Nullable;

/** One TCP connection to a peer: frames in, frames out. Used by the event loop only. */
final class Connection {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int KEPT_BYTES = 1 << 20;

    interface FrameConsumer {
        /** The buffer holds one checked body; its content is gone after the call. */
        void accept(Connection connection, ByteBuffer body) throws WireException;
    }

    final SocketChannel channel;
    private final Frames frames;
    private final int maxQueuedBytes;
    private final SelectionKey key;
    private ByteBuffer in = buffer(BUFFER_BYTES);

    /** Queued bytes are [sent, out.position()). */
    private ByteBuffer out = buffer(BUFFER_BYTES);

    private int sent;
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
            int maxQueuedBytes,
            @Nullable Peer dialled,
            long nowNs)
            throws IOException {
        this.channel = channel;
        this.frames = frames;
        this.maxQueuedBytes = maxQueuedBytes;
        this.dialled = dialled;
        this.lastReceivedNs = nowNs;
        this.lastSentNs = nowNs;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.key = channel.register(selector, 0, this);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    void awaitConnect() {
        key.interestOps(SelectionKey.OP_CONNECT);
    }

    void awaitFrames() {
        key.interestOps(SelectionKey.OP_READ);
    }

    /** Reads what is there and hands on every complete frame. False: the peer closed. */
    boolean receive(FrameConsumer consumer, long nowNs) throws IOException, WireException {
        int read = channel.read(in);
        if (read > 0) {
            lastReceivedNs = nowNs;
        }
        in.flip();
        int frameBytes = Frames.frameBytes(in);
        while (frameBytes > 0 && in.remaining() >= frameBytes) {
            int start = in.position();
            frames.check(in, start, frameBytes);
            int limit = in.limit();
            in.limit(start + frameBytes).position(start + Frames.HEADER_BYTES);
            consumer.accept(this, in);
            if (!channel.isOpen()) {
                return true;
            }
            in.limit(limit).position(start + frameBytes);
            frameBytes = Frames.frameBytes(in);
        }
        makeRoom(frameBytes);
        return read >= 0;
    }

    private void makeRoom(int frameBytes) {
        if (frameBytes > in.capacity()) {
            in = buffer(frameBytes).put(in);
        } else if (!in.hasRemaining() && in.capacity() > KEPT_BYTES) {
            in = buffer(BUFFER_BYTES);
        } else {
            in.compact();
        }
    }

    /** Queues a frame. False: the queue is full. */
    boolean queueMessage(int ring, Message message) {
        if (!reserve(Frames.HEADER_BYTES + 3 + MessageCodec.sizeBound(message))) {
            return false;
        }
        int start = Frames.begin(out);
        out.put(Frames.RING_MESSAGE).putShort((short) ring);
        MessageCodec.encode(message, out);
        frames.end(out, start);
        return true;
    }

    /** Queues complete frames. False: the queue is full. */
    boolean queue(ByteBuffer encoded) {
        if (!reserve(encoded.remaining())) {
            return false;
        }
        out.put(encoded);
        return true;
    }

    private boolean reserve(int bytes) {
        if (out.remaining() >= bytes) {
            return true;
        }
        int queued = out.position() - sent;
        if ((long) queued + bytes > maxQueuedBytes) {
            return false;
        }
        ByteBuffer old = out;
        if (out.capacity() < queued + bytes) {
            out =
                    buffer(
                            (int)
                                    Math.min(
                                            maxQueuedBytes,
                                            Math.max((long) queued + bytes, 2L * old.capacity())));
            out.put(old.flip().position(sent));
        } else {
            out.flip().position(sent);
            out.compact();
        }
        sent = 0;
        return true;
    }

    /** Sends what the socket takes. */
    void flush(long nowNs) throws IOException {
        int end = out.position();
        if (end == sent) {
            return;
        }
        out.flip().position(sent);
        channel.write(out);
        lastSentNs = nowNs;
        boolean done = !out.hasRemaining();
        sent = done ? 0 : out.position();
        if (done && out.capacity() > KEPT_BYTES) {
            out = buffer(BUFFER_BYTES);
        } else {
            out.limit(out.capacity()).position(done ? 0 : end);
        }
        int wanted = done ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        if (key.interestOps() != wanted) {
            key.interestOps(wanted);
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The connection is given up either way; the peer sees it end.
            key.cancel();
        }
    }
}
