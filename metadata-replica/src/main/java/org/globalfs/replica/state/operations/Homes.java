package org.globalfs.replica.state.operations;

import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;

/**
 * Which partition inodes live in, as one partition knows it. Partition 0 orders every move, so what
 * it says is true as of the instance that it stands at. Any other partition knows what lives in it,
 * and where those are that were born in it; of the rest it only knows the partition of their birth,
 * which knows more. So whoever follows these answers comes to the inode in two steps. An inode that
 * ends away from where it was born counts as there until all of them have heard of it.
 */
public final class Homes {

    private static final int FORMAT = 1;
    private static final int GLOBAL_DIRECTORY = 2;

    private final Records records;
    private final Counters counters;

    /**
     * @param counters what the records' system record says
     */
    public Homes(Records records, Counters counters) {
        this.records = records;
        this.counters = counters;
    }

    /** Where an inode lives, or who knows; of one that is not there, where it was born. */
    public int of(long ino) {
        byte[] row = counters.forwards == 0 ? null : records.get(Table.FORWARD, Keys.of(ino));
        return row == null ? Partitions.ofBirth(ino) : decode(row);
    }

    /** Whether {@link #of} says where an inode lives, and not only who knows. */
    boolean isKnown(long ino) {
        return counters.partition == 0
                || Partitions.ofBirth(ino) == counters.partition
                || of(ino) != Partitions.ofBirth(ino);
    }

    public boolean isHere(long ino) {
        return of(ino) == counters.partition;
    }

    /** A value of {@link Table#FORWARD}. */
    static byte[] encode(int partition) {
        return new Packer(4).u8(FORMAT).varint(partition).done();
    }

    /** The same of a directory that was born in partition 0, in partition 0. */
    static byte[] encodeDirectory(int partition) {
        return new Packer(4).u8(GLOBAL_DIRECTORY).varint(partition).done();
    }

    public static int decode(byte[] row) {
        Unpacker in = new Unpacker(row);
        int _ = in.version(FORMAT, GLOBAL_DIRECTORY, "forwarding entry");
        return in.varint32();
    }

    /** Whether a value of {@link Table#FORWARD} is of a directory that was born in partition 0. */
    public static boolean isDirectory(byte[] row) {
        return row[0] == GLOBAL_DIRECTORY;
    }
}
