package org.globalfs.datastore.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Layout of a frame: a fixed header, then `meta` (fields of the request or reply), then `payload`
 * (chunk bytes or a list). Big-endian. The header's checksum covers header and meta.
 */
public final class Frame {
    public static final int HEADER_BYTES = 32;
    public static final int MAX_META_BYTES = 1024;
    public static final int MAX_PAYLOAD_BYTES = 8 << 20;
    public static final int PROTOCOL_VERSION = 2;

    private static final int MAGIC = 0x47465331; // "GFS1"
    private static final int OPCODE_AT = 4;
    private static final int STATUS_AT = 5;
    private static final int META_BYTES_AT = 6;
    private static final int PAYLOAD_BYTES_AT = 8;
    private static final int PAYLOAD_CRC_AT = 12;
    private static final int REQUEST_AT = 16;
    private static final int HEADER_CRC_AT = 28;

    private Frame() {}

    /** The decoded fixed header. */
    public record Header(
            int opcode, int status, int metaBytes, int payloadBytes, int payloadCrc, long request) {
        public int totalBytes() {
            return HEADER_BYTES + metaBytes + payloadBytes;
        }

        public ChunkStatus chunkStatus() {
            return ChunkStatus.of(status);
        }
    }

    /**
     * Leaves room for the header; meta is written next, then {@link #end}. Returns the frame's
     * start.
     */
    public static int begin(ByteBuffer to) {
        int start = to.position();
        to.position(start + HEADER_BYTES);
        return start;
    }

    /** Fills the header of the frame begun at `start`, whose meta ends at the buffer's position. */
    public static void end(
            ByteBuffer to,
            int start,
            Opcode opcode,
            ChunkStatus status,
            long request,
            int payloadBytes,
            int payloadCrc) {
        int end = to.position();
        int metaBytes = end - start - HEADER_BYTES;
        to.putInt(start, MAGIC);
        to.put(start + OPCODE_AT, (byte) opcode.code());
        to.put(start + STATUS_AT, (byte) status.code());
        to.putShort(start + META_BYTES_AT, (short) metaBytes);
        to.putInt(start + PAYLOAD_BYTES_AT, payloadBytes);
        to.putInt(start + PAYLOAD_CRC_AT, payloadCrc);
        to.putLong(start + REQUEST_AT, request);
        to.putInt(start + 24, 0);
        to.putInt(start + HEADER_CRC_AT, headerCrc(to, start, metaBytes));
    }

    /** The fixed header at `start`; its meta need not have arrived yet. */
    public static Header header(ByteBuffer from, int start) throws IOException {
        if (from.getInt(start) != MAGIC) {
            throw new IOException(
                    String.format(
                            "not a storage protocol frame: begins with %08x", from.getInt(start)));
        }
        Header header =
                new Header(
                        from.get(start + OPCODE_AT) & 0xff,
                        from.get(start + STATUS_AT) & 0xff,
                        from.getShort(start + META_BYTES_AT) & 0xffff,
                        from.getInt(start + PAYLOAD_BYTES_AT),
                        from.getInt(start + PAYLOAD_CRC_AT),
                        from.getLong(start + REQUEST_AT));
        if (header.metaBytes > MAX_META_BYTES
                || header.payloadBytes < 0
                || header.payloadBytes > MAX_PAYLOAD_BYTES) {
            throw new IOException("storage protocol frame too large: " + header);
        }
        return header;
    }

    /** Checks the checksum of header and meta, which must be complete in the buffer. */
    public static void check(ByteBuffer from, int start, Header header) throws IOException {
        if (headerCrc(from, start, header.metaBytes) != from.getInt(start + HEADER_CRC_AT)) {
            throw new IOException("storage protocol frame with a wrong checksum: " + header);
        }
    }

    private static int headerCrc(ByteBuffer buffer, int start, int metaBytes) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(start, HEADER_CRC_AT));
        crc.update(buffer.slice(start + HEADER_BYTES, metaBytes));
        return (int) crc.getValue();
    }

    public static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }

    public static int crc(byte[] bytes, int at, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, at, length);
        return (int) crc.getValue();
    }

    /** A string of at most 255 bytes of UTF-8, behind its length. */
    public static void writeString(ByteBuffer to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 255) {
            throw new IllegalArgumentException("longer than 255 bytes: " + text);
        }
        to.put((byte) bytes.length);
        to.put(bytes);
    }

    public static String readString(ByteBuffer from) {
        byte[] bytes = new byte[from.get() & 0xff];
        from.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
