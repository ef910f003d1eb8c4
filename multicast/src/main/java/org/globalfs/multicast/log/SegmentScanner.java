package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.globalfs.multicast.log.LogException.Reason;

/**
 * Reads a segment from its start at recovery: rebuilds its index, finds its end, tells a torn tail
 * from damage.
 */
final class SegmentScanner {
    private static final int WINDOW_BYTES = 1 << 20;

    private final RecordFormat format = new RecordFormat();
    private ByteBuffer window =
            ByteBuffer.allocateDirect(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private int windowAt;
    private int durable;

    enum End {
        /** The last record is the seal. */
        SEALED,
        /** Records end without a seal: the process stopped here. */
        OPEN,
        /** Not one record: prepared, never used. */
        UNUSED
    }

    /**
     * Hands every record to the consumer, in order. Whether an open end is a torn tail is the
     * caller's to judge.
     */
    End scan(Segment segment, Consumer<StoredRecord> consumer) throws IOException {
        window.limit(0);
        durable = SegmentHeader.BYTES;
        int at = SegmentHeader.BYTES;
        while (true) {
            int length = recordAt(segment, at);
            if (length < 0) {
                refuseIfDamaged(segment, at);
                segment.end = at;
                return at == SegmentHeader.BYTES ? End.UNUSED : End.OPEN;
            }
            int inWindow = at - windowAt;
            durable = Math.max(durable, RecordFormat.durable(window, inWindow));
            int kind = RecordFormat.kind(window, inWindow);
            if (kind == StoredRecord.SEAL) {
                segment.end = at + RecordFormat.SEAL_BYTES;
                return End.SEALED;
            }
            StoredRecord record = RecordFormat.decode(window, inWindow, length);
            int bytes = RecordFormat.sizeOf(length);
            if (!record.isMeta()) {
                segment.index.put(record.ring(), record.instance(), at, bytes);
            }
            consumer.accept(record);
            at += bytes;
        }
    }

    /** Up to where the segment scanned last is on disk, by what its records say. */
    int durable() {
        return durable;
    }

    /**
     * Payload length of the intact record at this place, or -1; the record is then wholly in the
     * window.
     */
    private int recordAt(Segment segment, int at) throws IOException {
        int capacity = segment.header.capacity();
        if (at + RecordFormat.HEADER_BYTES > capacity
                || !load(segment, at, RecordFormat.HEADER_BYTES)) {
            return -1;
        }
        int length =
                RecordFormat.plausibleLength(
                        window, at - windowAt, capacity - at - RecordFormat.HEADER_BYTES);
        if (length < 0
                || !load(segment, at, RecordFormat.HEADER_BYTES + length)
                || !format.intact(window, at - windowAt, length, segment.sequence())) {
            return -1;
        }
        return length;
    }

    /** Makes [at, at + bytes) part of the window; false if the file is shorter. */
    private boolean load(Segment segment, int at, int bytes) throws IOException {
        if (at >= windowAt && at + bytes <= windowAt + window.limit()) {
            return true;
        }
        if (bytes > window.capacity()) {
            window =
                    ByteBuffer.allocateDirect(Math.max(bytes, window.capacity() * 2))
                            .order(ByteOrder.LITTLE_ENDIAN);
        }
        windowAt = at;
        segment.read(window, at, bytes);
        return window.limit() >= bytes;
    }

    /** An intact later record that says that this place was on disk before it proves damage. */
    private void refuseIfDamaged(Segment segment, int broken) throws IOException {
        int capacity = segment.header.capacity();
        for (int at = broken + 8; at + RecordFormat.HEADER_BYTES <= capacity; at += 8) {
            if (!load(segment, at, RecordFormat.HEADER_BYTES)) {
                return;
            }
            int inWindow = at - windowAt;
            if (window.getInt(inWindow) == 0 && window.getLong(inWindow + 8) == 0) {
                continue;
            }
            int durable = RecordFormat.durable(window, inWindow);
            if (durable > broken && durable <= at && recordAt(segment, at) >= 0) {
                throw new LogException(
                        Reason.CORRUPT,
                        segment.file
                                + " is damaged at byte "
                                + broken
                                + ": a record that was on disk cannot be read, though later ones can (byte "
                                + at
                                + ")");
            }
        }
    }
}
