package org.globalfs.datastore.client;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.datastore.client.RangePieces.Piece;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * The same range of bytes of some chunks of a block: from those of any k chunks, those of all
 * others can be decoded. Not thread-safe: the reader's. What a column lies in is not written to
 * while it is here.
 */
final class Columns {
    private final ReedSolomon code;
    private final int from;
    private final int to;
    private final byte[] @Nullable [] have;
    private final int[] haveAt;
    private int count;

    /**
     * @param from of each chunk
     */
    Columns(ReedSolomon code, int from, int to) {
        this.code = code;
        this.from = from;
        this.to = to;
        have = new byte[code.chunks()][];
        haveAt = new int[code.chunks()];
    }

    int from() {
        return from;
    }

    int width() {
        return to - from;
    }

    /** How many have come. */
    int count() {
        return count;
    }

    boolean has(int chunk) {
        return have[chunk] != null;
    }

    /** Takes the column of a chunk that it does not have: `bytes` has it, from `at` on. */
    void keep(int chunk, byte[] bytes, int at) {
        Invariant.check(have[chunk] == null, "a second column of chunk %s", chunk);
        have[chunk] = bytes;
        haveAt[chunk] = at;
        count++;
    }

    /** Whether the chunk's column lies within its piece. */
    boolean within(Piece piece) {
        return piece.from <= from && piece.to >= to;
    }

    /**
     * Whether the pieces that are missing can be had from what has come: decoded, or as they are,
     * as when the cache had just what was wanted.
     */
    boolean suffice(RangePieces pieces) {
        if (count >= code.dataChunks()) {
            return true;
        }
        for (Piece piece : pieces.all()) {
            if (!piece.done && have[piece.chunk] == null) {
                return false;
            }
        }
        return true;
    }

    /** Brings all pieces that are missing, which the columns {@link #suffice} for. */
    void deliver(RangePieces pieces) {
        List<Piece> lacking = new ArrayList<>();
        for (Piece piece : pieces.all()) {
            if (piece.done) {
                continue;
            }
            byte[] column = have[piece.chunk];
            if (column == null) {
                lacking.add(piece);
            } else {
                pieces.deliver(piece, column, haveAt[piece.chunk] + piece.from - from);
            }
        }
        if (lacking.isEmpty()) {
            return;
        }
        byte[][] decoded = decode(lacking.stream().mapToInt(piece -> piece.chunk).toArray());
        for (int i = 0; i < decoded.length; i++) {
            Piece piece = lacking.get(i);
            pieces.deliver(piece, decoded[i], piece.from - from);
        }
    }

    private byte[][] decode(int[] wanted) {
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
        byte[][] output = new byte[wanted.length][width()];
        code.rebuild(available, input, inputAt, wanted, output, new int[wanted.length], width());
        return output;
    }
}
