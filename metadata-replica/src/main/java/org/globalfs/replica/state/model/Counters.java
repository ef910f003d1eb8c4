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

    /** As with that, and what moves of inodes need. */
    private static final int WITH_MOVES = 4;

    /** As with that, and {@link #sessionsNs}. */
    private static final int WITH_SESSIONS_TIME = 5;

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

    /** Time that sessions' silence is measured by, which no clock makes jump; 0: none was yet. */
    public long sessionsNs;

    /** Rows of {@link Table#FORWARD}. */
    public long forwards;

    /** Inodes here that were born elsewhere. */
    public long adopted;

    /** Files with content in other regions' blocks: rows of {@link Table#FOREIGN}. */
    public long foreign;

    /** Number of the last notice written, and of the last one that was delivered. */
    public long noticed;

    public long noticesDelivered;

    /** Partition 0: the last notice of each partition that was delivered. */
    public final Map<Integer, Long> noticesOf = new TreeMap<>();

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
        copy.sessionsNs = sessionsNs;
        copy.forwards = forwards;
        copy.adopted = adopted;
        copy.foreign = foreign;
        copy.noticed = noticed;
        copy.noticesDelivered = noticesDelivered;
        copy.noticesOf.putAll(noticesOf);
        copy.given.putAll(given);
        copy.trimmed.putAll(trimmed);
        return copy;
    }

    public byte[] encode() {
        int format = format();
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
        if (format >= WITH_MOVES) {
            out.varint(forwards).varint(adopted).varint(foreign);
            out.varint(noticed).varint(noticesDelivered);
            pack(out, noticesOf);
        }
        if (format >= WITH_SESSIONS_TIME) {
            out.i64(sessionsNs);
        }
        return out.done();
    }

    private int format() {
        if (sessionsNs != 0) {
            return WITH_SESSIONS_TIME;
        }
        if (forwards != 0 || adopted != 0 || foreign != 0 || noticed != 0 || !noticesOf.isEmpty()) {
            return WITH_MOVES;
        }
        return fenceMs != 0 ? WITH_FENCE : globalBelow == 0 ? PLAIN : WITH_GLOBAL_BELOW;
    }

    private static void pack(Packer out, Map<Integer, Long> map) {
        out.varint(map.size());
        map.forEach((key, value) -> out.varint(key).varint(value));
    }

    public static Counters decode(byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, WITH_SESSIONS_TIME, "partition state");
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
        if (format >= WITH_MOVES) {
            counters.forwards = in.varint();
            counters.adopted = in.varint();
            counters.foreign = in.varint();
            counters.noticed = in.varint();
            counters.noticesDelivered = in.varint();
            unpack(in, counters.noticesOf);
        }
        if (format >= WITH_SESSIONS_TIME) {
            counters.sessionsNs = in.i64();
        }
        return counters;
    }

    private static void unpack(Unpacker in, Map<Integer, Long> map) {
        for (long left = in.varint(); left > 0; left--) {
            map.put(in.varint32(), in.varint());
        }
    }
}
