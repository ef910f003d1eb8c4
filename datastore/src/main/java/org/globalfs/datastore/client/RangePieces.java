package org.globalfs.datastore.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range of a block that is read, in pieces, one a data chunk that holds some of it, and where
 * each goes in the reader's array. Not thread-safe: the reader's. Once a piece is done its bytes
 * are in that array, and nothing more is written there.
 */
final class RangePieces {
    private final byte[] into;
    private final int chunkBytes;
    private final @Nullable Piece[] byChunk;
    private final List<Piece> all = new ArrayList<>();

    /** The part of the range within one data chunk. */
    static final class Piece {
        final int chunk;

        /** Of the chunk. */
        final int from;

        final int to;

        /** Of the reader's array. */
        final int at;

        /** Its read from the chunk's node, while that is under way. */
        @Nullable Exchange current;

        boolean done;

        /** A connection kept from earlier failed it. */
        boolean stale;

        Piece(int chunk, int from, int to, int at) {
            this.chunk = chunk;
            this.from = from;
            this.to = to;
            this.at = at;
        }

        int bytes() {
            return to - from;
        }
    }

    RangePieces(int dataChunks, int chunkBytes, int offset, int length, byte[] into, int intoAt) {
        this.into = into;
        this.chunkBytes = chunkBytes;
        byChunk = new Piece[dataChunks];
        for (int chunk = 0; chunk < dataChunks; chunk++) {
            int start = chunk * chunkBytes;
            int from = Math.max(offset, start);
            int to = Math.min(offset + length, start + chunkBytes);
            if (from < to) {
                Piece piece = new Piece(chunk, from - start, to - start, intoAt + from - offset);
                byChunk[chunk] = piece;
                all.add(piece);
            }
        }
    }

    /** In order of their chunks. */
    List<Piece> all() {
        return all;
    }

    /** Null where the range has no part. */
    @Nullable Piece of(int chunk) {
        return byChunk[chunk];
    }

    /** Where pieces go. */
    byte[] into() {
        return into;
    }

    boolean allDone() {
        for (Piece piece : all) {
            if (!piece.done) {
                return false;
            }
        }
        return true;
    }

    /** Whether some piece is being read from its chunk's node. */
    boolean underWay() {
        for (Piece piece : all) {
            if (piece.current != null) {
                return true;
            }
        }
        return false;
    }

    /** Where in their chunks the first of those begins that are not done. */
    int missingFrom() {
        int from = chunkBytes;
        for (Piece piece : all) {
            from = piece.done ? from : Math.min(from, piece.from);
        }
        return from;
    }

    /** Where in their chunks the last of those ends that are not done. */
    int missingTo() {
        int to = 0;
        for (Piece piece : all) {
            to = piece.done ? to : Math.max(to, piece.to);
        }
        return to;
    }

    /**
     * Brings a piece that came another way than was asked for first.
     *
     * @param source has the piece from `sourceAt` on
     */
    void deliver(Piece piece, byte[] source, int sourceAt) {
        Exchange direct = piece.current;
        if (direct != null) {
            direct.abandon();
            piece.current = null;
        }
        System.arraycopy(source, sourceAt, into, piece.at, piece.bytes());
        piece.done = true;
    }
}
