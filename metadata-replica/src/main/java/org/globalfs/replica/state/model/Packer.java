package org.globalfs.replica.state.model;

import java.util.Arrays;

/**
 * Growing byte buffer with the encodings of stored values: big-endian fixed integers, unsigned
 * LEB128 varints.
 */
public final class Packer {

    private byte[] bytes;
    private int length;

    public Packer(int expected) {
        bytes = new byte[Math.max(16, expected)];
    }

    private void room(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }

    public Packer u8(int value) {
        room(1);
        bytes[length++] = (byte) value;
        return this;
    }

    public Packer i64(long value) {
        room(8);
        Keys.putLong(bytes, length, value);
        length += 8;
        return this;
    }

    /** Any long; small non-negative ones are short, negative ones take ten bytes. */
    public Packer varint(long value) {
        room(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[length++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
        return this;
    }

    /** A 32-bit number without sign, such as a uid, as a varint. */
    public Packer unsigned(int value) {
        return varint(Integer.toUnsignedLong(value));
    }

    /** Length, then the bytes. */
    public Packer blob(byte[] value) {
        varint(value.length);
        return raw(value, 0, value.length);
    }

    public Packer raw(byte[] value, int from, int count) {
        room(count);
        System.arraycopy(value, from, bytes, length, count);
        length += count;
        return this;
    }

    public byte[] done() {
        return bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
    }
}
