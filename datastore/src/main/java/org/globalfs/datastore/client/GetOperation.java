package org.globalfs.datastore.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.RangePieces.Piece;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of one block. When a far region would have to be asked, it first gets what the
 * cache of its own region has ({@link CacheRead}). Then asks the homes of the data chunks that hold
 * the range; if some of those are farther away than the k nearest chunks, it collects the same
 * columns of the k nearest instead and decodes ({@link ColumnRead}). When one fails, lacks its
 * chunk or is slow, it also collects columns from other chunks, nearer ones first, whichever is
 * sooner; when homes do not have k chunks, it asks every node what it keeps for others.
 *
 * <p>All of it runs on the caller's thread, which has the lane to itself.
 */
final class GetOperation {
    /**
     * So often is asked again while nodes may have joined that are not known here, which takes a
     * second and a half: who asks for a block that was collected is not to wait longer to hear that
     * it is not there.
     */
    private static final int ROUNDS_CUT_OFF = 4;

    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final BlockClientContext context;
    private final Lane lane;
    private final BlockRef ref;
    private final ReedSolomon code;
    private final int length;
    private final long deadlineNs;
    private final RangePieces pieces;
    private final ChunkSources sources;
    private final HomeDistances distances;

    /** Some data chunk of the range is farther away than the nearest chunks. */
    private final boolean farther;

    /** How far away the farthest home is that has to be asked. */
    private long reachNs;

    /** How long reads may take beyond that before others are asked too. */
    private final long patienceNs;

    /** Since when homes are asked; 0: they are not yet. */
    private long askedNs;

    private @Nullable CacheRead cache;
    private boolean mayAskCache;
    private @Nullable ColumnRead columns;
    private boolean hedged;
    private long hedgedNs;
    private int round;
    private int epoch;

    GetOperation(
            BlockClientContext context,
            Lane lane,
            BlockRef ref,
            ReedSolomon code,
            List<StorageSite> homes,
            List<StorageSite> formerHomes,
            List<StorageSite> nodes,
            int offset,
            int length,
            byte[] into,
            int intoAt,
            long deadlineNs) {
        this.context = context;
        this.lane = lane;
        this.ref = ref;
        this.code = code;
        this.length = length;
        this.deadlineNs = deadlineNs;
        int chunkBytes = code.chunkBytes(ref.getLength());
        pieces = new RangePieces(code.dataChunks(), chunkBytes, offset, length, into, intoAt);
        sources = new ChunkSources(context, lane, ref, chunkBytes, homes, formerHomes, nodes);
        distances =
                new HomeDistances(
                        context.distances(),
                        homes,
                        context.nodeTimes()
                                .lagNs(homes, pieces.missingTo() - pieces.missingFrom()));
        reachNs = distances.reachNs(code.dataChunks());
        patienceNs =
                distances.areOthersFarther(code.dataChunks())
                        ? context.readTimes().hedgeFarAfterNs(length)
                        : context.readTimes().hedgeAfterNs(length);
        farther = distances.isFarther(pieces, code.dataChunks());
    }

    /** Chunks that their homes lack or hold damaged, found on the way. */
    List<Integer> damaged() {
        return sources.damaged();
    }

