package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.globalfs.multicast.log.LogException.Reason;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * One read of a run of instances; keeps a window of the file, as neighbours in the order are mostly
 * neighbours on disk.
 */
final class LogReader implements AutoCloseable {
    private static final int WINDOW_BYTES = 64 << 10;

    private final int ring;
    private final RecordFormat format = new RecordFormat();
    private ByteBuffer window =
            ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private int windowAt;
    private @Nullable Segment pinned;

    LogReader(int ring) {
        this.ring = ring;
    }

    List<StoredRecord> read(Supplier<Segment[]> segments, long from, long through, int maxBytes)
            throws IOException {
        List<StoredRecord> records = new ArrayList<>();
        int bytes = 0;
        for (long instance = from; instance <= through && bytes < maxBytes; instance++) {
            StoredRecord record = find(segments, instance);
            if (record == null) {
                break;
            }
            records.add(record);
            bytes += RecordFormat.HEADER_BYTES + record.payload().length;
        }
        return records;
    }

    /**
     * Newest records of these instances, the first ones of them, about as many bytes as allowed.
     */
    List<StoredRecord> read(Segment[] segments, long[] instances, int maxBytes) throws IOException {
        List<StoredRecord> records = new ArrayList<>();
        int bytes = 0;
        for (int i = 0; i < instances.length && bytes < maxBytes; i++) {
            StoredRecord record = find(() -> segments, instances[i]);
            Invariant.check(record != null, "instance %s of ring %s is gone", instances[i], ring);
            records.add(record);
            bytes += RecordFormat.sizeOf(record.payload().length);
        }
        return records;
    }

    private @Nullable StoredRecord find(Supplier<Segment[]> segments, long instance)
            throws IOException {
        Segment[] looked = segments.get();
        while (true) {
            Segment holder = holder(looked, instance);
            if (holder == null) {
                return null;
            }
            if (use(holder)) {
                return readAt(holder, holder.index.find(ring, instance), instance);
            }
            // It was dropped meanwhile, but the record may have been carried on before.
            Segment[] now = segments.get();
            if (now[0].sequence() == looked[0].sequence()) {
                return null;
            }
            looked = now;
        }
    }

    private @Nullable Segment holder(Segment[] segments, long instance) {
        for (int i = segments.length - 1; i >= 0; i--) {
            if (segments[i].index.find(ring, instance) != SegmentIndex.ABSENT) {
                return segments[i];
            }
        }
        return null;
    }

    private boolean use(Segment segment) {
        if (pinned == segment) {
            return true;
        }
        close();
        window.limit(0);
        if (!segment.pin()) {
            return false;
        }
        pinned = segment;
        return true;
    }

    private StoredRecord readAt(Segment segment, int at, long instance) throws IOException {
        int length = intactLength(segment, at, instance);
        if (length < 0) {
            // The window may be older than the record.
            window.limit(0);
            length = intactLength(segment, at, instance);
        }
        if (length < 0) {
            throw new LogException(
                    Reason.CORRUPT,
                    segment.file
                            + " is damaged at byte "
                            + at
                            + ": instance "
                            + instance
                            + " of ring "
                            + ring
                            + " cannot be read back");
        }
        return RecordFormat.decode(window, at - windowAt, length);
    }

    /** Payload length of the instance's record there, which is in the window then; or -1. */
    private int intactLength(Segment segment, int at, long instance) throws IOException {
        load(segment, at, RecordFormat.HEADER_BYTES);
        int most = segment.header.capacity() - at - RecordFormat.HEADER_BYTES;
        int length = RecordFormat.plausibleLength(window, at - windowAt, most);
        if (length < 0) {
            return -1;
        }
        load(segment, at, RecordFormat.HEADER_BYTES + length);
        int inWindow = at - windowAt;
        boolean intact =
                format.intact(window, inWindow, length, segment.sequence())
                        && RecordFormat.instance(window, inWindow) == instance
                        && RecordFormat.ring(window, inWindow) == ring;
        return intact ? length : -1;
    }

    private void load(Segment segment, int at, int bytes) throws IOException {
        if (at >= windowAt && at + bytes <= windowAt + window.limit()) {
            return;
        }
        if (window.capacity() < bytes) {
            window = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
        windowAt = at;
        segment.read(window, at, bytes);
        if (window.limit() < bytes) {
            throw new LogException(
                    Reason.CORRUPT, segment.file + " ends early, at byte " + (at + window.limit()));
        }
    }

    @Override
    public void close() {
        if (pinned != null) {
            pinned.unpin();
            pinned = null;
        }
    }
}
