package org.globalfs.client.io;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.globalfs.protocol.wire.Attributes;
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

    /** Of the budget, by the partition that it was taken for: the file may move meanwhile. */
    private final Map<Integer, Long> reservedBytes = new HashMap<>();

    private long bufferedBytes;
    private long writtenAtMs;

    /** Set by who commits it, without the file's lock. */
    private volatile @Nullable Attributes made;

    /** Whether its command may have been executed. Set likewise. */
    private volatile boolean sent;

    /** A version of the inode that somebody knew before its command was sent. */
    private long notIn;

    /** Whether pages were written back into it. */
    boolean hasPages;

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

    /** Whether a write can join, and leave with what is pending as if it had left after that. */
    boolean takesWrite(boolean appending, Credentials caller) {
        if (append != appending || !credentials.equals(caller)) {
            return false;
        }
        // A write after a chmod may take its set-id bits away: that order must stay.
        return attributes == null || !attributes.isSetMode() || caller.getUid() == 0;
    }

    /** Likewise attributes, which are certain to be permitted and are no truncation. */
    boolean takesAfterWrites(SetAttributesOp op, Credentials caller) {
        return hasData() && credentials.equals(caller) && JoinedAttributes.join(attributes, op);
    }

    /** Likewise attributes that are certain to be permitted, size included. */
    boolean takes(SetAttributesOp op, Credentials caller) {
        // A truncation after a chmod may take its set-id bits away, as a write may.
        boolean inOrder =
                attributes == null
                        || !attributes.isSetMode()
                        || !op.isSetSize()
                        || caller.getUid() == 0;
        return inOrder && !append && credentials.equals(caller);
    }

    /** Sets attributes after all that is pending. */
    void set(SetAttributesOp op) {
        if (op.isSetSize()) {
            pieces.remove(op.getSize(), Long.MAX_VALUE);
        }
        attributes = JoinedAttributes.merged(attributes, op);
    }

    /** Its command is about to be sent. */
    void sent() {
        sent = true;
    }

    /** Somebody knows this version of the inode already. */
    void seen(long version) {
        if (!sent) {
            notIn = Math.max(notIn, version);
        }
    }

    /** Its command made the inode so. */
    void made(Attributes attributes) {
        made = attributes;
    }

    /** What its command made of the inode; null: nobody knows yet. */
    @Nullable Attributes made() {
        return made;
    }

    /** Whether it is an append of which nobody knows whether that version has it. */
    boolean mayBeIn(long version) {
        return append && sent && made == null && version > notIn;
    }

    /** How the file looks once this is committed, as far as the client can tell. */
    void overlay(Attributes result) {
        Attributes answered = made;
        if (append && answered != null && result.getVersion() >= answered.getVersion()) {
            // It is among them, at the end that the file had.
            return;
        }
        if (hasData()) {
            long end = pieces.end();
            result.setSize(append ? result.getSize() + end : Math.max(result.getSize(), end));
            result.setMtimeNs(writtenAtMs * 1_000_000);
            result.setCtimeNs(Math.max(result.getCtimeNs(), result.getMtimeNs()));
        }
        if (attributes != null) {
            JoinedAttributes.overlay(result, attributes);
        }
    }

    Map<Integer, Long> reservedBytes() {
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

    void reserved(int partition, long bytes) {
        reservedBytes.merge(partition, bytes, Long::sum);
    }

    /**
     * Takes all of {@code content}; buffers that fill up are given to {@code store}, which freezes
     * them. Times set before are no longer the last word.
     */
    void write(long offset, ByteBuffer content, Consumer<WriteBuffer> store) {
        writtenAtMs = System.currentTimeMillis();
        long at = offset;
        while (content.hasRemaining()) {
            at += writeSome(at, content, store);
        }
        if (attributes != null) {
            attributes = JoinedAttributes.beforeWrite(attributes);
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
