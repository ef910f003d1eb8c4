package org.globalfs.client.io;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Pieces of a file that do not overlap: a new one replaces what it covers. Not thread-safe. */
final class PieceMap {

    private final TreeMap<Long, Piece> pieces = new TreeMap<>();

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    int count() {
        return pieces.size();
    }

    Collection<Piece> all() {
        return pieces.values();
    }

    /** End of the furthest piece; 0 when there is none. */
    long end() {
        Map.Entry<Long, Piece> last = pieces.lastEntry();
        return last == null ? 0 : last.getValue().end();
    }

    /** The piece that begins last at or before the offset, or null. */
    @Nullable Piece floor(long offset) {
        Map.Entry<Long, Piece> entry = pieces.floorEntry(offset);
        return entry == null ? null : entry.getValue();
    }

    void put(Piece piece) {
        if (piece.length() > 0) {
            remove(piece.offset(), piece.end());
            pieces.put(piece.offset(), piece);
        }
    }

    /** Replaces a piece by a longer one of the same beginning. */
    void extend(Piece longer) {
        Piece old = pieces.get(longer.offset());
        if (old != null) {
            remove(old.end(), longer.end());
        }
        pieces.put(longer.offset(), longer);
    }

    /** Takes out everything within [start, end). */
    void remove(long start, long end) {
        Piece before = floor(start);
        if (before != null && before.end() > start) {
            pieces.remove(before.offset());
            if (before.offset() < start) {
                pieces.put(before.offset(), before.within(before.offset(), start));
            }
            if (before.end() > end) {
                pieces.put(end, before.within(end, before.end()));
            }
        }
        for (Map.Entry<Long, Piece> next = pieces.ceilingEntry(start);
                next != null && next.getKey() < end;
                next = pieces.ceilingEntry(start)) {
            Piece piece = next.getValue();
            pieces.remove(piece.offset());
            if (piece.end() > end) {
                pieces.put(end, piece.within(end, piece.end()));
            }
        }
    }

    /** The parts of pieces within [start, end), in order. */
    List<Piece> within(long start, long end) {
        List<Piece> result = new ArrayList<>();
        Piece before = floor(start);
        if (before != null && before.end() > start && before.offset() < start) {
            result.add(before.within(start, end));
        }
        for (Piece piece : pieces.tailMap(start, true).values()) {
            if (piece.offset() >= end) {
                break;
            }
            result.add(piece.within(start, end));
        }
        return result;
    }

    /** Whether no byte of [start, end) is missing. */
    boolean covers(long start, long end) {
        long covered = start;
        for (Piece piece : within(start, end)) {
            if (piece.offset() > covered) {
                return false;
            }
            covered = piece.end();
        }
        return covered >= end;
    }
}
