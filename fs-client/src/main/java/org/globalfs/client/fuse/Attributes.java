package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import org.globalfs.client.vfs.AttributesReply;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.Stat;

/** Writes attributes and entries the way the kernel lays them out. */
final class Attributes {
    private static final long NS = 1_000_000_000L;

    private Attributes() {}

    /** struct fuse_entry_out; the area must be zeroed. */
    static void putEntry(ByteBuffer out, int at, Entry entry, int ioSizeBytes) {
        Stat stat = entry.stat();
        long entryNs = Math.max(0, entry.entryTimeoutNs());
        out.putLong(at + FuseLayout.EntryOut.ENTRY_VALID, entryNs / NS);
        out.putInt(at + FuseLayout.EntryOut.ENTRY_VALID_NSEC, (int) (entryNs % NS));
        if (stat == null) {
            return;
        }
        long attributesNs = Math.max(0, entry.attributesTimeoutNs());
        out.putLong(at + FuseLayout.EntryOut.NODEID, stat.ino());
        out.putLong(at + FuseLayout.EntryOut.ATTR_VALID, attributesNs / NS);
        out.putInt(at + FuseLayout.EntryOut.ATTR_VALID_NSEC, (int) (attributesNs % NS));
        putStat(out, at + FuseLayout.EntryOut.ATTR, stat, ioSizeBytes);
    }

    /** struct fuse_attr_out; the area must be zeroed. */
    static void putAttributes(ByteBuffer out, int at, AttributesReply reply, int ioSizeBytes) {
        long timeoutNs = Math.max(0, reply.timeoutNs());
        out.putLong(at + FuseLayout.AttrOut.ATTR_VALID, timeoutNs / NS);
        out.putInt(at + FuseLayout.AttrOut.ATTR_VALID_NSEC, (int) (timeoutNs % NS));
        putStat(out, at + FuseLayout.AttrOut.ATTR, reply.stat(), ioSizeBytes);
    }

    private static void putStat(ByteBuffer out, int at, Stat stat, int ioSizeBytes) {
        out.putLong(at + FuseLayout.Attr.INO, stat.ino());
        out.putLong(at + FuseLayout.Attr.SIZE, stat.size());
        out.putLong(at + FuseLayout.Attr.BLOCKS, stat.blocks());
        out.putLong(at + FuseLayout.Attr.ATIME, seconds(stat.atimeNs()));
        out.putLong(at + FuseLayout.Attr.MTIME, seconds(stat.mtimeNs()));
        out.putLong(at + FuseLayout.Attr.CTIME, seconds(stat.ctimeNs()));
        out.putInt(at + FuseLayout.Attr.ATIMENSEC, nanoseconds(stat.atimeNs()));
        out.putInt(at + FuseLayout.Attr.MTIMENSEC, nanoseconds(stat.mtimeNs()));
        out.putInt(at + FuseLayout.Attr.CTIMENSEC, nanoseconds(stat.ctimeNs()));
        out.putInt(at + FuseLayout.Attr.MODE, stat.mode());
        out.putInt(at + FuseLayout.Attr.NLINK, stat.nlink());
        out.putInt(at + FuseLayout.Attr.UID, stat.uid());
        out.putInt(at + FuseLayout.Attr.GID, stat.gid());
        out.putInt(at + FuseLayout.Attr.RDEV, stat.rdev());
        out.putInt(at + FuseLayout.Attr.BLKSIZE, ioSizeBytes);
    }

    /**
     * struct fuse_statx_out with all basic fields and the time of birth; the area must be zeroed.
     */
    static void putStatx(ByteBuffer out, int start, AttributesReply reply, int ioSizeBytes) {
        Stat stat = reply.stat();
        long timeoutNs = Math.max(0, reply.timeoutNs());
        out.putLong(start + FuseLayout.StatxOut.ATTR_VALID, timeoutNs / NS);
        out.putInt(start + FuseLayout.StatxOut.ATTR_VALID_NSEC, (int) (timeoutNs % NS));
        int at = start + FuseLayout.StatxOut.STAT;
        out.putInt(at + FuseLayout.Statx.MASK, FuseFlags.STATX_BASIC_STATS | FuseFlags.STATX_BTIME);
        out.putInt(at + FuseLayout.Statx.BLKSIZE, ioSizeBytes);
        out.putInt(at + FuseLayout.Statx.NLINK, stat.nlink());
        out.putInt(at + FuseLayout.Statx.UID, stat.uid());
        out.putInt(at + FuseLayout.Statx.GID, stat.gid());
        out.putShort(at + FuseLayout.Statx.MODE, (short) stat.mode());
        out.putLong(at + FuseLayout.Statx.INO, stat.ino());
        out.putLong(at + FuseLayout.Statx.SIZE, stat.size());
        out.putLong(at + FuseLayout.Statx.BLOCKS, stat.blocks());
        putTime(out, at + FuseLayout.Statx.ATIME, stat.atimeNs());
        putTime(out, at + FuseLayout.Statx.BTIME, stat.btimeNs());
        putTime(out, at + FuseLayout.Statx.CTIME, stat.ctimeNs());
        putTime(out, at + FuseLayout.Statx.MTIME, stat.mtimeNs());
        // the kernel's own encoding: 12 bits of major in the middle, 20 bits of minor around them
        out.putInt(at + FuseLayout.Statx.RDEV_MAJOR, (stat.rdev() & 0xfff00) >>> 8);
        out.putInt(
                at + FuseLayout.Statx.RDEV_MINOR,
                (stat.rdev() & 0xff) | ((stat.rdev() >>> 12) & 0xfff00));
    }

    static void forgetEntryTimeouts(ByteBuffer out, int at) {
        out.putLong(at + FuseLayout.EntryOut.ENTRY_VALID, 0);
        out.putInt(at + FuseLayout.EntryOut.ENTRY_VALID_NSEC, 0);
        out.putLong(at + FuseLayout.EntryOut.ATTR_VALID, 0);
        out.putInt(at + FuseLayout.EntryOut.ATTR_VALID_NSEC, 0);
    }

    static void forgetAttributesTimeout(ByteBuffer out, int at) {
        out.putLong(at + FuseLayout.AttrOut.ATTR_VALID, 0);
        out.putInt(at + FuseLayout.AttrOut.ATTR_VALID_NSEC, 0);
    }

    static void forgetStatxTimeout(ByteBuffer out, int at) {
        out.putLong(at + FuseLayout.StatxOut.ATTR_VALID, 0);
        out.putInt(at + FuseLayout.StatxOut.ATTR_VALID_NSEC, 0);
    }

    private static void putTime(ByteBuffer out, int at, long timeNs) {
        out.putLong(at + FuseLayout.SxTime.TV_SEC, seconds(timeNs));
        out.putInt(at + FuseLayout.SxTime.TV_NSEC, nanoseconds(timeNs));
    }

    private static long seconds(long timeNs) {
        return Math.floorDiv(timeNs, NS);
    }

    private static int nanoseconds(long timeNs) {
        return (int) Math.floorMod(timeNs, NS);
    }
}