    /**
     * @param throughCache whether the region's cache may be asked
     * @param knownEpoch the homes are by this one, or a newer one
     * @throws StaleEpochException the block was not found by them, and there is a newer one
     */
    void run(boolean throughCache, int knownEpoch) throws IOException {
        epoch = knownEpoch;
        mayAskCache =
                throughCache
                        && distances.wayNs(code.dataChunks()) > context.options().cacheBeyondNs();
        cache = mayAskCache ? askCache(false) : null;
        if (cache == null) {
            askDirectly();
        }
        while (true) {
            Exchange exchange;
            while ((exchange = lane.poll()) != null) {
                finished(exchange);
            }
            long now = System.nanoTime();
            if (askedNs == 0) {
                awaitCache(now);
                continue;
            }
            long hedgeAt = askedNs + reachNs + patienceNs;
            if (!hedged && now - hedgeAt >= 0 && !pieces.allDone()) {
                hedge();
            }
            ColumnRead open = columns;
            boolean stuck =
                    open != null && !pieces.allDone() && !open.advance() && !pieces.underWay();
            if (pieces.allDone()) {
                ended(System.nanoTime());
                return;
            }
            if (now - deadlineNs >= 0) {
                throw new BlockStoreException(
                        BlockStoreException.Reason.UNREACHABLE,
                        "block could not be read before the deadline");
            }
            if (stuck) {
                startOver(now);
                continue;
            }
            now = System.nanoTime();
            expire(now);
            long next = hedged ? nextTimeout(now) : Math.min(hedgeAt, nextTimeout(now));
            lane.await(Math.min(next, deadlineNs));
        }
    }

    /** All of the range is there. */
    private void ended(long nowNs) {
        // Waiting for one that was overtaken is not how long reads take, or none would be hedged.
        boolean overtaken = hedged && sources.isOutstanding(hedgedNs);
        if (overtaken) {
            context.readTimes().record(length, nowNs - hedgedNs);
        } else if (columns == null || hedged) {
            context.readTimes().record(length, nowNs - askedNs - reachNs);
        }
        sources.noteTimes(hedged ? hedgedNs : askedNs, nowNs);
    }

    private void askDirectly() {
        askedNs = System.nanoTime();
        if (farther) {
            startColumns();
        } else {
            startPieces();
        }
    }

    private @Nullable CacheRead askCache(boolean anyway) {
        long wanted = 0;
        for (Piece piece : pieces.all()) {
            wanted |= piece.done ? 0 : 1L << piece.chunk;
        }
        return CacheRead.start(
                context.caches(),
                lane,
                ref,
                wanted,
                pieces.missingFrom(),
                pieces.missingTo(),
                anyway);
    }

    /** It is near: what it has is known before the way to others would be worth it. */
    private void awaitCache(long now) throws IOException {
        CacheRead asked = cache;
        if (asked == null || now - asked.untilNs() >= 0) {
            if (asked != null) {
                asked.late();
            }
            askDirectly();
        } else {
            lane.await(Math.min(asked.untilNs(), deadlineNs));
        }
    }

    private void cacheAnswered(Exchange exchange) {
        CacheRead asked = cache;
        if (asked == null || !asked.finished(exchange)) {
            return;
        }
        cache = null;
        ColumnRead open = columns;
        if (askedNs != 0) {
            if (open != null) {
                open.haveCached(asked);
            }
        } else if (asked.chunks() == 0) {
            askDirectly();
        } else {
            open = startColumns();
            open.haveCached(asked);
            askedNs = System.nanoTime();
            reachNs = open.reachNs();
        }
    }

    /** What was asked for is slow: asks for as much again elsewhere. */
    private void hedge() {
        hedged = true;
        hedgedNs = System.nanoTime();
        ColumnRead open = columns;
        if (open == null) {
            startColumns();
        } else {
            open.askMore();
        }
    }

    private void startPieces() {
        boolean missing = false;
        for (Piece piece : pieces.all()) {
            if (piece.done) {
                continue;
            }
            if (sources.isSuspect(sources.home(piece.chunk))) {
                missing = true;
            } else {
                fetchPiece(piece);
            }
        }
        if (missing) {
            startColumns();
        }
    }

    private void fetchPiece(Piece piece) {
        piece.current =
                sources.fetch(
                        piece.chunk,
                        sources.homeToAsk(piece.chunk),
                        piece.chunk,
                        piece.from,
                        piece.bytes(),
                        pieces.into(),
                        piece.at);
    }

    private ColumnRead startColumns() {
        ColumnRead started = columns;
        if (started == null) {
            started = new ColumnRead(context, lane, code, sources, distances, pieces);
            columns = started;
        }
        return started;
    }

