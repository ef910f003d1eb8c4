package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.HeldCode;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.discovery.Epoch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a storage node does for one connection.
 *
 * <p>Puts that have already arrived behind each other are written together and synced once, before
 * anything else is answered: a client that pipelines gets a group commit.
 */
final class StorageRequests implements Requests {
    private static final Logger LOG = LoggerFactory.getLogger(StorageRequests.class);
    private static final int BLOCK_ID_BYTES = 16;
    private static final int MAX_UNSYNCED_PUTS = 256;

    /** Of a chunk in a listing, at most. */
    private static final int LISTED_BYTES = ChunkKey.BYTES + ChunkShape.BYTES + 4 + 256;

    private final SegmentStore store;
    private final Upkeep upkeep;
    private final String node;
    private final List<UnsyncedPut> unsynced = new ArrayList<>();
    private long ticket;

    private record UnsyncedPut(long request, ChunkStatus status) {}

    StorageRequests(SegmentStore store, Upkeep upkeep, String node) {
        this.store = store;
        this.upkeep = upkeep;
        this.node = node;
    }

    @Override
    public void handle(
            Frame.Header header,
            Opcode opcode,
            ByteBuffer meta,
            ByteBuffer payload,
            Replies replies)
            throws IOException {
        if (opcode == Opcode.PUT) {
            put(header, meta, payload);
            if (unsynced.size() >= MAX_UNSYNCED_PUTS) {
                settle(replies);
            }
            return;
        }
        settle(replies);
        long request = header.request();
        try {
            switch (opcode) {
                case GET -> get(request, meta, replies);
                case GET_PAGES -> getPages(request, meta, replies);
                case DELETE -> delete(request, payload, replies);
                case HAS -> has(request, meta, payload, replies);
                case LIST -> list(request, meta, replies);
                case STATS ->
                        replies.send(
                                opcode,
                                ChunkStatus.OK,
                                request,
                                store.statistics(upkeep::awaits, upkeep.scrubbing())::write,
                                HeldCode.write(store.codes()));
                case SCRUB -> scrub(request, meta, replies);
                case REPAIR -> repair(request, meta, replies);
                case EPOCH -> epoch(request, meta.getInt(), replies);
                default -> replies.send(opcode, ChunkStatus.BAD_REQUEST, request);
            }
        } catch (StoreFailure | UncheckedIOException e) {
            if (store.failures().of(e, System.nanoTime())) {
                LOG.error("{}: {} failed", node, opcode, e.getCause());
            }
            replies.send(opcode, ChunkStatus.IO_ERROR, request);
        }
    }

    /** The store failed, not the connection. */
    private static final class StoreFailure extends Exception {
        private static final long serialVersionUID = 1;

        StoreFailure(IOException cause) {
            super(cause);
        }
    }

    /**
     * Whether no block has such a chunk: once it is stored, whoever looks after it, or reads it,
     * would trip over it. Bytes of a home that are no text become more than came.
     */
    private static boolean isNonsense(ChunkKey key, ChunkShape shape, String home, int bytes) {
        return shape.isNonsense()
                || key.index() >= shape.dataChunks() + shape.parityChunks()
                || bytes != ReedSolomon.chunkBytes(shape.blockBytes(), shape.dataChunks())
                || ChunkRecord.homeBytes(home) > ChunkRecord.MAX_HOME_BYTES;
    }

    private void put(Frame.Header header, ByteBuffer meta, ByteBuffer payload) {
        ChunkKey key = ChunkKey.read(meta);
        ChunkShape shape = ChunkShape.read(meta);
        String home = Frame.readString(meta);
        if (isNonsense(key, shape, home, payload.remaining())) {
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
        } catch (IOException | UncheckedIOException e) {
            if (OpenFiles.areUsedUp(e)) {
                LOG.error("{}: PUT failed: {}. {}", node, e.getMessage(), OpenFiles.remedy());
            } else {
                LOG.error("{}: PUT failed", node, e);
            }
            status = ChunkStatus.IO_ERROR;
        }
        unsynced.add(new UnsyncedPut(header.request(), status));
    }

    /** Syncs the puts that are not yet answered, and answers them. */
    @Override
    public void settle(Replies replies) throws IOException {
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
        for (UnsyncedPut put : unsynced) {
            ChunkStatus status =
                    !durable && put.status == ChunkStatus.OK ? ChunkStatus.IO_ERROR : put.status;
            replies.add(Opcode.PUT, status, put.request);
        }
        unsynced.clear();
        ticket = 0;
        replies.flush();
    }

    private void get(long request, ByteBuffer meta, Replies replies)
            throws IOException, StoreFailure {
        ChunkKey key = ChunkKey.read(meta);
        int offset = meta.getInt();
        int length = meta.getInt();
        if (length < 0 || length > ChunkRecord.MAX_DATA_BYTES) {
            replies.send(Opcode.GET, ChunkStatus.BAD_REQUEST, request);
            return;
        }
        int room = SegmentStore.readRoom(length);
        try (var _ = replies.room(BufferPool.capacity(room))) {
            get(request, key, offset, length, BufferPool.take(room), replies);
        }
    }

