package org.globalfs.client.io;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.jspecify.annotations.Nullable;

/**
 * Changes of one file that will be committed by one command: written ranges, byte for byte as the
 * application wrote them, and attributes set after them. Guarded by the file's lock until it is
 * taken for committing, unchanging from then on.
 *
 * <p>An appending one counts its offsets from the size that the file will have when the command
 * executes.
 */
final class Pending {

    private final boolean append;
    private final Credentials credentials;
    private final long sinceNs = System.nanoTime();
    private final PieceMap pieces = new PieceMap();
    private final List<WriteBuffer> stored = new ArrayList<>();
    private @Nullable SetAttributesOp attributes;
    private long reservedBytes;
    private long bufferedBytes;
    private long writtenAtMs;

    Pending(boolean append, Credentials credentials) {
        this.append = append;
        this.credentials = credentials;
    }

    boolean append() {
        return append;
    }

    Credentials credentials() {
        return credentials;
    }

    long sinceNs() {
        return sinceNs;
    }

    PieceMap pieces() {
        return pieces;
    }

    /** Buffers that became, or are becoming, blocks of their own. */
    List<WriteBuffer> stored() {
        return stored;
    }

    @Nullable SetAttributesOp attributes() {
        return attributes;
    }

    void attributes(@Nullable SetAttributesOp op) {
        attributes = op;
    }

    long reservedBytes() {
        return reservedBytes;
    }

    /** Bytes in buffers, overwritten ones included. */
    long bufferedBytes() {
        return bufferedBytes;
    }

    /** Local time of the last write. */
    long writtenAtMs() {
        return writtenAtMs;
    }

    boolean hasData() {
        return !pieces.isEmpty();
    }

    boolean isEmpty() {
        return pieces.isEmpty() && attributes == null;
    }

    void reserved(long bytes) {
        reservedBytes += bytes;
    }

    /**
     * Takes all of {@code content}; buffers that fill up are given to {@code store}, which freezes
     * them.
     */
    void write(long offset, ByteBuffer content, Consumer<WriteBuffer> store) {
        writtenAtMs = System.currentTimeMillis();
        long at = offset;
        while (content.hasRemaining()) {
            at += writeSome(at, content, store);
        }
    }

    private int writeSome(long at, ByteBuffer content, Consumer<WriteBuffer> store) {
        Piece before = pieces.floor(at);
        if (before != null
                && before.source() instanceof Source.Written(WriteBuffer buffer)
                && !buffer.frozen()) {
            if (before.end() > at) {
                int count = (int) Math.min(content.remaining(), before.end() - at);
                buffer.overwrite((int) (before.from() + at - before.offset()), content, count);
                return count;
            }
            if (before.end() == at && before.from() + before.length() == buffer.used()) {
                return append(before, buffer, content, store);
            }
        }
        boolean continues =
                before != null
                        && before.end() == at
                        && before.source() instanceof Source.Written(WriteBuffer full)
                        && full.full();
        WriteBuffer fresh =
                new WriteBuffer(continues ? WriteBuffer.MAX_BYTES : content.remaining());
        return append(new Piece(at, 0, new Source.Written(fresh), 0), fresh, content, store);
    }

    private int append(
            Piece piece, WriteBuffer buffer, ByteBuffer content, Consumer<WriteBuffer> store) {
        int count = buffer.append(content, content.remaining());
        Piece longer =
                new Piece(piece.offset(), piece.length() + count, piece.source(), piece.from());
        if (piece.length() == 0) {
            pieces.put(longer);
        } else {
            pieces.extend(longer);
        }
        bufferedBytes += count;
        if (buffer.full()) {
            stored.add(buffer);
            store.accept(buffer);
        }
        return count;
    }
}
