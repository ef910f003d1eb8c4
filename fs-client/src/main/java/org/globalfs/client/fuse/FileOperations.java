package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import org.globalfs.client.vfs.Created;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.OpenFlags;
import org.globalfs.client.vfs.OpenResult;
import org.globalfs.client.vfs.Stat;
import org.globalfs.protocol.Invariant;

/** Requests on open files. */
final class FileOperations {
    private final FileSystem fileSystem;
    private final int ioSizeBytes;

    FileOperations(FileSystem fileSystem, int ioSizeBytes) {
        this.fileSystem = fileSystem;
        this.ioSizeBytes = ioSizeBytes;
    }

    void open(Exchange x) throws FsException {
        int flags = x.int32(FuseLayout.OpenIn.FLAGS);
        x.changes(x.node());
        OpenResult result = fileSystem.open(x.caller(), x.node(), flags);
        x.opened(x.node(), result.handle(), false);
        int at = x.clear(FuseLayout.OpenOut.SIZE_OF);
        putOpen(x.memory(), at, result);
        x.answer(FuseLayout.OpenOut.SIZE_OF);
    }

    void create(Exchange x) throws FsException {
        byte[] name = x.name(FuseLayout.CreateIn.SIZE_OF);
        int flags = x.int32(FuseLayout.CreateIn.FLAGS);
        int mode = x.int32(FuseLayout.CreateIn.MODE);
        x.caller().umask(x.int32(FuseLayout.CreateIn.UMASK));
        x.touches(x.node(), name);
        Created created =
                fileSystem.create(
                        x.caller(), x.node(), name, Stat.REGULAR | (mode & ~Stat.TYPE_MASK), flags);
        answer(x, created);
    }

    /** Its name is "/". */
    void createTemporary(Exchange x) throws FsException {
        int flags = x.int32(FuseLayout.CreateIn.FLAGS);
        int mode = x.int32(FuseLayout.CreateIn.MODE);
        x.caller().umask(x.int32(FuseLayout.CreateIn.UMASK));
        answer(
                x,
                fileSystem.createTemporary(
                        x.caller(), x.node(), Stat.REGULAR | (mode & ~Stat.TYPE_MASK), flags));
    }

    private void answer(Exchange x, Created created) {
        Stat stat = created.entry().stat();
        if (stat == null) {
            throw Invariant.broken("create answered without attributes");
        }
        x.counted(stat.ino());
        x.opened(stat.ino(), created.open().handle(), false);
        x.timeouts(System.nanoTime());
        int at = x.clear(FuseLayout.EntryOut.SIZE_OF + FuseLayout.OpenOut.SIZE_OF);
        Attributes.putEntry(x.memory(), at, created.entry(), ioSizeBytes);
        putOpen(x.memory(), at + FuseLayout.EntryOut.SIZE_OF, created.open());
        x.answer(FuseLayout.EntryOut.SIZE_OF + FuseLayout.OpenOut.SIZE_OF);
    }

    static void putOpen(ByteBuffer out, int at, OpenResult result) {
        int flags =
                (result.keepCache() ? FuseFlags.FOPEN_KEEP_CACHE : 0)
                        | (result.directIo() ? FuseFlags.FOPEN_DIRECT_IO : 0)
                        | (result.noFlush() ? FuseFlags.FOPEN_NOFLUSH : 0)
                        | (result.cacheDirectory() ? FuseFlags.FOPEN_CACHE_DIR : 0);
        out.putLong(at + FuseLayout.OpenOut.FH, result.handle());
        out.putInt(at + FuseLayout.OpenOut.OPEN_FLAGS, flags);
    }

