package org.globalfs.datastore.node;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.globalfs.datastore.node.ConnectionWatch.Phase;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Hello;
import org.globalfs.datastore.wire.Opcode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves one connection on a thread of its own, requests in order. */
final class ConnectionHandler implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    /** A request that is not longer arrives with others behind it. */
    private static final int LARGE_BYTES = 64 << 10;

    /** Has room for a header and its meta: all that a connection keeps when it is idle. */
    private static final int SMALL_BYTES = 4 << 10;

    private final SocketChannel channel;
    private final ConnectionWatch watch;
    private final Budgets budgets;
    private final String cluster;
    private final String node;
    private final ByteBuffer small = ByteBuffer.allocateDirect(SMALL_BYTES).limit(0);

    /** The small one, or a large one. Arrived bytes lie between position and limit. */
    private ByteBuffer in = small;

    /** While `in` is a large one. */
    private TransferBudget.@Nullable Share share;

    private final Requests requests;
    private final Replies replies;
    private boolean greeted;
    private boolean background;

    /**
     * Memory that connections share. Who waits for the second may hold some of the first, and never
     * the other way round.
     *
     * @param process what they are a part of
     */
    record Budgets(TransferBudget arriving, TransferBudget requests, ServerBudgets process) {

        /** Of a server that shares with no other. */
        Budgets(TransferBudget arriving, TransferBudget requests) {
            this(arriving, requests, new ServerBudgets(0));
        }
    }

    ConnectionHandler(
            SocketChannel channel,
            ConnectionWatch watch,
            Budgets budgets,
            Requests requests,
            String cluster,
            String node) {
        this.channel = channel;
        this.watch = watch;
        this.budgets = budgets;
        this.requests = requests;
        replies = new Replies(channel, watch, budgets.requests);
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
        } finally {
            shrink();
        }
    }

    private void serveOne() throws IOException {
        await(Frame.HEADER_BYTES);
        Frame.Header header = Frame.header(in, in.position());
        await(Frame.HEADER_BYTES + header.metaBytes());
        Frame.check(in, in.position(), header);
        if (header.payloadBytes() > 0 && !greeted) {
            throw new IOException("first request has a payload, and is not HELLO");
        }
        if (header.totalBytes() <= LARGE_BYTES) {
            await(header.totalBytes());
            int metaAt = in.position() + Frame.HEADER_BYTES;
            ByteBuffer meta = in.slice(metaAt, header.metaBytes());
            ByteBuffer payload = in.slice(metaAt + header.metaBytes(), header.payloadBytes());
            watch.enter(Phase.WORKING);
            handle(header, meta, payload);
            in.position(in.position() + header.totalBytes());
            return;
        }
        if (!mayBeLong(Opcode.of(header.opcode()))) {
            throw new IOException("a request with so much payload: " + header);
        }
        int metaAt = in.position() + Frame.HEADER_BYTES;
        ByteBuffer meta = ByteBuffer.allocate(header.metaBytes());
        meta.put(in.slice(metaAt, header.metaBytes())).flip();
        in.position(metaAt + header.metaBytes());
        watch.enter(Phase.WORKING);
        try (var _ =
                budgets.requests.take(BufferPool.capacity(header.payloadBytes()), background)) {
            serveLong(header, meta);
        }
    }

    /** Others would ask for room for their answers as well. */
    private static boolean mayBeLong(@Nullable Opcode opcode) {
        return opcode == Opcode.PUT || opcode == Opcode.HAS || opcode == Opcode.DELETE;
    }

    private void serveLong(Frame.Header header, ByteBuffer meta) throws IOException {
        ByteBuffer payload = BufferPool.take(header.payloadBytes());
        try {
            payload.limit(header.payloadBytes());
            int here = Math.min(in.remaining(), payload.remaining());
            payload.put(in.slice(in.position(), here));
            in.position(in.position() + here);
            while (payload.hasRemaining()) {
                watch.enter(Phase.MOVING);
                if (channel.read(payload) < 0) {
                    throw new EOFException();
                }
            }
            watch.enter(Phase.WORKING);
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
        requests.settle(replies);
        if (!in.hasRemaining()) {
            shrink();
        }
        if (bytes > in.capacity()) {
            grow();
        } else if (in.capacity() - in.position() < bytes) {
            in.compact().flip();
        }
        int start = in.position();
        while (in.limit() - start < bytes) {
            watch.enter(phaseOfWait(in.limit() - start));
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

    private Phase phaseOfWait(int arrivedBytes) {
        return arrivedBytes > 0 ? Phase.MOVING : greeted ? Phase.IDLE : Phase.NEW;
    }

    private void grow() throws IOException {
        watch.enter(Phase.WORKING);
        share = budgets.arriving.take(LARGE_BYTES, background);
        ByteBuffer large = BufferPool.take(LARGE_BYTES);
        large.put(in).flip();
        in = large;
    }

    private void shrink() {
        ByteBuffer large = in;
        in = small.clear().limit(0);
        TransferBudget.Share held = share;
        if (held != null) {
            share = null;
            BufferPool.give(large);
            held.close();
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
        Hello said = Hello.read(meta);
        ChunkStatus status = ChunkStatus.OK;
        if (said.version() != Frame.PROTOCOL_VERSION) {
            status = ChunkStatus.WRONG_VERSION;
        } else if (!said.cluster().equals(cluster)) {
            status = ChunkStatus.WRONG_CLUSTER;
        } else if (!said.node().isEmpty() && !said.node().equals(node)) {
            status = ChunkStatus.WRONG_NODE;
        }
        greeted = status == ChunkStatus.OK;
        if (said.background()) {
            background = true;
            replies.inBackground();
        }
        replies.send(
                Opcode.HELLO,
                status,
                header.request(),
                to -> {
                    to.putInt(Frame.PROTOCOL_VERSION);
                    Frame.writeString(to, node);
                });
        if (!greeted) {
            throw new IOException("refused a client of cluster " + said.cluster() + ": " + status);
        }
    }
}
