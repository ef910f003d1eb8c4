package org.globalfs.datastore.node;

import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one connection on a thread of its own, requests in order.
 *
 * <p>Puts that have already arrived behind each other are written together and synced once, before
 * anything else is answered: a client that pipelines gets a group commit.
 */
final class ConnectionHandler implements Runnable {
    private static final int BLOCK_ID_BYTES = 16;
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int MAX_UNSYNCED_PUTS = 256;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SegmentStore store;
    private final Upkeep upkeep;
    private final String cluster;
    private final String node;

    /** Arrived bytes lie between position and limit. */
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);

    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final List<UnsyncedPut> unsynced = new ArrayList<>();
    private long ticket;
    private boolean greeted;

    private record UnsyncedPut(long request, ChunkStatus status) {}

    ConnectionHandler(
            SocketChannel channel, SegmentStore store, Upkeep upkeep, String cluster, String node) {
        this.channel = channel;
        this.store = store;
        this.upkeep = upkeep;
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
        } catch (IOException e) {
            LOG.debug("{}: connection dropped: {}", node, e.toString());
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
        answerPuts();
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
        if (opcode == Opcode.PUT && greeted) {
            put(header, meta, payload);
            if (unsynced.size() >= MAX_UNSYNCED_PUTS) {
                answerPuts();
            }
            return;
        }
        answerPuts();
        if (opcode == null) {
            reply(Opcode.PING, ChunkStatus.BAD_REQUEST, header.request(), to -> {}, NOTHING);
            return;
        }
        if (opcode == Opcode.HELLO) {
            hello(header, meta);
            return;
        }
        if (!greeted) {
            throw new IOException("first request is " + opcode + ", not HELLO");
        }
        try {
            switch (opcode) {
                case GET -> get(header, meta);
                case DELETE -> delete(header, payload);
                case HAS -> has(header, meta, payload);
                case LIST -> list(header, meta);
                case STATS ->
                        reply(
                                opcode,
                                ChunkStatus.OK,
                                header.request(),
                                store.statistics()::write,
                                NOTHING);
                case SCRUB -> scrub(header, meta);
                case REPAIR -> repair(header, meta);
                default -> reply(opcode, ChunkStatus.OK, header.request(), to -> {}, NOTHING);
            }
        } catch (StoreFailure e) {
            LOG.error("{}: {} failed", node, opcode, e.getCause());
            reply(opcode, ChunkStatus.IO_ERROR, header.request(), to -> {}, NOTHING);
        }
    }

    /** The store failed, not the connection. */
    private static final class StoreFailure extends Exception {
        private static final long serialVersionUID = 1;

        StoreFailure(IOException cause) {
            super(cause);
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
        reply(
                Opcode.HELLO,
                status,
                header.request(),
                to -> {
                    to.putInt(Frame.PROTOCOL_VERSION);
                    Frame.writeString(to, node);
                },
                NOTHING);
        if (!greeted) {
            throw new IOException("refused a client of cluster " + theirs + ": " + status);
        }
    }

    private void put(Frame.Header header, ByteBuffer meta, ByteBuffer payload) {
        ChunkKey key = ChunkKey.read(meta);
        ChunkShape shape = ChunkShape.read(meta);
        String home = Frame.readString(meta);
        if (key.index() >= ChunkKey.MAX_CHUNKS || payload.remaining() == 0) {
            unsynced.add(new UnsyncedPut(header.request(), ChunkStatus.BAD_REQUEST));
            return;
        }
        if (Frame.crc(payload) != header.payloadCrc()) {
            LOG.warn("{}: chunk {} arrived damaged, refused", node, key);
            unsynced.add(new UnsyncedPut(header.request(), ChunkStatus.CORRUPT));
            return;
        }
        ChunkStatus status;
        try {
            SegmentStore.Written written =
                    store.put(
                            key, shape, home.isEmpty() || home.equals(node) ? null : home, payload);
            status = written.status();
            ticket = Math.max(ticket, written.ticket());
        } catch (IOException e) {
            LOG.error("{}: disk failed, no more writes", node, e);
            status = ChunkStatus.IO_ERROR;
        }
        unsynced.add(new UnsyncedPut(header.request(), status));
    }

    /** Syncs the puts that are not yet answered, and answers them. */
    private void answerPuts() throws IOException {
        if (unsynced.isEmpty()) {
            return;
        }
        boolean durable = true;
        try {
            store.sync(ticket);
        } catch (IOException e) {
            LOG.error("{}: disk failed, no more writes", node, e);
            durable = false;
        }
        out.clear();
        for (UnsyncedPut put : unsynced) {
            ChunkStatus status =
                    !durable && put.status == ChunkStatus.OK ? ChunkStatus.IO_ERROR : put.status;
            int start = Frame.begin(out);
            Frame.end(out, start, Opcode.PUT, status, put.request, 0, 0);
        }
        unsynced.clear();
        ticket = 0;
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    private void get(Frame.Header header, ByteBuffer meta) throws IOException, StoreFailure {
        ChunkKey key = ChunkKey.read(meta);
        int offset = meta.getInt();
        int length = meta.getInt();
        if (length < 0 || length > ChunkRecord.MAX_DATA_BYTES) {
            reply(Opcode.GET, ChunkStatus.BAD_REQUEST, header.request(), to -> {}, NOTHING);
            return;
        }
        ByteBuffer data = BufferPool.take(SegmentStore.readRoom(length));
        try {
            ChunkStatus status;
            try {
                status = store.read(key, offset, length, data);
            } catch (IOException e) {
                throw new StoreFailure(e);
            }
            reply(
                    Opcode.GET,
                    status,
                    header.request(),
                    to -> {},
                    status == ChunkStatus.OK ? data : NOTHING);
        } finally {
            BufferPool.give(data);
        }
    }

    private void delete(Frame.Header header, ByteBuffer payload) throws IOException, StoreFailure {
        Set<ChunkKey> blocks = new LinkedHashSet<>();
        while (payload.remaining() >= BLOCK_ID_BYTES) {
            blocks.add(new ChunkKey(payload.getLong(), payload.getLong(), 0));
        }
        int deleted;
        try {
            deleted = store.deleteBlocks(blocks);
        } catch (IOException e) {
            throw new StoreFailure(e);
        }
        reply(Opcode.DELETE, ChunkStatus.OK, header.request(), to -> to.putInt(deleted), NOTHING);
    }

    private void has(Frame.Header header, ByteBuffer meta, ByteBuffer payload)
            throws IOException, StoreFailure {
        boolean keeps = meta.hasRemaining() && meta.get() == 1;
        ByteBuffer answers = ByteBuffer.allocate(payload.remaining() / ChunkKey.BYTES);
        while (answers.hasRemaining()) {
            ChunkKey key = ChunkKey.read(payload);
            answers.put((byte) ((keeps ? store.keeps(key) : store.has(key)) ? 1 : 0));
        }
        if (keeps) {
            try {
                store.sync();
            } catch (IOException e) {
                throw new StoreFailure(e);
            }
        }
        reply(Opcode.HAS, ChunkStatus.OK, header.request(), to -> {}, answers.flip());
    }

    private void list(Frame.Header header, ByteBuffer meta) throws IOException {
        @Nullable ChunkKey after = meta.get() == 0 ? null : ChunkKey.read(meta);
        int limit = Math.clamp(meta.getInt(), 1, 10_000);
        List<Map.Entry<ChunkKey, SegmentStore.Location>> entries = store.list(after, limit);
        ByteBuffer listing =
                ByteBuffer.allocate(entries.size() * (ChunkKey.BYTES + ChunkShape.BYTES + 4 + 256));
        for (Map.Entry<ChunkKey, SegmentStore.Location> entry : entries) {
            entry.getKey().write(listing);
            entry.getValue().shape().write(listing);
            listing.putInt(entry.getValue().dataBytes());
            String home = entry.getValue().home();
            Frame.writeString(listing, home == null ? "" : home);
        }
        reply(Opcode.LIST, ChunkStatus.OK, header.request(), to -> {}, listing.flip());
    }

    private void scrub(Frame.Header header, ByteBuffer meta) throws IOException {
        byte wish = meta.get();
        long bytesPerSecond = meta.getLong();
        if (isUnknown(wish)) {
            reply(Opcode.SCRUB, ChunkStatus.BAD_REQUEST, header.request(), to -> {}, NOTHING);
            return;
        }
        ScrubProgress now = upkeep.scrub(wish == Opcode.BEGIN, bytesPerSecond);
        reply(Opcode.SCRUB, ChunkStatus.OK, header.request(), now::write, now.texts());
    }

    private void repair(Frame.Header header, ByteBuffer meta) throws IOException {
        byte wish = meta.get();
        if (isUnknown(wish)) {
            reply(Opcode.REPAIR, ChunkStatus.BAD_REQUEST, header.request(), to -> {}, NOTHING);
            return;
        }
        RepairProgress now = upkeep.repair(wish == Opcode.BEGIN);
        reply(Opcode.REPAIR, ChunkStatus.OK, header.request(), now::write, now.texts());
    }

    private static boolean isUnknown(byte wish) {
        return wish != Opcode.LOOK && wish != Opcode.BEGIN;
    }

    private interface Fields {
        void write(ByteBuffer to);
    }

    private void reply(
            Opcode opcode, ChunkStatus status, long request, Fields fields, ByteBuffer payload)
            throws IOException {
        out.clear();
        int start = Frame.begin(out);
        fields.write(out);
        Frame.end(
                out,
                start,
                opcode,
                status,
                request,
                payload.remaining(),
                payload.hasRemaining() ? Frame.crc(payload) : 0);
        out.flip();
        if (!payload.hasRemaining()) {
            while (out.hasRemaining()) {
                channel.write(out);
            }
            return;
        }
        ByteBuffer[] both = {out, payload};
        while (payload.hasRemaining() || out.hasRemaining()) {
            channel.write(both);
        }
    }
}
