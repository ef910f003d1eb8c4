package org.globalfs.datastore.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.datastore.client.RangePieces.Piece;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.discovery.StorageSite;

/**
 * Collects the same range of bytes of k chunks, from which the missing pieces of a read are
 * decoded: from homes, nearer ones first, then from whoever says that it keeps a chunk, at last
 * from homes that are suspect. Not thread-safe: the reader's. At most one request for a chunk's
 * column is under way, its direct read included.
 */
final class ColumnRead {
    /** Tags of exchanges: these plus a chunk's index, or a search's number. */
    static final int TAG = 100;

    private static final int SEARCH_TAG = 200;

    private final BlockClientContext context;
    private final Lane lane;
    private final ReedSolomon code;
    private final ChunkSources sources;
    private final HomeDistances distances;
    private final RangePieces pieces;
    private final Columns columns;
    private final List<Exchange> pending = new ArrayList<>();
    private final byte[][] arriving;

    /** By chunk: its home was asked for it, or need not be. */
    private final boolean[] asked;

    /** By chunk: a connection kept from earlier failed it. */
    private final boolean[] stale;

    /** By chunk: nodes that keep it for others. */
    private final List<List<StorageSite>> elsewhere = new ArrayList<>();

    private final List<byte[]> answers = new ArrayList<>();
    private final List<StorageSite> searchedNodes = new ArrayList<>();
    private boolean searched;
    private int spare;

    ColumnRead(
            BlockClientContext context,
            Lane lane,
            ReedSolomon code,
            ChunkSources sources,
            HomeDistances distances,
            RangePieces pieces) {
        this.context = context;
        this.lane = lane;
        this.code = code;
        this.sources = sources;
        this.distances = distances;
        this.pieces = pieces;
        columns = new Columns(code, pieces.missingFrom(), pieces.missingTo());
        arriving = new byte[code.chunks()][];
        asked = new boolean[code.chunks()];
        stale = new boolean[code.chunks()];
        for (int chunk = 0; chunk < code.chunks(); chunk++) {
            elsewhere.add(new ArrayList<>());
        }
        for (Piece piece : pieces.all()) {
            if (piece.done) {
                haveDirect(piece);
            } else if (piece.current != null) {
                asked[piece.chunk] = true; // its direct read is under way
            }
        }
    }

    /** The requests that are under way. */
    List<Exchange> pending() {
        return pending;
    }

    /** A piece is done by its direct read. */
    void haveDirect(Piece piece) {
        if (columns.within(piece) && !columns.has(piece.chunk)) {
            // Nothing more is written there.
            keep(piece.chunk, pieces.into(), piece.at + columns.from() - piece.from);
        } else {
            asked[piece.chunk] = columns.has(piece.chunk);
        }
    }

    void haveCached(CacheRead cached) {
        int at = columns.from() - cached.from();
        for (int chunk = 0; chunk < code.chunks(); chunk++) {
            if ((cached.chunks() >>> chunk & 1) == 1) {
                keep(chunk, cached.bytes(), at);
                at += cached.width();
            }
        }
    }

    private void keep(int chunk, byte[] bytes, int at) {
        if (!columns.has(chunk)) {
            columns.keep(chunk, bytes, at);
            asked[chunk] = true;
        }
    }

    /** How far away the farthest home is that has to be asked. */
    long reachNs() {
        return distances.reachNs(code.dataChunks() - columns.count(), columns);
    }

    void homeFailed(int chunk) {
        asked[chunk] = true;
    }

    /**
     * Takes the next step: decodes when it can, else asks for as many more columns as are missing.
     * False when everything was tried and nothing is under way.
     */
    boolean advance() {
        if (columns.suffice(pieces)) {
            columns.deliver(pieces);
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

    private int lacking() {
        return code.dataChunks() + spare - columns.count() - pending.size();
    }

    /** Each that is asked for and has not come may be the slow one. */
    void askMore() {
        spare = Math.min(pending.size(), code.parityChunks());
    }

    private void askHomes(boolean suspects) {
        for (int chunk : distances.nearest()) {
            if (lacking() <= 0) {
                return;
            }
            StorageSite home = sources.home(chunk);
            if (!asked[chunk] && sources.isSuspect(home) == suspects) {
                asked[chunk] = true;
                ask(chunk, home);
            }
        }
    }

    private void ask(int chunk, StorageSite site) {
        byte[] column = new byte[columns.width()];
        arriving[chunk] = column;
        pending.add(
                sources.fetch(
                        TAG + chunk, site, chunk, columns.from(), columns.width(), column, 0));
    }

    /** Asks every other node which of the missing chunks it keeps. */
    private void search() {
        searched = true;
        for (StorageSite site : sources.nodes()) {
            if (sources.isSuspect(site)) {
                sources.unsure();
                continue;
            }
            byte[] answer = new byte[code.chunks()];
            byte[] keys = new byte[code.chunks() * ChunkKey.BYTES];
            ByteBuffer buffer = ByteBuffer.wrap(keys);
            for (int chunk = 0; chunk < code.chunks(); chunk++) {
                sources.key(chunk).write(buffer);
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
            if (!columns.has(chunk) && !places.isEmpty()) {
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
        int chunk = exchange.tag - TAG;
        if (exchange.brought(columns.width())) {
            keep(chunk, arriving[chunk], 0);
        } else if (exchange.mustBeChecked()) {
            sources.mustBeChecked(chunk);
            askAgain(chunk, exchange.node);
        } else if (exchange.failedOnStaleLink() && !stale[chunk]) {
            stale[chunk] = true;
            askAgain(chunk, exchange.node);
        } else if (sources.failed(exchange, chunk)) {
            ask(chunk, sources.formerHome(chunk));
        }
    }

    private void askAgain(int chunk, String node) {
        for (StorageSite site : sources.nodes()) {
            if (site.id().equals(node)) {
                ask(chunk, site);
            }
        }
    }

    private void searchAnswered(Exchange exchange) {
        int number = exchange.tag - SEARCH_TAG;
        if (!exchange.brought(code.chunks())) {
            var _ = sources.failed(exchange, 0);
            return;
        }
        StorageSite site = searchedNodes.get(number);
        byte[] answer = answers.get(number);
        for (int chunk = 0; chunk < answer.length; chunk++) {
            boolean triedThere = asked[chunk] && site.id().equals(sources.home(chunk).id());
            if (answer[chunk] == 1 && !columns.has(chunk) && !triedThere) {
                elsewhere.get(chunk).add(site);
            }
        }
    }
}
