package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.globalfs.datastore.wire.Frame;
import org.jspecify.annotations.Nullable;

/**
 * The header of a segment file: which segment of which node of which cluster.
 *
 * @param sealedTail where the records end, once nothing is appended any more; 0 before
 */
record SegmentHeader(int number, String cluster, String node, int sealedTail) {
    private static final long MAGIC = 0x4746534348554e4bL; // "GFSCHUNK"
    private static final int VERSION = 1;
    private static final int CRC_AT = 12;
    private static final int BYTES = 1024;

    static SegmentHeader open(int number, String cluster, String node) {
        return new SegmentHeader(number, cluster, node, 0);
    }

    void write(ByteBuffer to) {
        int start = to.position();
        to.putLong(MAGIC).putInt(VERSION).putInt(0).putInt(number).putInt(sealedTail);
        Frame.writeString(to, cluster);
        Frame.writeString(to, node);
        to.position(start + BYTES);
        to.putInt(start + CRC_AT, crc(to, start));
    }

    private static int crc(ByteBuffer buffer, int start) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(start, CRC_AT));
        crc.update(buffer.slice(start + CRC_AT + 4, BYTES - CRC_AT - 4));
        return (int) crc.getValue();
    }

    /** Null when the header is damaged. */
    static @Nullable SegmentHeader read(ByteBuffer from, Path path) throws IOException {
        int start = from.position();
        if (from.remaining() < BYTES || from.getLong() != MAGIC) {
            return null;
        }
        int version = from.getInt();
        if (from.getInt() != crc(from, start)) {
            return null;
        }
        if (version != VERSION) {
            throw new IOException(
                    path
                            + ": segment format "
                            + version
                            + ", this program reads "
                            + VERSION
                            + ": use the program version that wrote it");
        }
        int number = from.getInt();
        int sealedTail = from.getInt();
        return new SegmentHeader(
                number, Frame.readString(from), Frame.readString(from), sealedTail);
    }
}
