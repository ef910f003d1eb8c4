package org.globalfs.multicast.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Byte form of a record inside a segment; docs/formats/multicast-log.md has the table.
 *
 * <p>The checksum covers the segment's sequence number too, so that records left over in a recycled
 * file are not mistaken for new ones. {@code durable} says how far the segment was known to be on
 * disk when the record was written: a valid record after an unreadable one proves damage, not a
 * torn tail, if it says that the unreadable one was durable.
 */
final class RecordFormat {
    static final int HEADER_BYTES = 32;
    static final int SEAL_BYTES = HEADER_BYTES;

    private final CRC32C crc = new CRC32C();
    private final ByteBuffer salt = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

    static int sizeOf(int payloadBytes) {
        return (HEADER_BYTES + payloadBytes + 7) & ~7;
    }

    /** Writes a record at the buffer's position, padding included. */
    void encode(
            ByteBuffer to,
            long sequence,
            int durable,
            int ring,
            int kind,
            long ballot,
            long instance,
            MulticastLog.Payload payload) {
        int start = to.position();
        to.putInt(0)
                .putInt(0)
                .putInt(durable)
                .put((byte) kind)
                .put((byte) 0)
                .putShort((short) ring)
                .putLong(ballot)
                .putLong(instance);
        payload.writeTo(to);
        int end = to.position();
        int length = end - start - HEADER_BYTES;
        to.putInt(start + 4, length);
        to.putInt(start, checksum(to, start, end, sequence));
        for (int padding = sizeOf(length) - (end - start); padding > 0; padding--) {
            to.put((byte) 0);
        }
    }

    private int checksum(ByteBuffer in, int start, int end, long sequence) {
        crc.reset();
        crc.update(salt.clear().putLong(0, sequence));
        int position = in.position();
        int limit = in.limit();
        in.limit(end).position(start + 4);
        crc.update(in);
        in.limit(limit).position(position);
        return (int) crc.getValue();
    }

    /** Payload length if a record may start here, judged by its header alone; -1 if not. */
    static int plausibleLength(ByteBuffer in, int at, int maxPayload) {
        int kind = kind(in, at);
        int length = in.getInt(at + 4);
        return kind > 0 && length >= 0 && length <= maxPayload && in.get(at + 13) == 0
                ? length
                : -1;
    }

    /** Whether the record at this place, which must be wholly inside the buffer, is intact. */
    boolean intact(ByteBuffer in, int at, int length, long sequence) {
        return in.getInt(at) == checksum(in, at, at + HEADER_BYTES + length, sequence);
    }

    static int durable(ByteBuffer in, int at) {
        return in.getInt(at + 8);
    }

    static int kind(ByteBuffer in, int at) {
        return in.get(at + 12);
    }

    static int ring(ByteBuffer in, int at) {
        return Short.toUnsignedInt(in.getShort(at + 14));
    }

    static long ballot(ByteBuffer in, int at) {
        return in.getLong(at + 16);
    }

    static long instance(ByteBuffer in, int at) {
        return in.getLong(at + 24);
    }

    static StoredRecord decode(ByteBuffer in, int at, int length) {
        byte[] payload = new byte[length];
        in.get(at + HEADER_BYTES, payload);
        return new StoredRecord(
                ring(in, at), kind(in, at), ballot(in, at), instance(in, at), payload);
    }
}
