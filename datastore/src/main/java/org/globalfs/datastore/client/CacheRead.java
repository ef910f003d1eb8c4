package org.globalfs.datastore.client;

import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.wire.CachedRequest;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Asks the cache of the region for what it has of a block's chunks. One request says that the block
 * is read, learns what is there and brings it.
 */
final class CacheRead {
    /** Of the exchange: no number of a chunk or, however many are asked, of a node. */
    static final int TAG = -1;

    private final RegionCaches caches;
    private final Lane lane;
    private final String node;
    private final CachedRequest request;

    /** That may come. */
    private final int mostBytes;

    private final byte[] bytes;
    private final long untilNs;
    private final long startNs = System.nanoTime();
    private @Nullable Exchange current;
    private boolean stale;
    private long chunks;

    private CacheRead(RegionCaches caches, Lane lane, String node, CachedRequest request) {
        this.caches = caches;
        this.lane = lane;
        this.node = node;
        this.request = request;
        mostBytes = request.shape().dataChunks() * width();
        bytes = lane.scratch(mostBytes);
        untilNs = startNs + caches.times().patienceNs(mostBytes);
    }

    /**
     * Sends the request; null if there is no cache that answers.
     *
     * @param anyway also one that is suspect
     * @param wanted the chunks that the range is in: a bit by chunk index
     * @param from of each chunk, where the range begins
     * @param to where it ends
     */
    static @Nullable CacheRead start(
            RegionCaches caches,
            Lane lane,
            BlockRef ref,
            long wanted,
            int from,
            int to,
            boolean anyway) {
        String node = caches.cacheOf(ref, anyway);
        if (node == null) {
            return null;
        }
        CachedRequest request =
                new CachedRequest(
                        ref.getIdHigh(), ref.getIdLow(), ChunkShape.of(ref), wanted, from, to);
        CacheRead read = new CacheRead(caches, lane, node, request);
        return read.send() ? read : null;
    }

    private boolean send() {
        Exchange exchange =
                new Exchange(
                                Opcode.CACHED,
                                node,
                                TAG,
                                lane.nextRequest(),
                                request::write,
                                new byte[0],
                                0,
                                0)
                        .into(bytes, 0, mostBytes);
        HostPort address = caches.directory().address(node);
        if (address == null) {
            return false; // it has just left
        }
        lane.send(exchange, address);
        current = exchange;
        return true;
    }

    /** Until then its answer is waited for before anybody else is asked. */
    long untilNs() {
        return untilNs;
    }

    /** It is not waited for any more; what comes later is of use all the same. */
    void late() {
        if (caches.times().late(node, mostBytes, System.nanoTime() - startNs)) {
            caches.detector().slow(node, "no answer in time, again");
        }
    }

    /**
     * Nobody waits for its answer, if that is still to come: what is asked next is not to either.
     */
    void giveUp() {
        if (current != null) {
            lane.drop(node, new SocketTimeoutException("timed out"));
        }
    }

    /** Takes the answer; false if another one is to come. */
    boolean finished(Exchange exchange) {
        if (exchange != current) {
            return false;
        }
        current = null;
        ChunkStatus status = exchange.status();
        if (status == null) {
            if (exchange.failedOnStaleLink() && !stale) {
                stale = true;
                if (send()) {
                    return false;
                }
            }
            if (!(exchange.failure() instanceof SocketTimeoutException)) {
                caches.detector().unreachable(node, String.valueOf(exchange.failure()));
            }
            return true;
        }
        caches.detector().answered(node);
        ByteBuffer meta = exchange.replyMeta();
        if (status == ChunkStatus.OK && meta.remaining() >= Long.BYTES) {
            long have = meta.getLong();
            ChunkShape shape = request.shape();
            int all = shape.dataChunks() + shape.parityChunks();
            boolean known = have >>> all == 0;
            if (known && exchange.replyBytes() == Long.bitCount(have) * width()) {
                chunks = have;
            }
        }
        caches.times().answered(node, exchange.replyBytes(), System.nanoTime() - startNs);
        return true;
    }

    /** The chunks that came: a bit by chunk index. */
    long chunks() {
        return chunks;
    }

    /** Where the range is of the chunks that came, in order of their indexes. */
    byte[] bytes() {
        return bytes;
    }

    int from() {
        return request.from();
    }

    /** Bytes of each chunk. */
    int width() {
        return request.to() - request.from();
    }
}