    void read(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.ReadIn.FH);
        long offset = x.int64(FuseLayout.ReadIn.OFFSET);
        ByteBuffer room = x.room(x.int32(FuseLayout.ReadIn.SIZE));
        fileSystem.read(x.caller(), x.node(), handle, offset, room);
        x.answerFromPayload(room.position());
    }

    void write(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.WriteIn.FH);
        long offset = x.int64(FuseLayout.WriteIn.OFFSET);
        boolean pages = (x.int32(FuseLayout.WriteIn.WRITE_FLAGS) & FuseFlags.WRITE_CACHE) != 0;
        int flags = x.int32(FuseLayout.WriteIn.FLAGS) | (pages ? OpenFlags.PAGES : 0);
        ByteBuffer content = x.content(x.int32(FuseLayout.WriteIn.SIZE));
        x.changes(x.node());
        int size = fileSystem.write(x.caller(), x.node(), handle, offset, content, flags);
        int at = x.clear(FuseLayout.WriteOut.SIZE_OF);
        x.memory().putInt(at + FuseLayout.WriteOut.SIZE, size);
        x.answer(FuseLayout.WriteOut.SIZE_OF);
    }

    void seek(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.LseekIn.FH);
        long offset = x.int64(FuseLayout.LseekIn.OFFSET);
        int whence = x.int32(FuseLayout.LseekIn.WHENCE);
        long found = fileSystem.seek(x.caller(), x.node(), handle, offset, whence);
        x.memory()
                .putLong(x.clear(FuseLayout.LseekOut.SIZE_OF) + FuseLayout.LseekOut.OFFSET, found);
        x.answer(FuseLayout.LseekOut.SIZE_OF);
    }

    void allocate(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.FallocateIn.FH);
        long offset = x.int64(FuseLayout.FallocateIn.OFFSET);
        long length = x.int64(FuseLayout.FallocateIn.LENGTH);
        int mode = x.int32(FuseLayout.FallocateIn.MODE);
        x.changes(x.node());
        fileSystem.allocate(x.caller(), x.node(), handle, offset, length, mode);
        x.answerEmpty();
    }

    /** {@code wide}: the answer is a struct fuse_copy_file_range_out, one 64-bit number. */
    void copyRange(Exchange x, boolean wide) throws FsException {
        FileSystem.Range source =
                new FileSystem.Range(
                        x.node(),
                        x.int64(FuseLayout.CopyFileRangeIn.FH_IN),
                        x.int64(FuseLayout.CopyFileRangeIn.OFF_IN));
        FileSystem.Range target =
                new FileSystem.Range(
                        x.int64(FuseLayout.CopyFileRangeIn.NODEID_OUT),
                        x.int64(FuseLayout.CopyFileRangeIn.FH_OUT),
                        x.int64(FuseLayout.CopyFileRangeIn.OFF_OUT));
        long length = x.int64(FuseLayout.CopyFileRangeIn.LEN);
        long flags = x.int64(FuseLayout.CopyFileRangeIn.FLAGS);
        x.changes(target.ino());
        long most = wide ? length : Math.min(length, Integer.MAX_VALUE);
        long copied = fileSystem.copyRange(x.caller(), source, target, most, flags);
        int at = x.clear(Long.BYTES);
        if (wide) {
            x.memory().putLong(at, copied);
        } else {
            x.memory().putInt(at + FuseLayout.WriteOut.SIZE, (int) copied);
        }
        x.answer(Long.BYTES);
    }

    void flush(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.FlushIn.FH);
        fileSystem.flush(x.caller(), x.node(), handle, x.int64(FuseLayout.FlushIn.LOCK_OWNER));
        x.answerEmpty();
    }

    void release(Exchange x) {
        fileSystem.release(x.node(), x.int64(FuseLayout.ReleaseIn.FH));
        x.answerEmpty();
    }

    void sync(Exchange x) throws FsException {
        boolean dataOnly =
                (x.int32(FuseLayout.FsyncIn.FSYNC_FLAGS) & FuseFlags.FSYNC_FDATASYNC) != 0;
        fileSystem.sync(x.caller(), x.node(), x.int64(FuseLayout.FsyncIn.FH), dataOnly);
        x.answerEmpty();
    }
}
