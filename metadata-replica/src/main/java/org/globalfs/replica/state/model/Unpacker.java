package org.globalfs.replica.state.model;

import java.util.Arrays;

/**
 * Reads what {@link Packer} wrote; a value that ends too early is a {@link CorruptRecordException}.
 */
public final class Unpacker {

    private final byte[] bytes;
    private int position;

    public Unpacker(byte[] bytes) {
        this(bytes, 0);
    }

    public Unpacker(byte[] bytes, int position) {
        this.bytes = bytes;
        this.position = position;
    }

    /**
     * Reads the version byte that every value begins with and refuses others than {@code known}.
     */
    public Unpacker version(int known, String what) {
        int version = u8();
        if (version != known) {
            throw new CorruptRecordException(
                    what + " has format version " + version + ", this program reads " + known);
        }
        return this;
    }

    /** Reads the version byte of a value that is written in one of two formats. */
    public int version(int oldest, int newest, String what, long number) {
        return version(oldest, newest, what + " " + number);
    }

    /** As {@link #version(int, int, String, long)}, of a value that has no number. */
    public int version(int oldest, int newest, String what) {
        int version = u8();
        if (version < oldest || version > newest) {
            throw new CorruptRecordException(
                    what
                            + " has format version "
                            + version
                            + ", this program reads "
                            + oldest
                            + " to "
                            + newest);
        }
        return version;
    }

    public int u8() {
        need(1);
        return bytes[position++] & 0xFF;
    }

    public long i64() {
        need(8);
        long value = Keys.getLong(bytes, position);
        position += 8;
        return value;
    }

    public long varint() {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            need(1);
            byte next = bytes[position++];
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new CorruptRecordException("varint longer than ten bytes");
    }

    public int varint32() {
        return (int) varint();
    }

    public byte[] blob() {
        int length = varint32();
        if (length < 0) {
            throw new CorruptRecordException("negative length");
        }
        need(length);
        position += length;
        return Arrays.copyOfRange(bytes, position - length, position);
    }

    public byte[] rest() {
        return Arrays.copyOfRange(bytes, position, bytes.length);
    }

    public int remaining() {
        return bytes.length - position;
    }

    private void need(int count) {
        if (bytes.length - position < count) {
            throw new CorruptRecordException("record of " + bytes.length + " bytes ends too early");
        }
    }
}
