package org.globalfs.datastore.node;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.globalfs.datastore.wire.ChunkShape;
import org.jspecify.annotations.Nullable;

/**
 * Header of a record in a segment file. A live record's header is followed by the chunk's bytes; a
 * dead one says how many bytes to skip.
 *
 * <p>The checksum also covers the segment and the offset, so that chunk bytes that happen to hold a
 * segment's image are never taken for records.
 *
 * @param home the node that the chunk belongs to; null: this one
 * @param recordBytes distance to the next record
 * @param pageCrcs CRC32C of each 64-KiB page of the chunk's bytes
 */
record ChunkRecord(
        boolean live,
        ChunkKey key,
        ChunkShape shape,
        @Nullable String home,
        long writtenMs,
        int dataBytes,
        int recordBytes,
        int segment,
        int offset,
        int[] pageCrcs) {
    static final int FIXED_BYTES = 64;

    /** Records begin on multiples of this, so that a fixed header never crosses a disk sector. */
    static final int ALIGNMENT = 64;

    private static final int SECTOR_BYTES = 512;

    static final int PAGE_BYTES = ChunkPages.PAGE_BYTES;
    static final int VERSION = 1;
    static final int MAGIC = 0x47465343; // "GFSC"
    static final int MAX_HOME_BYTES = 255;
    static final int MAX_DATA_BYTES = 8 << 20;
    static final int MAX_HEADER_BYTES =
            FIXED_BYTES + MAX_HOME_BYTES + 1 + 4 * (MAX_DATA_BYTES / PAGE_BYTES);

    private static final int TYPE_CHUNK = 1;
    private static final int TYPE_DEAD = 2;
    private static final int CRC_AT = 60;

    static ChunkRecord dead(int recordBytes, int segment, int offset) {
        return new ChunkRecord(
                false,
                new ChunkKey(0, 0, 0),
                new ChunkShape(0, 0, 0, 0, 0),
                null,
                0,
                0,
                recordBytes,
                segment,
                offset,
                new int[0]);
    }

    /** The same, written somewhere else. */
    ChunkRecord at(int otherSegment, int otherOffset, int distance) {
        return new ChunkRecord(
                live,
                key,
                shape,
                home,
                writtenMs,
                dataBytes,
                distance,
                otherSegment,
                otherOffset,
                pageCrcs);
    }

    static int headerBytes(int homeBytes, int dataBytes) {
        return FIXED_BYTES + homeBytes + 4 * ChunkPages.count(dataBytes);
    }

    static int homeBytes(@Nullable String home) {
        return home == null ? 0 : home.getBytes(StandardCharsets.UTF_8).length;
    }

    static int align(int bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** The least distance to the next record. */
    static int recordBytes(int homeBytes, int dataBytes) {
        return align(headerBytes(homeBytes, dataBytes) + dataBytes);
    }

    int headerBytes() {
        return headerBytes(homeBytes(home), dataBytes);
    }

    /** Appends the header to `to`. */
    void write(ByteBuffer to) {
        int start = to.position();
        byte[] homeName = home == null ? new byte[0] : home.getBytes(StandardCharsets.UTF_8);
        to.putInt(MAGIC);
        to.put((byte) VERSION);
        to.put((byte) (live ? TYPE_CHUNK : TYPE_DEAD));
        to.put((byte) key.index());
        to.put((byte) homeName.length);
        to.putLong(key.idHigh());
        to.putLong(key.idLow());
        to.putInt(dataBytes);
        to.putInt(recordBytes);
        to.putInt(segment);
        to.putInt(offset);
        shape.write(to);
        to.putLong(writtenMs);
        to.putInt(0);
        to.put(homeName);
        for (int crc : pageCrcs) {
            to.putInt(crc);
        }
        to.putInt(start + CRC_AT, crc(to, start, to.position() - start));
    }

    private static int crc(ByteBuffer buffer, int start, int headerBytes) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(start, CRC_AT));
        crc.update(buffer.slice(start + FIXED_BYTES, headerBytes - FIXED_BYTES));
        return (int) crc.getValue();
    }

    /** What stands where a record should begin. */
    sealed interface Parsed {
        record Valid(ChunkRecord header) implements Parsed {}

        /** All zeros: nothing was written here. */
        record Blank() implements Parsed {}

        /**
         * A header of which a whole disk sector is blank: what a crash leaves of one that goes on
         * in the next sector.
         */
        record Torn() implements Parsed {}

        /** Neither of these. */
        record Damaged() implements Parsed {}

        /** Written by a newer version of the program. */
        record TooNew(int version) implements Parsed {}

        /** The header goes on beyond the bytes given. */
        record Incomplete(int needed) implements Parsed {}
    }

    private static final Parsed BLANK = new Parsed.Blank();
    private static final Parsed TORN = new Parsed.Torn();
    private static final Parsed DAMAGED = new Parsed.Damaged();

    /** Parses the header at absolute position `at` of `from`; the limit bounds what is there. */
    static Parsed parse(ByteBuffer from, int at, int segment, int offset) {
        int there = from.limit() - at;
        if (there < FIXED_BYTES) {
            return new Parsed.Incomplete(FIXED_BYTES);
        }
        if (from.getInt(at) != MAGIC) {
            return isBlank(from, at, FIXED_BYTES) ? BLANK : DAMAGED;
        }
        int homeBytes = from.get(at + 7) & 0xff;
        int dataBytes = from.getInt(at + 24);
        if (dataBytes < 0 || dataBytes > MAX_DATA_BYTES) {
            return DAMAGED;
        }
        int headerBytes = headerBytes(homeBytes, dataBytes);
        if (there < headerBytes) {
            return new Parsed.Incomplete(headerBytes);
        }
        if (crc(from, at, headerBytes) != from.getInt(at + CRC_AT)) {
            return isTorn(from, at, offset, headerBytes) ? TORN : DAMAGED;
        }
        int version = from.get(at + 4) & 0xff;
        if (version != VERSION) {
            return new Parsed.TooNew(version);
        }
        ByteBuffer fields = from.duplicate().position(at + 5);
        int type = fields.get();
        int index = fields.get() & 0xff;
        fields.get();
        ChunkKey key = new ChunkKey(fields.getLong(), fields.getLong(), index);
        fields.getInt();
        int recordBytes = fields.getInt();
        if (fields.getInt() != segment
                || fields.getInt() != offset
                || recordBytes < headerBytes + dataBytes
                || recordBytes % ALIGNMENT != 0) {
            return DAMAGED;
        }
        ChunkShape shape = ChunkShape.read(fields);
        long writtenMs = fields.getLong();
        fields.getInt();
        String home = null;
        if (homeBytes > 0) {
            byte[] name = new byte[homeBytes];
            fields.get(name);
            home = new String(name, StandardCharsets.UTF_8);
        }
        int[] crcs = new int[ChunkPages.count(dataBytes)];
        for (int i = 0; i < crcs.length; i++) {
            crcs[i] = fields.getInt();
        }
        return new Parsed.Valid(
                new ChunkRecord(
                        type == TYPE_CHUNK,
                        key,
                        shape,
                        home,
                        writtenMs,
                        dataBytes,
                        recordBytes,
                        segment,
                        offset,
                        crcs));
    }

    private static boolean isTorn(ByteBuffer from, int at, int offset, int headerBytes) {
        int next = SECTOR_BYTES - offset % SECTOR_BYTES;
        for (int i = next; i < headerBytes; i += SECTOR_BYTES) {
            if (isBlank(from, at + i, Math.min(SECTOR_BYTES, headerBytes - i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isBlank(ByteBuffer from, int at, int bytes) {
        for (int i = 0; i < bytes; i++) {
            if (from.get(at + i) != 0) {
                return false;
            }
        }
        return true;
    }
}
