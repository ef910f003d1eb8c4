package org.globalfs.bench.multicast.member;

import java.nio.ByteBuffer;

/** Proposed values: an id that is unique among all attempts of all members, then filling. */
final class Values {
    static final int LEAST_BYTES = Long.BYTES;
    private static final int SEQUENCE_BITS = 40;
    private static final int ATTEMPT_BITS = 16;

    private Values() {}

    static long id(int origin, int attempt, long sequence) {
        return (long) origin << (SEQUENCE_BITS + ATTEMPT_BITS)
                | (attempt & 0xffffL) << SEQUENCE_BITS
                | sequence;
    }

    static long id(byte[] value) {
        return ByteBuffer.wrap(value).getLong();
    }

    static int origin(long id) {
        return (int) (id >>> (SEQUENCE_BITS + ATTEMPT_BITS));
    }

    static long sequence(long id) {
        return id & ((1L << SEQUENCE_BITS) - 1);
    }

    static byte[] value(long id, int sizeBytes) {
        byte[] value = new byte[sizeBytes];
        ByteBuffer.wrap(value).putLong(id);
        return value;
    }
}
