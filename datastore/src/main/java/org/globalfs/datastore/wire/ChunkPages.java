package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.zip.CRC32C;

/**
 * The pages of a chunk, which have a checksum each: 64 KiB from one to the next, the last one as
 * long as what is left.
 */
public final class ChunkPages {
    public static final int PAGE_BYTES = 64 << 10;

    private ChunkPages() {}

    /** How many pages so many bytes are. */
    public static int count(int bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    }

    /** Whether the range is one of whole pages of a chunk of so many bytes. */
    public static boolean areWhole(int offset, int length, int chunkBytes) {
        return offset >= 0
                && length > 0
                && offset <= chunkBytes - length
                && offset % PAGE_BYTES == 0
                && (length % PAGE_BYTES == 0 || offset + length == chunkBytes);
    }

    /** CRC32C of each page of the bytes between position and limit, which stay where they are. */
    public static int[] checksums(ByteBuffer bytes) {
        int[] checksums = new int[count(bytes.remaining())];
        ByteBuffer page = bytes.duplicate();
        CRC32C crc = new CRC32C();
        for (int i = 0; i < checksums.length; i++) {
            int from = bytes.position() + i * PAGE_BYTES;
            page.limit(Math.min(from + PAGE_BYTES, bytes.limit()));
            page.position(from);
            crc.reset();
            crc.update(page);
            checksums[i] = (int) crc.getValue();
        }
        return checksums;
    }

    /**
     * Whether pages have these checksums.
     *
     * @param checksums 4 bytes each, in order; as many as there are pages, else they do not
     */
    public static boolean match(byte[] bytes, int at, int length, ByteBuffer checksums) {
        return checksums.remaining() == Integer.BYTES * count(length)
                && checksums
                        .slice()
                        .asIntBuffer()
                        .equals(IntBuffer.wrap(checksums(ByteBuffer.wrap(bytes, at, length))));
    }
}
