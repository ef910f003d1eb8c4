package org.globalfs.client.jnr;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import org.globalfs.client.vfs.Stat;
import org.globalfs.client.vfs.StatFs;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Statvfs;
import ru.serce.jnrfuse.struct.Timespec;

/** Memory that the library lends for the time of a call. */
final class Native {
    private static final long NS = 1_000_000_000L;
    private static final int FLUSH_BIT = 1 << 2;

    private Native() {}

    /** The bytes of a string, without its NUL. */
    static byte[] string(Pointer text) {
        byte[] bytes = new byte[text.indexOf(0, (byte) 0)];
        text.get(0, bytes, 0, bytes.length);
        return bytes;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory(Pointer start, long size) {
        return MemorySegment.ofAddress(start.address()).reinterpret(size);
    }

    /** Fills what is left of the buffer and makes it ready to be read. */
    static void read(Pointer from, ByteBuffer into) {
        MemorySegment target = MemorySegment.ofBuffer(into);
        target.copyFrom(memory(from, target.byteSize()));
    }

    /** Everything that is left in the buffer. */
    static void write(ByteBuffer from, Pointer into) {
        MemorySegment source = MemorySegment.ofBuffer(from);
        memory(into, source.byteSize()).copyFrom(source);
    }

    static void putStat(Stat stat, Pointer into, int ioSizeBytes) {
        FileStat out = FileStat.of(into);
        out.st_ino.set(stat.ino());
        out.st_mode.set(stat.mode());
        out.st_nlink.set(stat.nlink());
        out.st_uid.set(Integer.toUnsignedLong(stat.uid()));
        out.st_gid.set(Integer.toUnsignedLong(stat.gid()));
        out.st_rdev.set(Integer.toUnsignedLong(stat.rdev()));
        out.st_size.set(stat.size());
        out.st_blksize.set(ioSizeBytes);
        out.st_blocks.set(stat.blocks());
        putTime(stat.atimeNs(), out.st_atim);
        putTime(stat.mtimeNs(), out.st_mtim);
        putTime(stat.ctimeNs(), out.st_ctim);
    }

    private static void putTime(long timeNs, Timespec out) {
        out.tv_sec.set(Math.floorDiv(timeNs, NS));
        out.tv_nsec.set(Math.floorMod(timeNs, NS));
    }

    static void putStatFs(StatFs stat, Pointer into) {
        Statvfs out = Statvfs.of(into);
        out.f_bsize.set(stat.blockSizeBytes());
        out.f_frsize.set(stat.blockSizeBytes());
        out.f_blocks.set(stat.blocks());
        out.f_bfree.set(stat.blocksFree());
        out.f_bavail.set(stat.blocksAvailable());
        out.f_files.set(stat.files());
        out.f_ffree.set(stat.filesFree());
        out.f_favail.set(stat.filesFree());
        out.f_namemax.set(stat.nameMaxBytes());
    }

    /** Whether libfuse's call is part of a close(2). */
    static boolean closing(FuseFileInfo info, Pointer memory) {
        // jnr-fuse has no names for the bit field, the 32 bits before fh
        return (memory.getInt(info.fh.offset() - Integer.BYTES) & FLUSH_BIT) != 0;
    }
}
