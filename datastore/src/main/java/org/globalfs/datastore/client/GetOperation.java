package org.globalfs.datastore.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of one block. When a far region would have to be asked, it first gets what the
 * cache of its own region has. Then asks the homes of the data chunks that hold the range; if some
 * of those are farther away than the k nearest chunks, it collects the same columns of the k
 * nearest instead and decodes. When one fails, lacks its chunk or is slow, it also collects columns
 * from other chunks, nearer ones first, whichever is sooner; when homes do not have k chunks, it
 * asks every node what it keeps for others.
 */
final class GetOperation {
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Tags of exchanges: a chunk's index for a direct read, plus these otherwise. */
    private static final int COLUMN_TAG = 100;

    private static final int SEARCH_TAG = 200;

    /** Decoding costs about as much as so long a way, and jitter is not to decide. */
    private static final long NEAR_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final BlockClientContext context;
    private final Lane lane;
    private final BlockRef ref;
    private final ReedSolomon code;
    private final int chunkBytes;
    private final List<StorageSite> homes;
    private final List<StorageSite> formerHomes;
    private final List<StorageSite> nodes;
    private final byte[] into;
    private final int intoAt;
    private final int offset;
    private final int length;
    private final long deadlineNs;

    /** By data chunk; null where the range has no part. */
    private final @Nullable Piece[] pieces;

    private final List<Integer> damaged = new ArrayList<>();

    /** By chunk: not at its home, which it may not have been moved to yet. */
    private final boolean[] homeLacks;

    /** By chunk: some node is to look at what it has of it. */
    private final boolean[] checked;

    /** All chunks, those with the nearest homes first. */
    private final int[] nearest;

    /** How far away each chunk's home is. */
    private final long[] distance;

    /** How far away the farthest home is that has to be asked. */
    private long reachNs;

    /** Since when homes are asked; 0: they are not yet. */
    private long askedNs;

    private @Nullable CacheRead cache;
    private boolean mayAskCache;

    /** Some data chunk of the range is farther away than that. */
    private final boolean farther;

    private @Nullable Columns columns;
    private boolean unsure;
    private boolean hedged;
    private int round;

    /** The part of the range within one data chunk. */
    private static final class Piece {
        final int from;
        final int to;
        final int at;
        @Nullable Exchange current;
        boolean done;
        boolean stale;

