package org.globalfs.client.jnr;

import jnr.ffi.Pointer;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.LockRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import ru.serce.jnrfuse.struct.Flock;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;

/** Calls for locks, of fcntl(2) and of flock(2). */
final class LockCalls {
    private static final Logger log = LoggerFactory.getLogger(LockCalls.class);

    /** fcntl(2)'s commands as 64-bit Linux numbers them; F_SETLK is 6. */
    private static final int F_GETLK = 5;

    private static final int F_SETLKW = 7;
    private static final int LOCK_NB = 4;

    /** A lock that somebody was granted. */
    private record Granted(Caller caller, Handles.Open open, LockRequest lock) {}

    private final FileSystem fileSystem;
    private final Calls calls;

    LockCalls(FileSystem fileSystem, Calls calls) {
        this.fileSystem = fileSystem;
        this.calls = calls;
    }

    /** Without these the kernel keeps locks, for this mount alone. */
    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.lock, Callbacks.OfLock.class, this::lock);
        library.set(table.flock, Callbacks.OfFlock.class, this::lockWhole);
    }

    private int lock(Pointer path, Pointer info, int command, Pointer lock) {
        FuseFileInfo file = FuseFileInfo.of(info);
        Flock range = Flock.of(lock);
        LockRequest.Type type =
                switch (range.l_type.get()) {
                    case Flock.F_RDLCK -> LockRequest.Type.READ;
                    case Flock.F_WRLCK -> LockRequest.Type.WRITE;
                    default -> LockRequest.Type.UNLOCK;
                };
        if (type == LockRequest.Type.UNLOCK && Native.closing(file, info)) {
            return 0; // libfuse's own unlock at close(2): flush, right before, did it
        }
        long first = range.l_start.get();
        long length = range.l_len.get();
        LockRequest request =
                new LockRequest(
                        file.lock_owner.get(),
                        false,
                        type,
                        first,
                        length == 0 ? Long.MAX_VALUE : first + length - 1,
                        range.l_pid.intValue());
        return command == F_GETLK
                ? test(file, request, range)
                : take(file, request, command == F_SETLKW);
    }

    private int test(FuseFileInfo file, LockRequest request, Flock into) {
        return calls.serveOpen(
                Opcode.GETLK,
                file,
                (caller, open) -> fileSystem.testLock(caller, open.ino(), open.handle(), request),
                found -> put(found, into),
                nothing -> {});
    }

    private static int put(LockRequest found, Flock into) {
        into.l_type.set(
                switch (found.type()) {
                    case READ -> Flock.F_RDLCK;
                    case WRITE -> Flock.F_WRLCK;
                    case UNLOCK -> Flock.F_UNLCK;
                });
        into.l_whence.set(0);
        into.l_start.set(found.first());
        into.l_len.set(found.last() == Long.MAX_VALUE ? 0 : found.last() - found.first() + 1);
        into.l_pid.set(found.pid());
        return 0;
    }

    private int lockWhole(Pointer path, Pointer info, int operation) {
        FuseFileInfo file = FuseFileInfo.of(info);
        LockRequest.Type type =
                switch (operation & ~LOCK_NB) {
                    case Flock.LOCK_SH -> LockRequest.Type.READ;
                    case Flock.LOCK_EX -> LockRequest.Type.WRITE;
                    default -> LockRequest.Type.UNLOCK;
                };
        LockRequest request =
                new LockRequest(file.lock_owner.get(), true, type, 0, Long.MAX_VALUE, 0);
        return take(file, request, (operation & LOCK_NB) == 0);
    }

    private int take(FuseFileInfo file, LockRequest request, boolean mayWait) {
        boolean wait = mayWait && request.type() != LockRequest.Type.UNLOCK;
        return calls.serveOpen(
                wait ? Opcode.SETLKW : Opcode.SETLK,
                file,
                (caller, open) -> {
                    fileSystem.lock(caller, open.ino(), open.handle(), request, wait);
                    return new Granted(caller, open, request);
                },
                granted -> 0,
                this::giveBack);
    }

    private void giveBack(Granted granted) {
        LockRequest lock = granted.lock;
        if (lock.type() == LockRequest.Type.UNLOCK) {
            return;
        }
        LockRequest none =
                new LockRequest(
                        lock.owner(),
                        lock.flock(),
                        LockRequest.Type.UNLOCK,
                        lock.first(),
                        lock.last(),
                        lock.pid());
        Handles.Open open = granted.open;
        try {
            fileSystem.lock(granted.caller, open.ino(), open.handle(), none, false);
        } catch (FsException e) {
            log.info("a lock of inode {} goes with its handle: {}", open.ino(), e.errno());
        }
    }
}
