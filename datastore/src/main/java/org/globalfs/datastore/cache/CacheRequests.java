package org.globalfs.datastore.cache;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.node.Replies;
import org.globalfs.datastore.node.Requests;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.CachedRequest;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers clients with what is in the cache, and tells the keeper what they asked for. Takes no
 * lock, and never waits for the keeper.
 */
final class CacheRequests implements Requests {
    private static final Logger LOG = LoggerFactory.getLogger(CacheRequests.class);

    private final SegmentStore store;
    private final CacheKeeper keeper;
    private final CacheCounters counters;

    CacheRequests(SegmentStore store, CacheKeeper keeper, CacheCounters counters) {
        this.store = store;
        this.keeper = keeper;
        this.counters = counters;
    }

    @Override
    public void handle(
            Frame.Header header,
            Opcode opcode,
            ByteBuffer meta,
            ByteBuffer payload,
            Replies replies)
            throws IOException {
        switch (opcode) {
            case CACHED -> cached(header.request(), CachedRequest.read(meta), replies);
            case STATS ->
                    replies.send(
                            opcode, ChunkStatus.OK, header.request(), keeper.statistics()::write);
            default -> replies.send(opcode, ChunkStatus.BAD_REQUEST, header.request());
        }
    }

    private void cached(long number, CachedRequest request, Replies replies) throws IOException {
        if (request.isNonsense()) {
            replies.send(Opcode.CACHED, ChunkStatus.BAD_REQUEST, number);
            return;
        }
        counters.requests.increment();
        long there = there(request);
        int width = request.to() - request.from();
        int bytes = Long.bitCount(there) * width;
        int room = SegmentStore.readRoom(width);
        try (var _ = replies.room(BufferPool.capacity(bytes) + BufferPool.capacity(room))) {
            cached(number, request, there, BufferPool.take(bytes), BufferPool.take(room), replies);
        }
        keeper.asked(request);
    }

    private void cached(
            long number,
            CachedRequest request,
            long there,
            ByteBuffer columns,
            ByteBuffer record,
            Replies replies)
            throws IOException {
        try {
            long read = 0;
            for (int chunk = 0; there >>> chunk != 0; chunk++) {
                if ((there >>> chunk & 1) == 1 && read(request, chunk, record)) {
                    columns.put(record);
                    read |= 1L << chunk;
                }
            }
            long mask = read;
            replies.send(
                    Opcode.CACHED, ChunkStatus.OK, number, to -> to.putLong(mask), columns.flip());
            count(request, mask, request.to() - request.from());
        } finally {
            BufferPool.give(columns);
            BufferPool.give(record);
        }
    }

    private void count(CachedRequest request, long mask, int width) {
        int chunks = Long.bitCount(mask);
        if (chunks > 0) {
            counters.partHits.increment();
            counters.servedBytes.add((long) chunks * width);
        }
        boolean whole = (mask & request.wanted()) == request.wanted();
        if (whole || chunks >= request.shape().dataChunks()) {
            counters.wholeHits.increment();
        }
    }

    /** The chunks to be sent: those wanted if all are here, else as many as are needed. */
    private long there(CachedRequest request) {
        long there = 0;
        int chunks = request.shape().dataChunks() + request.shape().parityChunks();
        for (int chunk = 0; chunk < chunks; chunk++) {
            if (has(key(request, chunk))) {
                there |= 1L << chunk;
            }
        }
        if ((there & request.wanted()) == request.wanted()) {
            return request.wanted();
        }
        while (Long.bitCount(there) > request.shape().dataChunks()) {
            there &= ~Long.highestOneBit(there);
        }
        return there;
    }

    /** An index that does not say is no reason to keep a client from reading elsewhere. */
    private boolean has(ChunkKey key) {
        try {
            return store.has(key);
        } catch (UncheckedIOException e) {
            LOG.debug("chunk {} cannot be looked up: {}", key, e.toString());
            return false;
        }
    }

    /** False: it is not there any more, or is damaged. */
    private boolean read(CachedRequest request, int chunk, ByteBuffer into) {
        ChunkKey key = key(request, chunk);
        ChunkStatus status;
        try {
            status = store.read(key, request.from(), request.to() - request.from(), into);
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("chunk {} cannot be read: {}", key, e.toString());
            return false;
        }
        return status == ChunkStatus.OK;
    }

    private static ChunkKey key(CachedRequest request, int chunk) {
        return new ChunkKey(request.idHigh(), request.idLow(), chunk);
    }
}
