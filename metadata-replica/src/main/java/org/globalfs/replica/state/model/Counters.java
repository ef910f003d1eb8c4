package org.globalfs.replica.state.model;

import java.util.Map;
import java.util.TreeMap;

/**
 * The record {@link Keys#system} of {@link Table#SYSTEM}: how far the partition is, and what it
 * counts. Kept in memory, stored per instance.
 */
public final class Counters {

    private static final int PLAIN = 1;

    /** As plain, and {@link #globalBelow}. */
    private static final int WITH_GLOBAL_BELOW = 2;

    /** As with that, and {@link #fenceMs}. */
    private static final int WITH_FENCE = 3;

    public final int partition;
    public long applied;
    public long importedThrough;
    public long globalSeen;

    /** Highest timestamp executed: a command's time is never below it. */
    public long timestamp;

    /** Counter of the next inode number. */
    public long nextInode;

    public long inodes;
    public long bytes;
    public long orphans;
    public long doomed;

    /**
     * Directories of partition 0 that lie in a regional one. Partition 0 counts them; the others
     * are told by every command that changes the count.
     */
    public long globalBelow;

    /** No block with an older id (ms) is referred to, unless it was when the fence came. */
    public long fenceMs;

    /** Partition 0: counters of the inode numbers given out in other partitions' names. */
    public final Map<Integer, Long> given = new TreeMap<>();

    /** Partition 0: through which instance each partition's verdicts are forgotten. */
    public final Map<Integer, Long> trimmed = new TreeMap<>();

    public Counters(int partition) {
        this.partition = partition;
        nextInode = 2;
    }

    /** A copy that later changes do not reach. */
    public Counters copy() {
        Counters copy = new Counters(partition);
        copy.applied = applied;
        copy.importedThrough = importedThrough;
        copy.globalSeen = globalSeen;
        copy.timestamp = timestamp;
        copy.nextInode = nextInode;
        copy.inodes = inodes;
        copy.bytes = bytes;
        copy.orphans = orphans;
        copy.doomed = doomed;
        copy.globalBelow = globalBelow;
        copy.fenceMs = fenceMs;
        copy.given.putAll(given);
        copy.trimmed.putAll(trimmed);
        return copy;
    }

    public byte[] encode() {
        int format = fenceMs != 0 ? WITH_FENCE : globalBelow == 0 ? PLAIN : WITH_GLOBAL_BELOW;
        Packer out = new Packer(96).u8(format).varint(partition);
        out.varint(applied).varint(importedThrough);
        out.varint(globalSeen).i64(timestamp).varint(nextInode).varint(inodes).varint(bytes);
        out.varint(orphans).varint(doomed);
        pack(out, given);
        pack(out, trimmed);
        if (format >= WITH_GLOBAL_BELOW) {
            out.varint(globalBelow);
        }
        if (format >= WITH_FENCE) {
            out.varint(fenceMs);
        }
        return out.done();
    }

    private static void pack(Packer out, Map<Integer, Long> map) {
        out.varint(map.size());
        map.forEach((key, value) -> out.varint(key).varint(value));
    }

    public static Counters decode(byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, WITH_FENCE, "partition state");
        Counters counters = new Counters(in.varint32());
        counters.applied = in.varint();
        counters.importedThrough = in.varint();
        counters.globalSeen = in.varint();
        counters.timestamp = in.i64();
        counters.nextInode = in.varint();
        counters.inodes = in.varint();
        counters.bytes = in.varint();
        counters.orphans = in.varint();
        counters.doomed = in.varint();
        unpack(in, counters.given);
        unpack(in, counters.trimmed);
        if (format >= WITH_GLOBAL_BELOW) {
            counters.globalBelow = in.varint();
        }
        if (format >= WITH_FENCE) {
            counters.fenceMs = in.varint();
        }
        return counters;
    }

    private static void unpack(Unpacker in, Map<Integer, Long> map) {
        for (long left = in.varint(); left > 0; left--) {
            map.put(in.varint32(), in.varint());
        }
    }
}
