package org.globalfs.replica.state.model;

/** How inode numbers are made: 16 bits of birth partition, 48 bits of counter. */
public final class Partitions {

    public static final long ROOT = 1;

    /** Set in inode numbers that partition 0 gave out in another partition's name. */
    public static final long GIVEN_BY_GLOBAL = 1L << 47;

    private static final int COUNTER_BITS = 48;

    private Partitions() {}

    /** The partition that an inode was born in; where it lives is known to {@code Homes}. */
    public static int ofBirth(long ino) {
        return (int) (ino >>> COUNTER_BITS);
    }

    public static long ino(int partition, long counter) {
        return (long) partition << COUNTER_BITS | counter;
    }
}