        Piece(int from, int to, int at) {
            this.from = from;
            this.to = to;
            this.at = at;
        }
    }

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
        this.chunkBytes = code.chunkBytes(ref.getLength());
        this.homes = homes;
        this.formerHomes = formerHomes;
        this.homeLacks = new boolean[homes.size()];
        this.checked = new boolean[homes.size()];
        this.nodes = nodes;
        this.offset = offset;
        this.length = length;
        this.into = into;
        this.intoAt = intoAt;
        this.deadlineNs = deadlineNs;
        pieces = new Piece[code.dataChunks()];
        for (int chunk = 0; chunk < pieces.length; chunk++) {
            int start = chunk * chunkBytes;
            int from = Math.max(offset, start);
            int to = Math.min(offset + length, start + chunkBytes);
            if (from < to) {
                pieces[chunk] = new Piece(from - start, to - start, intoAt + from - offset);
            }
        }
        distance = new long[homes.size()];
        for (int chunk = 0; chunk < distance.length; chunk++) {
            distance[chunk] = context.distances().ns(homes.get(chunk));
        }
        nearest = byDistance(distance);
        reachNs = distance[nearest[pieces.length - 1]];
        farther = needsFarther();
    }

    /** Data chunks before parity chunks where they are equally near. */
    private static int[] byDistance(long[] distance) {
        Integer[] order = new Integer[distance.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingLong(chunk -> distance[chunk]));
        return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    private boolean needsFarther() {
        for (int chunk = 0; chunk < pieces.length; chunk++) {
            if (pieces[chunk] != null && distance[chunk] > reachNs + NEAR_NS) {
                return true;
            }
        }
        return false;
    }

    /** Chunks that their homes lack or hold damaged, found on the way. */
    List<Integer> damaged() {
        return damaged;
    }

    /**
     * @param throughCache whether the region's cache may be asked
     */
    void run(boolean throughCache) throws IOException {
        mayAskCache = throughCache && reachNs > context.options().cacheBeyondNs();
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
            long hedgeAt = askedNs + reachNs + context.readTimes().hedgeAfterNs(length);
            if (!hedged && now - hedgeAt >= 0 && !allDone()) {
                hedge();
            }
            Columns open = columns;
            boolean stuck = open != null && !allDone() && !open.advance() && !directPending();
            if (allDone()) {
                if (columns == null || hedged) {
                    context.readTimes().record(length, System.nanoTime() - askedNs - reachNs);
                }
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
        int from = chunkBytes;
        int to = 0;
        for (int chunk = 0; chunk < pieces.length; chunk++) {
            Piece piece = pieces[chunk];
            if (piece != null && !piece.done) {
                wanted |= 1L << chunk;
                from = Math.min(from, piece.from);
                to = Math.max(to, piece.to);
            }
        }
        return CacheRead.start(context, lane, ref, code, wanted, from, to, anyway);
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
        Columns open = columns;
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
        Columns open = columns;
        if (open == null) {
            startColumns();
        } else {
            open.askMore();
        }
    }

    private void startPieces() {
        boolean missing = false;
        for (int chunk = 0; chunk < pieces.length; chunk++) {
            Piece piece = pieces[chunk];
            if (piece == null || piece.done) {
                continue;
            }
            if (context.detector().isSuspect(homes.get(chunk).id())) {
                missing = true;
            } else {
                fetchPiece(chunk, piece);
            }
        }
        if (missing) {
            startColumns();
        }
    }

    private void fetchPiece(int chunk, Piece piece) {
        piece.current =
                fetch(
                        chunk,
                        homeLacks[chunk] ? formerHomes.get(chunk) : homes.get(chunk),
                        chunk,
                        piece.from,
                        piece.to - piece.from,
                        into,
                        piece.at);
    }

    private Exchange fetch(
            int tag, StorageSite site, int chunk, int from, int bytes, byte[] target, int at) {
        Exchange exchange =
                Exchange.get(
                        site.id(),
                        tag,
                        lane.nextRequest(),
                        key(chunk),
                        from,
                        bytes,
                        chunkBytes,
                        checked[chunk],
                        target,
                        at);
        lane.send(exchange, context.directory().address(site));
        return exchange;
    }

    private ChunkKey key(int chunk) {
        return new ChunkKey(ref.getIdHigh(), ref.getIdLow(), chunk);
    }

    private boolean allDone() {
        for (Piece piece : pieces) {
            if (piece != null && !piece.done) {
                return false;
            }
        }
        return true;
    }

    private boolean directPending() {
        for (Piece piece : pieces) {
            if (piece != null && piece.current != null) {
                return true;
            }
        }
        return false;
    }

    private void finished(Exchange exchange) {
        if (exchange.tag == CacheRead.TAG) {
            cacheAnswered(exchange);
            return;
        }
        if (exchange.tag >= COLUMN_TAG) {
            Columns open = columns;
            if (open != null) {
                open.finished(exchange);
            }
            return;
        }
        int chunk = exchange.tag;
        Piece piece = pieces[chunk];
        if (piece == null || piece.current != exchange) {
            return;
        }
        piece.current = null;
        if (ok(exchange, piece.to - piece.from)) {
            piece.done = true;
            Columns open = columns;
            if (open != null) {
                open.haveDirect(chunk, piece);
            }
            return;
        }
        if (exchange.mustBeChecked()) {
            checked[chunk] = true;
            fetchPiece(chunk, piece);
            return;
        }
        if (exchange.failedOnStaleLink() && !piece.stale) {
            piece.stale = true;
            fetchPiece(chunk, piece);
            return;
        }
        if (noteFailure(exchange, chunk)) {
            fetchPiece(chunk, piece);
            return;
        }
        Columns open = columns;
        if (open == null) {
            open = startColumns();
        }
        open.homeFailed(chunk);
    }

    private static boolean ok(Exchange exchange, int bytes) {
        return exchange.status() == ChunkStatus.OK && exchange.replyBytes() == bytes;
    }

    /** True: the chunk is not at its home, and may be where it was before. */
    private boolean noteFailure(Exchange exchange, int chunk) {
        ChunkStatus status = exchange.status();
        if (status == null) {
            unsure = true;
            context.detector().unreachable(exchange.node, String.valueOf(exchange.failure()));
            return false;
        }
        context.detector().answered(exchange.node);
        if (status != ChunkStatus.NOT_FOUND && status != ChunkStatus.CORRUPT) {
            unsure = true;
            return false;
        }
        boolean atHome = homes.get(chunk).id().equals(exchange.node);
        StorageSite former = formerHomes.get(chunk);
        if (atHome && !homeLacks[chunk] && !former.id().equals(exchange.node)) {
            homeLacks[chunk] = true;
            return !context.detector().isSuspect(former.id());
        }
        boolean atLast = former.id().equals(exchange.node) || atHome;
        if (atLast && !damaged.contains(chunk)) {
            damaged.add(chunk);
        }
        return false;
    }

    private void expire(long now) {
        for (Piece piece : pieces) {
            if (piece != null) {
                expire(piece.current, now);
            }
        }
        Columns open = columns;
        if (open != null) {
            for (Exchange exchange : List.copyOf(open.pending)) {
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
        for (Piece piece : pieces) {
            Exchange current = piece == null ? null : piece.current;
            if (current != null && current.sentNs + timeoutNs() - next < 0) {
                next = current.sentNs + timeoutNs();
            }
        }
        Columns open = columns;
        if (open != null) {
            for (Exchange exchange : open.pending) {
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
        if (!unsure && round > 0) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.LOST,
                    "fewer than "
                            + code.dataChunks()
                            + " whole chunks of the block exist on any node");
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
        unsure = false;
        columns = null;
        if (mayAskCache && cache == null) {
            cache = askCache(true);
        }
        Arrays.fill(homeLacks, false);
        for (Piece piece : pieces) {
            if (piece != null) {
                piece.stale = false;
            }
        }
        if (!farther) {
            startPieces();
        }
        if (columns == null && !directPending()) {
            startColumns();
        }
    }

    private Columns startColumns() {
        Columns started = columns;
        if (started == null) {
            started = new Columns();
            columns = started;
        }
        return started;
    }

    /** The same range of bytes of k chunks, from which the missing pieces are decoded. */
    private final class Columns {
        final List<Exchange> pending = new ArrayList<>();
        private final int from;
        private final int to;
        private final byte[] @Nullable [] have = new byte[code.chunks()][];
        private final int[] haveAt = new int[code.chunks()];
        private final byte[][] arriving = new byte[code.chunks()][];
        private final boolean[] asked = new boolean[code.chunks()];
        private final boolean[] stale = new boolean[code.chunks()];
        private final List<List<StorageSite>> elsewhere = new ArrayList<>();
        private final List<byte[]> answers = new ArrayList<>();
        private final List<StorageSite> searchedNodes = new ArrayList<>();
        private int count;
        private int spare;
        private boolean searched;

        Columns() {
            int low = chunkBytes;
            int high = 0;
            for (Piece piece : pieces) {
                if (piece != null && !piece.done) {
                    low = Math.min(low, piece.from);
                    high = Math.max(high, piece.to);
                }
            }
            from = low;
            to = high;
            for (int chunk = 0; chunk < code.chunks(); chunk++) {
                elsewhere.add(new ArrayList<>());
            }
            for (int chunk = 0; chunk < pieces.length; chunk++) {
                Piece piece = pieces[chunk];
                if (piece != null && piece.done) {
                    haveDirect(chunk, piece);
                } else if (piece != null && piece.current != null) {
                    asked[chunk] = true; // its direct read is under way
                }
            }
        }

        void haveDirect(int chunk, Piece piece) {
            if (piece.from <= from && piece.to >= to && have[chunk] == null) {
                keep(chunk, into, piece.at + from - piece.from); // nothing more is written there
            } else {
                asked[chunk] = false;
            }
        }

        void haveCached(CacheRead cached) {
            int at = from - cached.from();
            for (int chunk = 0; chunk < have.length; chunk++) {
                if ((cached.chunks() >>> chunk & 1) == 1) {
                    keep(chunk, cached.bytes(), at);
                    at += cached.width();
                }
            }
        }

        /** How far away the farthest home is that has to be asked. */
        long reachNs() {
            int lacking = code.dataChunks() - count;
            for (int chunk : nearest) {
                if (lacking > 0 && have[chunk] == null && --lacking == 0) {
                    return distance[chunk];
                }
            }
            return 0;
        }

        private void keep(int chunk, byte[] column, int at) {
            if (have[chunk] == null) {
                have[chunk] = column;
                haveAt[chunk] = at;
                count++;
                asked[chunk] = true;
            }
        }

        void homeFailed(int chunk) {
            asked[chunk] = true;
        }

        /**
         * Takes the next step: decodes when it can, else asks for as many more columns as are
         * missing. False when everything was tried and nothing is under way.
         */
        boolean advance() {
            if (count >= code.dataChunks() || haveRange()) {
                decode();
                return true;
            }
            askHomes(false);
            if (pending.isEmpty() && !searched) {
                search();
            }
            if (pending.isEmpty()) {
                askElsewhere();
            }
            if (pending.isEmpty()) {
                askHomes(true);
            }
            return !pending.isEmpty();
        }

        /** Whether nothing has to be decoded, as when the cache had just what was wanted. */
        private boolean haveRange() {
            for (int chunk = 0; chunk < pieces.length; chunk++) {
                Piece piece = pieces[chunk];
                if (piece != null && !piece.done && have[chunk] == null) {
                    return false;
                }
            }
            return true;
        }

        private int lacking() {
            return code.dataChunks() + spare - count - pending.size();
        }

        /** Each that is asked for and has not come may be the slow one. */
        void askMore() {
            spare = Math.min(pending.size(), code.parityChunks());
        }

        private void askHomes(boolean suspects) {
            for (int chunk : nearest) {
                if (lacking() <= 0) {
                    return;
                }
                StorageSite home = homes.get(chunk);
                if (!asked[chunk] && context.detector().isSuspect(home.id()) == suspects) {
                    asked[chunk] = true;
                    ask(chunk, home);
                }
            }
        }

        private void ask(int chunk, StorageSite site) {
            byte[] column = new byte[to - from];
            arriving[chunk] = column;
            pending.add(fetch(COLUMN_TAG + chunk, site, chunk, from, to - from, column, 0));
        }

        /** Asks every other node which of the missing chunks it keeps. */
        private void search() {
            searched = true;
            for (StorageSite site : nodes) {
                if (context.detector().isSuspect(site.id())) {
                    unsure = true;
                    continue;
                }
                byte[] answer = new byte[code.chunks()];
                byte[] keys = new byte[code.chunks() * ChunkKey.BYTES];
                ByteBuffer buffer = ByteBuffer.wrap(keys);
                for (int chunk = 0; chunk < code.chunks(); chunk++) {
                    key(chunk).write(buffer);
                }
                Exchange exchange =
                        new Exchange(
                                        Opcode.HAS,
                                        site.id(),
                                        SEARCH_TAG + answers.size(),
                                        lane.nextRequest(),
                                        to -> {},
                                        keys,
                                        0,
                                        keys.length)
                                .into(answer, 0, answer.length);
                answers.add(answer);
                searchedNodes.add(site);
                pending.add(exchange);
                lane.send(exchange, context.directory().address(site));
            }
        }

        private void askElsewhere() {
            for (int chunk = 0; chunk < code.chunks() && lacking() > 0; chunk++) {
                List<StorageSite> places = elsewhere.get(chunk);
                if (have[chunk] == null && !places.isEmpty()) {
                    ask(chunk, places.removeLast());
                }
            }
        }

        void finished(Exchange exchange) {
            if (!pending.remove(exchange)) {
                return;
            }
            if (exchange.tag >= SEARCH_TAG) {
                searchAnswered(exchange);
                return;
            }
            int chunk = exchange.tag - COLUMN_TAG;
            if (ok(exchange, to - from)) {
                keep(chunk, arriving[chunk], 0);
            } else if (exchange.mustBeChecked()) {
                checked[chunk] = true;
                askAgain(chunk, exchange.node);
            } else if (exchange.failedOnStaleLink() && !stale[chunk]) {
                stale[chunk] = true;
                askAgain(chunk, exchange.node);
            } else if (noteFailure(exchange, chunk)) {
                ask(chunk, formerHomes.get(chunk));
            }
        }

        private void askAgain(int chunk, String node) {
            for (StorageSite site : nodes) {
                if (site.id().equals(node)) {
                    ask(chunk, site);
                }
            }
        }

        private void searchAnswered(Exchange exchange) {
            int number = exchange.tag - SEARCH_TAG;
            if (!ok(exchange, code.chunks())) {
                var _ = noteFailure(exchange, 0);
                return;
            }
            StorageSite site = searchedNodes.get(number);
            byte[] answer = answers.get(number);
            for (int chunk = 0; chunk < answer.length; chunk++) {
                boolean triedThere = asked[chunk] && site.id().equals(homes.get(chunk).id());
                if (answer[chunk] == 1 && have[chunk] == null && !triedThere) {
                    elsewhere.get(chunk).add(site);
                }
            }
        }

        private void decode() {
            int[] available = new int[code.dataChunks()];
            byte[][] input = new byte[code.dataChunks()][];
            int[] inputAt = new int[code.dataChunks()];
            int n = 0;
            for (int chunk = 0; chunk < code.chunks() && n < available.length; chunk++) {
                byte[] column = have[chunk];
                if (column != null) {
                    available[n] = chunk;
                    inputAt[n] = haveAt[chunk];
                    input[n++] = column;
                }
            }
            List<Integer> wanted = new ArrayList<>();
            for (int chunk = 0; chunk < pieces.length; chunk++) {
                Piece piece = pieces[chunk];
                if (piece == null || piece.done) {
                    continue;
                }
                byte[] column = have[chunk];
                if (column == null) {
                    wanted.add(chunk);
                } else {
                    deliver(piece, column, haveAt[chunk]);
                }
            }
            if (wanted.isEmpty()) {
                return;
            }
            byte[][] output = new byte[wanted.size()][to - from];
            code.rebuild(
                    available,
                    input,
                    inputAt,
                    wanted.stream().mapToInt(i -> i).toArray(),
                    output,
                    new int[output.length],
                    to - from);
            for (int i = 0; i < output.length; i++) {
                Piece piece = pieces[wanted.get(i)];
                if (piece != null) {
                    deliver(piece, output[i], 0);
                }
            }
        }

        private void deliver(Piece piece, byte[] column, int at) {
            Exchange direct = piece.current;
            if (direct != null) {
                direct.abandon();
                piece.current = null;
            }
            System.arraycopy(column, at + piece.from - from, into, piece.at, piece.to - piece.from);
            piece.done = true;
        }
    }
}
