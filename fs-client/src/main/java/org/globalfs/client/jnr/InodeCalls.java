package org.globalfs.client.jnr;

import java.time.Instant;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.SetAttributes;
import org.globalfs.client.vfs.Stat;
import org.globalfs.protocol.Errno;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;
import ru.serce.jnrfuse.struct.Timespec;

/** Calls about one inode: attributes, permissions, links' targets. */
final class InodeCalls {
    private static final int UTIME_NOW = (1 << 30) - 1;
    private static final int UTIME_OMIT = (1 << 30) - 2;
    private static final int NO_ID = -1;

    private final FileSystem fileSystem;
    private final Calls calls;
    private final Handles handles;
    private final int ioSizeBytes;

    InodeCalls(FileSystem fileSystem, Calls calls, Handles handles, int ioSizeBytes) {
        this.fileSystem = fileSystem;
        this.calls = calls;
        this.handles = handles;
        this.ioSizeBytes = ioSizeBytes;
    }

    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.getattr, Callbacks.OfPathAndPointer.class, this::getAttributes);
        library.set(table.fgetattr, Callbacks.OfPathAndTwoPointers.class, this::getOpenAttributes);
        library.set(table.chmod, Callbacks.OfMode.class, this::changeMode);
        library.set(table.chown, Callbacks.OfOwner.class, this::changeOwner);
        library.set(table.truncate, Callbacks.OfTruncate.class, this::truncate);
        library.set(table.ftruncate, Callbacks.OfOpenTruncate.class, this::truncateOpen);
        library.set(table.utimens, Callbacks.OfPathAndPointer.class, this::setTimes);
        library.set(table.access, Callbacks.OfPathAndNumber.class, this::access);
        library.set(table.readlink, Callbacks.OfBuffer.class, this::readLink);
        library.set(table.statfs, Callbacks.OfPathAndPointer.class, this::statFs);
    }

    private int getAttributes(Pointer path, Pointer into) {
        byte[] name = Native.string(path);
        return calls.serve(
                Opcode.GETATTR,
                name,
                (caller, walk) -> attributes(caller, walk, name),
                stat -> put(stat, into));
    }

    /**
     * This is also libfuse's way to look a name up, so the caller needs the right to search the
     * directory. fstat(2) does not need that, and comes here too: it finds what is open.
     */
    private Stat attributes(Caller caller, Walk walk, byte[] path) throws FsException {
        if (Walk.isRoot(path)) {
            return walk.stat(path);
        }
        Walk.Place place = walk.place(path);
        try {
            return walk.lookup(caller, place);
        } catch (FsException e) {
            if (e.errno() == Errno.EACCES) {
                Stat stat = walk.lookupAsRoot(place);
                if (handles.holds(stat.ino())) {
                    return stat;
                }
            }
            throw e;
        }
    }

    private int getOpenAttributes(Pointer path, Pointer into, Pointer info) {
        return calls.serveOpen(
                Opcode.GETATTR,
                FuseFileInfo.of(info),
                (caller, open) ->
                        fileSystem.getAttributes(caller, open.ino(), open.handle()).stat(),
                stat -> put(stat, into),
                nothing -> {});
    }

    private int put(Stat stat, Pointer into) {
        Native.putStat(stat, into, ioSizeBytes);
        return 0;
    }

    private int changeMode(Pointer path, long mode) {
        return change(
                path,
                new SetAttributes(
                        SetAttributes.MODE, (int) mode, 0, 0, 0, 0, 0, FileSystem.NO_HANDLE));
    }

    private int changeOwner(Pointer path, long uid, long gid) {
        int set =
                ((int) uid == NO_ID ? 0 : SetAttributes.UID)
                        | ((int) gid == NO_ID ? 0 : SetAttributes.GID);
        return change(
                path,
                new SetAttributes(set, 0, (int) uid, (int) gid, 0, 0, 0, FileSystem.NO_HANDLE));
    }

    private int truncate(Pointer path, long size) {
        return change(
                path,
                new SetAttributes(SetAttributes.SIZE, 0, 0, 0, size, 0, 0, FileSystem.NO_HANDLE));
    }

    private int truncateOpen(Pointer path, long size, Pointer info) {
        return calls.actOpen(
                Opcode.SETATTR,
                FuseFileInfo.of(info),
                (caller, open) ->
                        fileSystem.setAttributes(
                                caller,
                                open.ino(),
                                new SetAttributes(
                                        SetAttributes.SIZE, 0, 0, 0, size, 0, 0, open.handle())));
    }

    private int setTimes(Pointer path, Pointer times) {
        Timespec atime = Timespec.of(times);
        Timespec mtime = Timespec.of(times.slice(Struct.size(atime)));
        int set =
                flags(atime, SetAttributes.ATIME, SetAttributes.ATIME_NOW)
                        | flags(mtime, SetAttributes.MTIME, SetAttributes.MTIME_NOW);
        return change(
                path,
                new SetAttributes(set, 0, 0, 0, 0, time(atime), time(mtime), FileSystem.NO_HANDLE));
    }

    private static int flags(Timespec time, int set, int now) {
        return switch (time.tv_nsec.intValue()) {
            case UTIME_OMIT -> 0;
            case UTIME_NOW -> set | now;
            default -> set;
        };
    }

    private static long time(Timespec time) {
        if (time.tv_nsec.intValue() == UTIME_NOW) {
            Instant now = Instant.now();
            return SetAttributes.time(now.getEpochSecond(), now.getNano());
        }
        return SetAttributes.time(time.tv_sec.get(), time.tv_nsec.intValue());
    }

    private int change(Pointer path, SetAttributes change) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.SETATTR,
                name,
                (caller, walk) -> fileSystem.setAttributes(caller, walk.inode(name), change));
    }

    private int access(Pointer path, int mask) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.ACCESS,
                name,
                (caller, walk) -> fileSystem.access(caller, walk.inode(name), mask));
    }

    private int readLink(Pointer path, Pointer buffer, long size) {
        byte[] name = Native.string(path);
        return calls.serve(
                Opcode.READLINK,
                name,
                (caller, walk) -> fileSystem.readLink(caller, walk.inode(name)),
                target -> {
                    int length = (int) Math.min(target.length, size - 1);
                    buffer.put(0, target, 0, length);
                    buffer.putByte(length, (byte) 0);
                    return 0;
                });
    }

    private int statFs(Pointer path, Pointer into) {
        byte[] name = Native.string(path);
        return calls.serve(
                Opcode.STATFS,
                name,
                (caller, walk) -> fileSystem.statFs(caller, walk.inode(name)),
                stat -> {
                    Native.putStatFs(stat, into);
                    return 0;
                });
    }
}
