package org.globalfs.datastore.client;

import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.erasure.ReedSolomon;
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

    private final BlockClientContext context;
    private final Lane lane;
    private final String node;
    private final CachedRequest request;
    private final ReedSolomon code;
    private final byte[] bytes;
    private final long untilNs;
    private final long startNs = System.nanoTime();
    private @Nullable Exchange current;
    private boolean stale;
    private long chunks;

    private CacheRead(
            BlockClientContext context,
            Lane lane,
            String node,
            CachedRequest request,
            ReedSolomon code) {
        this.context = context;
        this.lane = lane;
        this.node = node;
        this.request = request;
        this.code = code;
        bytes = lane.scratch(code.dataChunks() * width());
        untilNs = startNs + context.cacheTimes().patienceNs(code.dataChunks() * width());
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
            BlockClientContext context,
            Lane lane,
            BlockRef ref,
            ReedSolomon code,
            long wanted,
            int from,
            int to,
            boolean anyway) {
        String node =
                context.directory()
                        .cache(
                                context.region(),
                                ref.getIdHigh(),
                                ref.getIdLow(),
                                cache -> !anyway && context.detector().isSuspect(cache));
        if (node == null) {
            return null;
        }
        ChunkShape shape =
                new ChunkShape(
                        ref.getLength(),
                        ref.getRegion(),
                        ref.getDataChunks(),
                        ref.getParityChunks(),
                        ref.getEpoch());
        CachedRequest request =
                new CachedRequest(ref.getIdHigh(), ref.getIdLow(), shape, wanted, from, to);
        CacheRead read = new CacheRead(context, lane, node, request, code);
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
                        .into(bytes, 0, code.dataChunks() * width());
        HostPort address = context.directory().address(node);
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
        int most = width() * code.dataChunks();
        if (context.cacheTimes().late(node, most, System.nanoTime() - startNs)) {
            context.detector().slow(node, "no answer in time, again");
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
                context.detector().unreachable(node, String.valueOf(exchange.failure()));
            }
            return true;
        }
        context.detector().answered(node);
        ByteBuffer meta = exchange.replyMeta();
        if (status == ChunkStatus.OK && meta.remaining() >= Long.BYTES) {
            long have = meta.getLong();
            boolean known = have >>> code.chunks() == 0;
            if (known && exchange.replyBytes() == Long.bitCount(have) * width()) {
                chunks = have;
            }
        }
        context.cacheTimes().answered(node, exchange.replyBytes(), System.nanoTime() - startNs);
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
