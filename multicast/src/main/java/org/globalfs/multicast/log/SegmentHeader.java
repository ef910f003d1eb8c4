package org.globalfs.multicast.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.globalfs.multicast.log.LogException.Reason;

/** First block of a segment file; docs/formats/multicast-log.md has the byte table. */
record SegmentHeader(long sequence, int capacity, int node, String cluster) {
    static final int BYTES = 4096;
    static final long MAGIC = 0x474653_4D4C4F47L; // "GFSMLOG"
    static final int VERSION = 2;
    private static final int CRC_AT = BYTES - 4;
    private static final int NAME_AT = 36;

    ByteBuffer encode() {
        ByteBuffer block = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        byte[] name = cluster.getBytes(StandardCharsets.UTF_8);
        block.putLong(0, MAGIC);
        block.putInt(8, VERSION);
        block.putInt(12, capacity);
        block.putLong(16, sequence);
        block.putInt(24, node);
        block.putInt(32, name.length);
        block.put(NAME_AT, name);
        block.putInt(CRC_AT, crc(block));
        return block;
    }

    static SegmentHeader decode(ByteBuffer block, Path file) {
        block.order(ByteOrder.LITTLE_ENDIAN);
        if (block.getLong(0) != MAGIC) {
            throw new LogException(
                    Reason.CORRUPT,
                    file + " is no multicast log segment (its magic number is wrong)");
        }
        int version = block.getInt(8);
        if (version > VERSION) {
            throw new LogException(
                    Reason.REFUSED,
                    file
                            + " has log format "
                            + version
                            + ", this program knows up to "
                            + VERSION
                            + ": run the newer program that wrote it");
        }
        if (block.getInt(CRC_AT) != crc(block)) {
            throw new LogException(
                    Reason.CORRUPT, file + " has a damaged header (checksum mismatch)");
        }
        byte[] name = new byte[block.getInt(32)];
        block.get(NAME_AT, name);
        return new SegmentHeader(
                block.getLong(16),
                block.getInt(12),
                block.getInt(24),
                new String(name, StandardCharsets.UTF_8));
    }

    private static int crc(ByteBuffer block) {
        CRC32C crc = new CRC32C();
        crc.update(block.duplicate().position(0).limit(CRC_AT));
        return (int) crc.getValue();
    }
}