    private void get(
            long request, ChunkKey key, int offset, int length, ByteBuffer data, Replies replies)
            throws IOException, StoreFailure {
        try {
            ChunkStatus status;
            try {
                status =
                        replies.isInBackground()
                                ? store.readOnce(key, offset, length, data)
                                : store.read(key, offset, length, data);
            } catch (IOException e) {
                throw new StoreFailure(e);
            }
            if (status == ChunkStatus.OK) {
                replies.send(Opcode.GET, status, request, to -> {}, data);
            } else {
                replies.send(Opcode.GET, status, request);
            }
        } finally {
            BufferPool.give(data);
        }
    }

    /** What has to be looked at first is to be asked for by GET. */
    private void getPages(long request, ByteBuffer meta, Replies replies)
            throws IOException, StoreFailure {
        ChunkKey key = ChunkKey.read(meta);
        int offset = meta.getInt();
        int length = meta.getInt();
        if (length < 0 || length > ChunkRecord.MAX_DATA_BYTES) {
            replies.send(Opcode.GET_PAGES, ChunkStatus.BAD_REQUEST, request);
            return;
        }
        try (var _ = replies.room(length)) {
            StoredPages pages = pages(key, offset, length);
            if (pages != null) {
                replies.send(Opcode.GET_PAGES, request, pages);
            } else {
                replies.send(
                        Opcode.GET_PAGES,
                        store.location(key) == null
                                ? ChunkStatus.NOT_FOUND
                                : ChunkStatus.BAD_REQUEST,
                        request);
            }
        }
    }

    private @Nullable StoredPages pages(ChunkKey key, int offset, int length) {
        try {
            return store.pages(key, offset, length);
        } catch (IOException e) {
            LOG.debug("{}: chunk {} is not read as pages: {}", node, key, e.toString());
            return null;
        }
    }

    private void delete(long request, ByteBuffer payload, Replies replies)
            throws IOException, StoreFailure {
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
        replies.send(Opcode.DELETE, ChunkStatus.OK, request, to -> to.putInt(deleted));
    }

    private void has(long request, ByteBuffer meta, ByteBuffer payload, Replies replies)
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
        replies.send(Opcode.HAS, ChunkStatus.OK, request, to -> {}, answers.flip());
    }

    private void list(long request, ByteBuffer meta, Replies replies) throws IOException {
        @Nullable ChunkKey after = meta.get() == 0 ? null : ChunkKey.read(meta);
        int limit = Math.clamp(meta.getInt(), 1, 10_000);
        try (var _ = replies.room(limit * LISTED_BYTES)) {
            list(request, store.list(after, limit), replies);
        }
    }

    private static void list(
            long request, List<Map.Entry<ChunkKey, ChunkLocation>> entries, Replies replies)
            throws IOException {
        ByteBuffer listing = ByteBuffer.allocate(entries.size() * LISTED_BYTES);
        for (Map.Entry<ChunkKey, ChunkLocation> entry : entries) {
            entry.getKey().write(listing);
            entry.getValue().shape().write(listing);
            listing.putInt(entry.getValue().dataBytes());
            String home = entry.getValue().home();
            Frame.writeString(listing, home == null ? "" : home);
        }
        replies.send(Opcode.LIST, ChunkStatus.OK, request, to -> {}, listing.flip());
    }

    private void scrub(long request, ByteBuffer meta, Replies replies) throws IOException {
        byte wish = meta.get();
        long bytesPerSecond = meta.getLong();
        if (isUnknown(wish)) {
            replies.send(Opcode.SCRUB, ChunkStatus.BAD_REQUEST, request);
            return;
        }
        ScrubProgress now = upkeep.scrub(wish == Opcode.BEGIN, bytesPerSecond);
        replies.send(Opcode.SCRUB, ChunkStatus.OK, request, now::write, now.texts());
    }

    private void repair(long request, ByteBuffer meta, Replies replies) throws IOException {
        byte wish = meta.get();
        if (isUnknown(wish)) {
            replies.send(Opcode.REPAIR, ChunkStatus.BAD_REQUEST, request);
            return;
        }
        RepairProgress now = upkeep.repair(wish == Opcode.BEGIN);
        replies.send(Opcode.REPAIR, ChunkStatus.OK, request, now::write, now.texts());
    }

    private void epoch(long request, int known, Replies replies) throws IOException {
        Epoch newest = upkeep.newestEpoch();
        String text = newest.number() > known ? newest.text() : "";
        replies.send(
                Opcode.EPOCH,
                ChunkStatus.OK,
                request,
                to -> to.putInt(newest.number()),
                ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static boolean isUnknown(byte wish) {
        return wish != Opcode.LOOK && wish != Opcode.BEGIN;
    }
}
