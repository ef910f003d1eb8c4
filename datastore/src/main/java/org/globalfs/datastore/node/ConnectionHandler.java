package org.globalfs.datastore.node;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves one connection on a thread of its own, requests in order. */
final class ConnectionHandler implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
    private static final int BUFFER_BYTES = 64 << 10;

    private final SocketChannel channel;
    private final String cluster;
    private final String node;

    /** Arrived bytes lie between position and limit. */
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);

    private final Requests requests;
    private final Replies replies;
    private boolean greeted;

    ConnectionHandler(SocketChannel channel, Requests requests, String cluster, String node) {
        this.channel = channel;
        this.requests = requests;
        replies = new Replies(channel);
        this.cluster = cluster;
        this.node = node;
    }

    @Override
    public void run() {
        try (channel) {
            while (true) {
                serveOne();
            }
        } catch (EOFException | ClosedChannelException e) {
            LOG.trace("{}: connection closed", node);
        } catch (IOException | UncheckedIOException e) {
            LOG.debug("{}: connection dropped: {}", node, e.toString());
        } catch (OutOfMemoryError e) {
            // Of buffers outside the heap; what the heap lacks ends the process. Others have
            // theirs.
            LOG.warn("{}: connection dropped: {}", node, e.toString());
        } catch (BufferUnderflowException e) {
            LOG.warn("{}: connection dropped: a request lacks fields", node);
        }
    }

    private void serveOne() throws IOException {
        await(Frame.HEADER_BYTES);
        Frame.Header header = Frame.header(in, in.position());
        await(Frame.HEADER_BYTES + header.metaBytes());
        Frame.check(in, in.position(), header);
        if (header.totalBytes() <= BUFFER_BYTES) {
            await(header.totalBytes());
            int metaAt = in.position() + Frame.HEADER_BYTES;
            ByteBuffer meta = in.slice(metaAt, header.metaBytes());
            ByteBuffer payload = in.slice(metaAt + header.metaBytes(), header.payloadBytes());
            handle(header, meta, payload);
            in.position(in.position() + header.totalBytes());
            return;
        }
        int metaAt = in.position() + Frame.HEADER_BYTES;
        ByteBuffer meta = ByteBuffer.allocate(header.metaBytes());
        meta.put(in.slice(metaAt, header.metaBytes())).flip();
        in.position(metaAt + header.metaBytes());
        ByteBuffer payload = BufferPool.take(header.payloadBytes());
        try {
            payload.limit(header.payloadBytes());
            int here = Math.min(in.remaining(), payload.remaining());
            payload.put(in.slice(in.position(), here));
            in.position(in.position() + here);
            while (payload.hasRemaining()) {
                if (channel.read(payload) < 0) {
                    throw new EOFException();
                }
            }
            handle(header, meta, payload.flip());
        } finally {
            BufferPool.give(payload);
        }
    }

    /** Blocks until `bytes` have arrived; answers what is unanswered before it waits. */
    private void await(int bytes) throws IOException {
        if (in.remaining() >= bytes) {
            return;
        }
        if (in.capacity() - in.position() < bytes || !in.hasRemaining()) {
            in.compact().flip();
        }
        requests.settle(replies);
        int start = in.position();
        while (in.limit() - start < bytes) {
            in.position(in.limit());
            in.limit(in.capacity());
            int n = channel.read(in);
            in.limit(in.position());
            in.position(start);
            if (n < 0) {
                throw new EOFException();
            }
        }
    }

    private void handle(Frame.Header header, ByteBuffer meta, ByteBuffer payload)
            throws IOException {
        if (header.status() != ChunkStatus.REQUEST.code()) {
            throw new IOException("not a request: " + header);
        }
        Opcode opcode = Opcode.of(header.opcode());
        if (opcode == null || opcode == Opcode.HELLO || opcode == Opcode.PING) {
            requests.settle(replies);
        }
        if (opcode == null) {
            replies.send(Opcode.PING, ChunkStatus.BAD_REQUEST, header.request());
        } else if (opcode == Opcode.HELLO) {
            hello(header, meta);
        } else if (!greeted) {
            throw new IOException("first request is " + opcode + ", not HELLO");
        } else if (opcode == Opcode.PING) {
            replies.send(opcode, ChunkStatus.OK, header.request());
        } else {
            requests.handle(header, opcode, meta, payload, replies);
        }
    }

    private void hello(Frame.Header header, ByteBuffer meta) throws IOException {
        int version = meta.getInt();
        String theirs = Frame.readString(meta);
        String wanted = Frame.readString(meta);
        ChunkStatus status = ChunkStatus.OK;
        if (version != Frame.PROTOCOL_VERSION) {
            status = ChunkStatus.WRONG_VERSION;
        } else if (!theirs.equals(cluster)) {
            status = ChunkStatus.WRONG_CLUSTER;
        } else if (!wanted.isEmpty() && !wanted.equals(node)) {
            status = ChunkStatus.WRONG_NODE;
        }
        greeted = status == ChunkStatus.OK;
        replies.send(
                Opcode.HELLO,
                status,
                header.request(),
                to -> {
                    to.putInt(Frame.PROTOCOL_VERSION);
                    Frame.writeString(to, node);
                });
        if (!greeted) {
            throw new IOException("refused a client of cluster " + theirs + ": " + status);
        }
    }
}
