package org.globalfs.datastore.s3;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What an object in a bucket looks like: a header that says what it is, then the payload in pages,
 * each behind a checksum of its own, so that a range is read and verified with a single request.
 * Byte table: docs/formats/s3-object.md.
 */
final class ObjectFormat {
    static final int VERSION = 1;
    static final int HEADER_BYTES = 64;
    static final int PAGE_BYTES = 64 << 10;
    private static final long MAGIC = 0x474653424c4f434bL; // GFSBLOCK
    private static final int CRC_BYTES = 4;
    private static final int FRAME_BYTES = CRC_BYTES + PAGE_BYTES;

    private ObjectFormat() {}

    /** Bytes [from, to) of an object. */
    record Span(int from, int to) {
        int bytes() {
            return to - from;
        }
    }

    static int objectBytes(int payloadBytes) {
        return HEADER_BYTES + payloadBytes + CRC_BYTES * pages(payloadBytes);
    }

    private static int pages(int payloadBytes) {
        return (payloadBytes + PAGE_BYTES - 1) / PAGE_BYTES;
    }

    static byte[] encode(Piece piece, byte[] payload, int at) {
        ByteBuffer object = ByteBuffer.allocate(objectBytes(piece.payloadBytes()));
        object.put(header(piece));
        for (int page = 0; page < pages(piece.payloadBytes()); page++) {
            int from = page * PAGE_BYTES;
            int bytes = Math.min(PAGE_BYTES, piece.payloadBytes() - from);
            object.putInt(pageCrc(piece, page, payload, at + from, bytes))
                    .put(payload, at + from, bytes);
        }
        return object.array();
    }

    /** Whether an object, or its beginning, has the header that belongs to the piece. */
    static boolean hasHeader(Piece piece, byte[] object) {
        return object.length >= HEADER_BYTES
                && Arrays.equals(header(piece), 0, HEADER_BYTES, object, 0, HEADER_BYTES);
    }

    private static byte[] header(Piece piece) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        header.putLong(MAGIC)
                .putShort((short) VERSION)
                .put((byte) piece.chunk())
                .put((byte) piece.dataChunks())
                .put((byte) piece.parityChunks())
                .position(16);
        header.putLong(piece.idHigh())
                .putLong(piece.idLow())
                .putInt(piece.blockBytes())
                .putInt(piece.region())
                .putInt(piece.payloadBytes())
                .putInt(PAGE_BYTES);
        header.putInt(HEADER_BYTES - CRC_BYTES, headerCrc(header.array()));
        return header.array();
    }

    /** What to fetch for a range of the payload that is not empty. */
    static Span span(int payloadBytes, int offset, int length) {
        int first = offset / PAGE_BYTES;
        int last = (offset + length - 1) / PAGE_BYTES;
        return new Span(
                HEADER_BYTES + first * FRAME_BYTES,
                Math.min(HEADER_BYTES + (last + 1) * FRAME_BYTES, objectBytes(payloadBytes)));
    }

    /**
     * Copies a range of the payload out of the bytes that its {@link #span} names.
     *
     * @return false: they are damaged; nothing may be made of what was copied
     */
    static boolean decode(
            Piece piece, byte[] fetched, int offset, int length, byte[] into, int at) {
        if (fetched.length != span(piece.payloadBytes(), offset, length).bytes()) {
            return false;
        }
        ByteBuffer pages = ByteBuffer.wrap(fetched);
        for (int page = offset / PAGE_BYTES; pages.hasRemaining(); page++) {
            int crc = pages.getInt();
            int bytes = Math.min(PAGE_BYTES, pages.remaining());
            if (pageCrc(piece, page, fetched, pages.position(), bytes) != crc) {
                return false;
            }
            int from = Math.max(offset, page * PAGE_BYTES);
            int to = Math.min(offset + length, page * PAGE_BYTES + bytes);
            int skipped = from - page * PAGE_BYTES;
            System.arraycopy(
                    fetched, pages.position() + skipped, into, at + from - offset, to - from);
            pages.position(pages.position() + bytes);
        }
        return true;
    }

    /**
     * The version that a header says; 0 when it is damaged, or none.
     *
     * @param header the first bytes of an object, if it has as many
     */
    static int version(byte @Nullable [] header) {
        if (header == null || header.length != HEADER_BYTES) {
            return 0;
        }
        ByteBuffer buffer = ByteBuffer.wrap(header);
        boolean whole =
                buffer.getLong(0) == MAGIC
                        && buffer.getInt(HEADER_BYTES - CRC_BYTES) == headerCrc(header);
        return whole ? Short.toUnsignedInt(buffer.getShort(8)) : 0;
    }

    private static int headerCrc(byte[] header) {
        CRC32C crc = new CRC32C();
        crc.update(header, 0, HEADER_BYTES - CRC_BYTES);
        return (int) crc.getValue();
    }

    /** Also of where the page belongs: one of another object, or place, is never taken for it. */
    private static int pageCrc(Piece piece, int page, byte[] bytes, int at, int length) {
        ByteBuffer place = ByteBuffer.allocate(24);
        place.putLong(piece.idHigh()).putLong(piece.idLow()).putInt(piece.chunk()).putInt(page);
        CRC32C crc = new CRC32C();
        crc.update(place.flip());
        crc.update(bytes, at, length);
        return (int) crc.getValue();
    }
}
