package org.globalfs.client.io;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.Extent;
import org.jspecify.annotations.Nullable;

/**
 * Where a file's committed bytes are, as of one version of the inode; known for a range of the
 * file, which usually is all of it. What no extent covers reads as zeros. Immutable.
 */
public final class ContentMap {

    /** Answer of {@link #seek}: not within what is known. */
    static final long UNKNOWN = -2;

    /** No map that was put together holds more: a long file's is known in windows. */
    private static final int MAX_PIECES = 4096;

    private final long version;
    private final long size;
    private final long knownFrom;
    private final long knownTo;
    private final List<Piece> pieces;

    private ContentMap(long version, long size, long knownFrom, long knownTo, List<Piece> pieces) {
        this.version = version;
        this.size = size;
        this.knownFrom = knownFrom;
        this.knownTo = knownTo;
        this.pieces = pieces;
    }

    /** {@code extents} are complete for [from, to). */
    public static ContentMap of(long version, long size, long from, long to, List<Extent> extents) {
        PieceMap map = new PieceMap();
        for (Extent extent : extents) {
            // What is allocated and not written reads as a hole does.
            if (!extent.isUnwritten()) {
                map.put(piece(extent));
            }
        }
        return new ContentMap(version, size, from, to, List.copyOf(map.all()));
    }

    public static ContentMap empty(long version) {
        return new ContentMap(version, 0, 0, Long.MAX_VALUE, List.of());
    }

    static Piece piece(Extent extent) {
        if (extent.isSetData()) {
            ByteBuffer data = extent.bufferForData();
            byte[] bytes = new byte[data.remaining()];
            data.get(data.position(), bytes);
            return new Piece(extent.getOffset(), extent.getLength(), new Source.Embedded(bytes), 0);
        }
        return new Piece(
                extent.getOffset(),
                extent.getLength(),
                new Source.Block(extent.getBlock()),
                extent.getBlockOffset());
    }

    public long version() {
        return version;
    }

    long knownTo() {
        return knownTo;
    }

    public long size() {
        return size;
    }

    /**
     * Whether it says where every byte of [start, end) is; beyond the end of the file there are
     * none.
     */
    public boolean covers(long start, long end) {
        long last = Math.min(end, size);
        return start >= last || (knownFrom <= start && knownTo >= last);
    }

    /** Memory that the map holds, roughly. */
    public long weightBytes() {
        long weight = 64;
        for (Piece piece : pieces) {
            weight +=
                    96
                            + (piece.source() instanceof Source.Embedded embedded
                                    ? embedded.bytes().length
                                    : 0);
        }
        return weight;
    }

    /** The pieces within [start, end) and the file. */
    List<Piece> within(long start, long end) {
        long last = Math.min(end, size);
        List<Piece> result = new ArrayList<>();
        for (int i = firstEndingAfter(start);
                i < pieces.size() && pieces.get(i).offset() < last;
                i++) {
            result.add(pieces.get(i).within(start, last));
        }
        return result;
    }

    private int firstEndingAfter(long offset) {
        int low = 0;
        int high = pieces.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (pieces.get(middle).end() <= offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * The map after a write of these extents and then, unless {@code newSize} is as it was, a
     * truncation; null when that is too much to know.
     */
    public @Nullable ContentMap changed(long newVersion, long newSize, List<Extent> written) {
        PieceMap map = new PieceMap();
        for (Piece piece : pieces) {
            map.put(piece);
        }
        for (Extent extent : written) {
            map.put(piece(extent));
        }
        map.remove(newSize, Long.MAX_VALUE);
        if (map.count() > MAX_PIECES) {
            return null;
        }
        boolean complete = knownFrom == 0 && knownTo >= size;
        return new ContentMap(
                newVersion,
                newSize,
                knownFrom,
                complete ? Long.MAX_VALUE : Math.min(knownTo, newSize),
                List.copyOf(map.all()));
    }

    /** Both together when they are of one version and touch, else the other. */
    public ContentMap joined(ContentMap other) {
        boolean touch = knownFrom <= other.knownTo && other.knownFrom <= knownTo;
        boolean much = pieces.size() + other.pieces.size() > MAX_PIECES;
        if (version != other.version || !touch || much) {
            return other;
        }
        PieceMap map = new PieceMap();
        pieces.forEach(map::put);
        other.pieces.forEach(map::put);
        return new ContentMap(
                version,
                size,
                Math.min(knownFrom, other.knownFrom),
                Math.max(knownTo, other.knownTo),
                List.copyOf(map.all()));
    }

    /**
     * First offset from {@code offset}, which is known, on that has data (or has none); -1: there
     * is none; {@link #UNKNOWN}: none in the known range, and the file goes on behind it.
     */
    long seek(long offset, boolean data) {
        long end = Math.min(knownTo, size);
        long at = offset;
        for (int i = firstEndingAfter(offset); i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            if (piece.offset() >= end) {
                break;
            }
            if (data) {
                return Math.max(offset, piece.offset());
            }
            if (piece.offset() > at) {
                return at;
            }
            at = piece.end();
        }
        if (!data && at < end) {
            return at;
        }
        if (knownTo < size) {
            return UNKNOWN;
        }
        return data ? -1 : Math.min(at, size);
    }
}
