package org.globalfs.client.io;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.Extent;

/**
 * Where a file's committed bytes are, as of one version of the inode; known for a range of the
 * file, which usually is all of it. What no extent covers reads as zeros. Immutable.
 */
public final class ContentMap {

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
            map.put(piece(extent));
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
     * truncation.
     */
    public ContentMap changed(long newVersion, long newSize, List<Extent> written) {
        PieceMap map = new PieceMap();
        for (Piece piece : pieces) {
            map.put(piece);
        }
        for (Extent extent : written) {
            map.put(piece(extent));
        }
        map.remove(newSize, Long.MAX_VALUE);
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
        if (version != other.version || !touch) {
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
     * First offset from {@code offset} on that has data (or has none); the map must be known to the
     * end of the file.
     */
    long seek(long offset, boolean data) {
        long at = offset;
        for (int i = firstEndingAfter(offset); i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            if (piece.offset() >= size) {
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
        return data ? -1 : Math.min(at, size);
    }
}
