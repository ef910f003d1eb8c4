package org.globalfs.client.jnr;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import jnr.ffi.Pointer;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.Created;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.OpenFlags;
import org.globalfs.client.vfs.Stat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;

/** Calls on files: opening, and what goes through an open file. */
final class FileCalls {
    /** What libfuse 2 moves at most in one call. */
    static final int MAX_TRANSFER = 128 << 10;

    private final FileSystem fileSystem;
    private final Calls calls;
    private final Handles handles;

    /** Content is copied, because work may outlive the call that lent it; copies are reused. */
    private final Queue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

    FileCalls(FileSystem fileSystem, Calls calls, Handles handles) {
        this.fileSystem = fileSystem;
        this.calls = calls;
        this.handles = handles;
    }

    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.open, Callbacks.OfPathAndPointer.class, this::open);
        library.set(table.create, Callbacks.OfCreate.class, this::create);
        library.set(table.read, Callbacks.OfTransfer.class, this::read);
        library.set(table.write, Callbacks.OfTransfer.class, this::write);
        library.set(table.flush, Callbacks.OfPathAndPointer.class, this::flush);
        library.set(table.release, Callbacks.OfPathAndPointer.class, this::release);
        library.set(table.fsync, Callbacks.OfSync.class, this::sync);
        library.set(table.fallocate, Callbacks.OfAllocate.class, this::allocate);
    }

    private int open(Pointer path, Pointer info) {
        byte[] name = Native.string(path);
        FuseFileInfo file = FuseFileInfo.of(info);
        int flags = file.flags.get();
        return calls.serve(
                Opcode.OPEN,
                name,
                (caller, walk) -> {
                    long ino = walk.inode(name);
                    return new Handles.Open(ino, fileSystem.open(caller, ino, flags).handle());
                },
                opened -> opened(file, opened),
                this::release);
    }

    private int create(Pointer path, long mode, Pointer info) {
        byte[] name = Native.string(path);
        FuseFileInfo file = FuseFileInfo.of(info);
        int flags = file.flags.get();
        int typed = Stat.REGULAR | ((int) mode & ~Stat.TYPE_MASK);
        return calls.serve(
                Opcode.CREATE,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    Created created =
                            fileSystem.create(caller, place.parent(), place.name(), typed, flags);
                    long ino = walk.counted(created.entry()).ino();
                    return new Handles.Open(ino, created.open().handle());
                },
                opened -> opened(file, opened),
                this::release);
    }

    private int opened(FuseFileInfo file, Handles.Open opened) {
        file.fh.set(handles.add(opened));
        return 0;
    }

    private void release(Handles.Open opened) {
        fileSystem.release(opened.ino(), opened.handle());
    }

    private int release(Pointer path, Pointer info) {
        FuseFileInfo file = FuseFileInfo.of(info);
        int result = calls.actOpen(Opcode.RELEASE, file, (caller, open) -> release(open));
        handles.remove(file.fh.get());
        return result;
    }

    private int read(Pointer path, Pointer into, long size, long offset, Pointer info) {
        ByteBuffer content = buffer(size);
        return calls.serveOpen(
                Opcode.READ,
                FuseFileInfo.of(info),
                (caller, open) -> {
                    fileSystem.read(caller, open.ino(), open.handle(), offset, content);
                    return content.flip();
                },
                done -> {
                    int count = done.remaining();
                    Native.write(done, into);
                    buffers.add(done);
                    return count;
                },
                buffers::add);
    }

    private int write(Pointer path, Pointer from, long size, long offset, Pointer info) {
        FuseFileInfo file = FuseFileInfo.of(info);
        int flags = file.flags.get();
        ByteBuffer content = buffer(size);
        Native.read(from, content);
        return calls.serveOpen(
                Opcode.WRITE,
                file,
                (caller, open) -> {
                    int count =
                            fileSystem.write(
                                    caller, open.ino(), open.handle(), offset, content, flags);
                    if ((flags & OpenFlags.O_DSYNC) != 0) {
                        // The kernel has only writes of its own pages followed by an fsync.
                        fileSystem.sync(caller, open.ino(), open.handle(), true);
                    }
                    buffers.add(content);
                    return count;
                },
                count -> count,
                nothing -> {});
    }

    private ByteBuffer buffer(long size) {
        ByteBuffer free = size <= MAX_TRANSFER ? buffers.poll() : null;
        if (free == null) {
            free = ByteBuffer.allocateDirect((int) Math.max(size, MAX_TRANSFER));
        }
        return free.clear().limit((int) size);
    }

    private int flush(Pointer path, Pointer info) {
        FuseFileInfo file = FuseFileInfo.of(info);
        long owner = file.lock_owner.get();
        return calls.actOpen(
                Opcode.FLUSH,
                file,
                (caller, open) -> fileSystem.flush(caller, open.ino(), open.handle(), owner));
    }

    private int sync(Pointer path, int dataOnly, Pointer info) {
        return calls.actOpen(
                Opcode.FSYNC,
                FuseFileInfo.of(info),
                (caller, open) ->
                        fileSystem.sync(caller, open.ino(), open.handle(), dataOnly != 0));
    }

    private int allocate(Pointer path, int mode, long offset, long length, Pointer info) {
        return calls.actOpen(
                Opcode.FALLOCATE,
                FuseFileInfo.of(info),
                (caller, open) ->
                        fileSystem.allocate(
                                caller, open.ino(), open.handle(), offset, length, mode));
    }
}
