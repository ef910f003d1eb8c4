package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * What one partition contributes to the decision of a coordinated operation: its vote, and what the
 * rules need to know of records that only it has.
 *
 * @param refusal 0: yes; a positive errno; {@link #LOCKED} or {@link #MISDIRECTED}
 * @param source what the old name points to, when that directory is here
 * @param target what the new name points to, when that directory is here and the name exists
 * @param inodes of the inodes concerned, those that are here
 * @param segments of the chains of parents above a moved directory's new place, what is here
 * @param cargo what moves to another partition, as its {@link Cargo} is encoded
 */
record Facts(
        int refusal,
        @Nullable Named source,
        @Nullable Named target,
        List<OfInode> inodes,
        List<Segment> segments,
        byte @Nullable [] cargo) {

    /** Another undecided operation holds a record. */
    static final int LOCKED = -1;

    /** A name points to an inode of a partition that was not asked. */
    static final int MISDIRECTED = -2;

    private static final int PLAIN = 1;

    /** As plain, and segments. */
    private static final int WITH_SEGMENTS = 2;

    /** As that, and a cargo. */
    private static final int WITH_CARGO = 3;

    /**
     * @param mustOwn the caller may take the name away only when the inode is his (sticky
     *     directory)
     */
    record Named(long ino, int type, boolean mustOwn) {}

    /** What the caller may do with an inode; {@code empty} of a directory. */
    record OfInode(long ino, int type, boolean owned, boolean writable, boolean empty) {}

    /**
     * A chain of parents from {@code start} upwards, as far as it stays in one partition.
     *
     * @param exit the first directory in another partition; 0: nothing is above
     * @param meetsSource what the old name points to is among them
     * @param meetsTarget what the new name points to is among them
     */
    record Segment(long start, long exit, boolean meetsSource, boolean meetsTarget) {}

    Facts(
            int refusal,
            @Nullable Named source,
            @Nullable Named target,
            List<OfInode> inodes,
            List<Segment> segments) {
        this(refusal, source, target, inodes, segments, null);
    }

    /** A yes that knows nothing. */
    static final Facts NONE = new Facts(0, null, null, List.of(), List.of());

    Facts refusing(int why) {
        return new Facts(why, source, target, inodes, segments, cargo);
    }

    Facts carrying(byte[] load) {
        return new Facts(refusal, source, target, inodes, segments, load);
    }

    @Nullable OfInode of(long ino) {
        for (OfInode inode : inodes) {
            if (inode.ino() == ino) {
                return inode;
            }
        }
        return null;
    }

    @Nullable Segment segment(long start) {
        for (Segment segment : segments) {
            if (segment.start() == start) {
                return segment;
            }
        }
        return null;
    }

    /**
     * These facts and another partition's; the first refusal in the order misdirected, locked,
     * errno.
     */
    Facts with(Facts other) {
        List<OfInode> all = new ArrayList<>(inodes);
        all.addAll(other.inodes);
        List<Segment> chain = new ArrayList<>(segments);
        chain.addAll(other.segments);
        int both =
                refusal == 0
                        ? other.refusal
                        : other.refusal == 0 || other.refusal > 0
                                ? refusal
                                : Math.min(refusal, other.refusal);
        return new Facts(
                both,
                source != null ? source : other.source,
                target != null ? target : other.target,
                all,
                chain,
                cargo != null ? cargo : other.cargo);
    }

    byte[] encode() {
        int format = cargo != null ? WITH_CARGO : segments.isEmpty() ? PLAIN : WITH_SEGMENTS;
        Packer out = new Packer(64 + (cargo == null ? 0 : cargo.length)).u8(format).i64(refusal);
        pack(out, source);
        pack(out, target);
        out.varint(inodes.size());
        for (OfInode inode : inodes) {
            out.i64(inode.ino).varint(inode.type);
            out.u8((inode.owned ? 1 : 0) | (inode.writable ? 2 : 0) | (inode.empty ? 4 : 0));
        }
        if (format >= WITH_SEGMENTS) {
            out.varint(segments.size());
            for (Segment segment : segments) {
                out.i64(segment.start).i64(segment.exit);
                out.u8((segment.meetsSource ? 1 : 0) | (segment.meetsTarget ? 2 : 0));
            }
        }
        if (cargo != null) {
            out.raw(cargo, 0, cargo.length);
        }
        return out.done();
    }

    private static void pack(Packer out, @Nullable Named named) {
        out.u8(named == null ? 0 : named.mustOwn ? 2 : 1);
        if (named != null) {
            out.i64(named.ino).varint(named.type);
        }
    }

    static Facts decode(byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, WITH_CARGO, "vote");
        int refusal = (int) in.i64();
        Named source = named(in);
        Named target = named(in);
        List<OfInode> inodes = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            long ino = in.i64();
            int type = in.varint32();
            int bits = in.u8();
            inodes.add(new OfInode(ino, type, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0));
        }
        List<Segment> segments = new ArrayList<>();
        for (long left = format >= WITH_SEGMENTS ? in.varint() : 0; left > 0; left--) {
            long start = in.i64();
            long exit = in.i64();
            int bits = in.u8();
            segments.add(new Segment(start, exit, (bits & 1) != 0, (bits & 2) != 0));
        }
        byte[] cargo = format == WITH_CARGO ? in.rest() : null;
        return new Facts(refusal, source, target, inodes, segments, cargo);
    }

    private static @Nullable Named named(Unpacker in) {
        int kind = in.u8();
        return kind == 0 ? null : new Named(in.i64(), in.varint32(), kind == 2);
    }
}
