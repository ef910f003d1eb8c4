package org.globalfs.client.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A file's content as one read sees it: what was pending at one moment, over what the replicas
 * hold. What was pending is copied, so nothing of it changes or needs the file's lock any more.
 */
final class ContentView {

    private static final byte[] ZEROS = new byte[64 << 10];

    private final PieceMap pending = new PieceMap();

    /** Where what was pending ends, outside of the range that is read, too. */
    private long pendingEnd;

    /** Takes what is pending within [start, end), earlier ones first. The file's lock is held. */
    static ContentView of(long start, long end, @Nullable Pending... all) {
        ContentView view = new ContentView();
        for (Pending pending : all) {
            if (pending != null && pending.hasData()) {
                for (Piece piece : pending.pieces().within(start, end)) {
                    view.pending.put(atHand(piece));
                }
                view.pendingEnd = Math.max(view.pendingEnd, pending.pieces().end());
            }
        }
        return view;
    }

    /** Of a file of which nothing is pending, or to be seen. */
    static ContentView committed() {
        return new ContentView();
    }

    private static Piece atHand(Piece piece) {
        if (piece.source() instanceof Source.Written(WriteBuffer buffer)) {
            byte[] copy = buffer.copy((int) piece.from(), (int) piece.length());
            return new Piece(piece.offset(), piece.length(), new Source.Embedded(copy), 0);
        }
        return piece;
    }

    /** Whether the range needs nothing of what is committed. */
    boolean covers(long start, long end) {
        return pending.covers(start, end);
    }

    /**
     * Fills {@code into} from {@code offset} on, up to the end of the file; holes are zeros.
     *
     * @param map what is committed; null: the view {@link #covers} the range
     * @param ahead bytes behind the range that the cache is to fetch, too
     */
    void compose(
            BlockCache cache, long offset, ByteBuffer into, @Nullable ContentMap map, long ahead)
            throws IOException {
        long size = Math.max(pendingEnd, map == null ? 0 : map.size());
        long end = Math.min(offset + into.remaining(), size);
        if (end <= offset) {
            return;
        }
        PieceMap merged = new PieceMap();
        if (map != null) {
            map.within(offset, end).forEach(merged::put);
        }
        pending.within(offset, end).forEach(merged::put);
        List<Piece> pieces = new ArrayList<>(merged.all());
        List<List<CompletableFuture<ByteBuffer>>> slices = new ArrayList<>(pieces.size());
        for (Piece piece : pieces) {
            slices.add(fetch(cache, piece));
        }
        if (map != null && ahead > 0) {
            for (Piece piece : map.within(end, end + ahead)) {
                fetch(cache, piece);
            }
        }
        long at = offset;
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            zero(into, piece.offset() - at);
            switch (piece.source()) {
                case Source.Embedded(byte[] bytes) ->
                        into.put(bytes, (int) piece.from(), (int) piece.length());
                case Source.Block block ->
                        BlockCache.copy(
                                slices.get(i), (int) piece.from(), (int) piece.length(), into);
                case Source.Written written ->
                        throw new IllegalStateException("a written piece outside of the lock");
            }
            at = piece.end();
        }
        zero(into, end - at);
    }

    private static List<CompletableFuture<ByteBuffer>> fetch(BlockCache cache, Piece piece) {
        return piece.source() instanceof Source.Block(var ref)
                ? cache.fetch(ref, (int) piece.from(), (int) piece.length())
                : List.of();
    }

    private static void zero(ByteBuffer into, long count) {
        for (long left = count; left > 0; left -= ZEROS.length) {
            into.put(ZEROS, 0, (int) Math.min(left, ZEROS.length));
        }
    }
}