    private void finished(Exchange exchange) {
        if (exchange.tag == CacheRead.TAG) {
            cacheAnswered(exchange);
            return;
        }
        if (exchange.tag >= ColumnRead.TAG) {
            ColumnRead open = columns;
            if (open != null) {
                open.finished(exchange);
            }
            return;
        }
        Piece piece = pieces.of(exchange.tag);
        if (piece != null && piece.current == exchange) {
            pieceFinished(piece, exchange);
        }
    }

    private void pieceFinished(Piece piece, Exchange exchange) {
        piece.current = null;
        if (exchange.brought(piece.bytes())) {
            piece.done = true;
            ColumnRead open = columns;
            if (open != null) {
                open.haveDirect(piece);
            }
            return;
        }
        if (exchange.mustBeChecked()) {
            sources.mustBeChecked(piece.chunk);
            fetchPiece(piece);
            return;
        }
        if (exchange.failedOnStaleLink() && !piece.stale) {
            piece.stale = true;
            fetchPiece(piece);
            return;
        }
        if (sources.failed(exchange, piece.chunk)) {
            fetchPiece(piece);
            return;
        }
        startColumns().homeFailed(piece.chunk);
    }

    private void expire(long now) {
        for (Piece piece : pieces.all()) {
            expire(piece.current, now);
        }
        ColumnRead open = columns;
        if (open != null) {
            for (Exchange exchange : List.copyOf(open.pending())) {
                expire(exchange, now);
            }
        }
    }

    private void expire(@Nullable Exchange exchange, long now) {
        if (exchange != null && !exchange.done() && now - exchange.sentNs >= timeoutNs()) {
            context.detector().slow(exchange.node, "no answer to a get in time");
            lane.drop(exchange.node, new SocketTimeoutException("timed out"));
        }
    }

    private long timeoutNs() {
        return context.options().requestTimeoutNs() << Math.min(round, 3);
    }

    private long nextTimeout(long now) {
        long next = now + timeoutNs();
        for (Piece piece : pieces.all()) {
            Exchange current = piece.current;
            if (current != null && current.sentNs + timeoutNs() - next < 0) {
                next = current.sentNs + timeoutNs();
            }
        }
        ColumnRead open = columns;
        if (open != null) {
            for (Exchange exchange : open.pending()) {
                if (exchange.sentNs + timeoutNs() - next < 0) {
                    next = exchange.sentNs + timeoutNs();
                }
            }
        }
        return next;
    }

    /** Everything was tried. Again, if a node that did not answer may have what is missing. */
    private void startOver(long now) throws IOException {
        // Once more in any case: chunks that are being moved can be missed where they were and are.
        boolean current = context.directory().isCurrent();
        if (!current && context.newerEpochs().areThere(epoch, ref.getRegion())) {
            throw new StaleEpochException();
        }
        if (!sources.isUnsure() && round > (current ? 0 : ROUNDS_CUT_OFF)) {
            String known =
                    "fewer than " + code.dataChunks() + " whole chunks of the block exist on any";
            throw current
                    ? new BlockStoreException(BlockStoreException.Reason.LOST, known + " node")
                    : new BlockStoreException(
                            BlockStoreException.Reason.UNREACHABLE,
                            known
                                    + " node that is known here; others may have joined, as"
                                    + " ZooKeeper does not answer");
        }
        long until = Math.min(deadlineNs, now + (RETRY_NS << Math.min(round, 4)));
        while (System.nanoTime() - until < 0) {
            lane.await(until);
            Exchange late;
            while ((late = lane.poll()) != null) {
                finished(late);
            }
        }
        round++;
        columns = null;
        if (mayAskCache && cache == null) {
            cache = askCache(true);
        }
        sources.startOver();
        for (Piece piece : pieces.all()) {
            piece.stale = false;
        }
        if (!farther) {
            startPieces();
        }
        if (columns == null && !pieces.underWay()) {
            startColumns();
        }
    }
}
