package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.LockRequest;
import org.globalfs.protocol.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests for locks. One that takes or drops a lock runs on a thread of its own and is answered
 * from there: it may wait for as long as somebody holds the lock, while the workers serve him who
 * is to drop it. It has no deadline; any signal to the caller ends its waiting for others, one that
 * kills it all of its waiting.
 */
final class LockOperations {
    private static final Logger log = LoggerFactory.getLogger(LockOperations.class);
    private static final int F_RDLCK = 0;
    private static final int F_WRLCK = 1;
    private static final int F_UNLCK = 2;
    private static final long NO_DEADLINE_NS = Long.MAX_VALUE / 4;

    private final FileSystem fileSystem;
    private final OperationStatistics statistics;
    private final OperationLog operations;
    private final ConcurrentMap<Long, Call> calls = new ConcurrentHashMap<>();
    private final MemorySegment memory = Libc.pages(4096);
    private final ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
    private final MemorySegment errnoState = Libc.newState();
    private boolean closed;

    LockOperations(FileSystem fileSystem, OperationStatistics statistics, OperationLog operations) {
        this.fileSystem = fileSystem;
        this.statistics = statistics;
        this.operations = operations;
    }

    /** GETLK. */
    void test(Exchange x) throws FsException {
        long handle = x.int64(FuseLayout.LkIn.FH);
        LockRequest found = fileSystem.testLock(x.caller(), x.node(), handle, request(x));
        int at = x.clear(FuseLayout.LkOut.SIZE_OF) + FuseLayout.LkOut.LK;
        ByteBuffer out = x.memory();
        out.putLong(at + FuseLayout.FileLock.START, found.first());
        out.putLong(at + FuseLayout.FileLock.END, found.last());
        out.putInt(
                at + FuseLayout.FileLock.TYPE,
                switch (found.type()) {
                    case READ -> F_RDLCK;
                    case WRITE -> F_WRLCK;
                    case UNLOCK -> F_UNLCK;
                });
        out.putInt(at + FuseLayout.FileLock.PID, found.pid());
        x.answer(FuseLayout.LkOut.SIZE_OF);
    }

    private static LockRequest request(Exchange x) throws FsException {
        int lock = FuseLayout.LkIn.LK;
        LockRequest.Type type =
                switch (x.int32(lock + FuseLayout.FileLock.TYPE)) {
                    case F_RDLCK -> LockRequest.Type.READ;
                    case F_WRLCK -> LockRequest.Type.WRITE;
                    case F_UNLCK -> LockRequest.Type.UNLOCK;
                    default -> throw FsException.of(Errno.EINVAL);
                };
        return new LockRequest(
                x.int64(FuseLayout.LkIn.OWNER),
                (x.int32(FuseLayout.LkIn.LK_FLAGS) & FuseFlags.LK_FLOCK) != 0,
                type,
                x.int64(lock + FuseLayout.FileLock.START),
                x.int64(lock + FuseLayout.FileLock.END),
                x.int32(lock + FuseLayout.FileLock.PID));
    }

    /** One SETLK or SETLKW. */
    private record Call(
            Opcode opcode,
            long unique,
            FuseDevice device,
            Caller caller,
            long node,
            long handle,
            LockRequest request,
            long startNs) {}

    /** Takes SETLK or SETLKW over from a worker. */
    void start(Exchange x, FuseDevice device, long nowNs) {
        Caller asking = x.caller();
        Caller caller =
                new Caller(asking.uid(), asking.gid(), asking.pid(), nowNs + NO_DEADLINE_NS);
        Opcode opcode = x.opcode() == Opcode.SETLKW.number ? Opcode.SETLKW : Opcode.SETLK;
        try {
            long handle = x.int64(FuseLayout.LkIn.FH);
            Call call =
                    new Call(
                            opcode,
                            x.unique(),
                            device,
                            caller,
                            x.node(),
                            handle,
                            request(x),
                            nowNs);
            calls.put(call.unique, call);
            Thread.ofVirtual().name("fuse-lock-" + call.unique).start(() -> run(call));
        } catch (FsException e) {
            answer(device, x.unique(), e.errno().number());
        }
    }

    private void run(Call call) {
        int errno = Errno.EIO.number();
        boolean told;
        try {
            errno = lock(call);
        } catch (RuntimeException unexpected) {
            log.error("{} of inode {} failed unexpectedly", call.opcode, call.node, unexpected);
        } finally {
            // Whatever happened: until it has an answer the kernel does not even let a killed
            // process go.
            calls.remove(call.unique);
            told = answer(call.device, call.unique, errno);
        }
        if (!told && errno == 0 && call.request.type() != LockRequest.Type.UNLOCK) {
            giveBack(call);
        }
        long elapsedNs = System.nanoTime() - call.startNs;
        statistics.count(call.opcode, errno, elapsedNs);
        operations.ended(call.opcode, call.node, call.caller, errno, elapsedNs);
    }

    private int lock(Call call) {
        try {
            fileSystem.lock(
                    call.caller,
                    call.node,
                    call.handle,
                    call.request,
                    call.opcode == Opcode.SETLKW);
            return 0;
        } catch (FsException e) {
            return e.errno().number();
        }
    }

    /** Granted to nobody. */
    private void giveBack(Call call) {
        LockRequest lock = call.request;
        LockRequest none =
                new LockRequest(
                        lock.owner(),
                        lock.flock(),
                        LockRequest.Type.UNLOCK,
                        lock.first(),
                        lock.last(),
                        lock.pid());
        try {
            fileSystem.lock(call.caller, call.node, call.handle, none, false);
        } catch (FsException | RuntimeException e) {
            log.info("a lock of inode {} goes with its handle: {}", call.node, e.toString());
        }
    }

    /** False: the kernel no longer waits. */
    private synchronized boolean answer(FuseDevice device, long unique, int errno) {
        if (closed) {
            return false;
        }
        bytes.putInt(FuseLayout.OutHeader.LEN, FuseLayout.OutHeader.SIZE_OF);
        bytes.putInt(FuseLayout.OutHeader.ERROR, -errno);
        bytes.putLong(FuseLayout.OutHeader.UNIQUE, unique);
        long written =
                Libc.write(device.fd(), memory.address(), FuseLayout.OutHeader.SIZE_OF, errnoState);
        if (written < 0) {
            log.info(
                    "the kernel no longer waits for the lock request {}: {}",
                    unique,
                    Errno.of((int) -written));
        }
        return written >= 0;
    }

    /** The caller has a signal, of which it is told again and again; false: it is no call here. */
    boolean interrupt(long unique) {
        Call call = calls.get(unique);
        if (call == null) {
            return false;
        }
        if (PendingSignals.fatal(call.caller.pid())) {
            call.caller.cancel();
        } else {
            call.caller.interrupt();
        }
        return true;
    }

    /** Tells those callers who asked before then and have a signal, of which nobody has read. */
    void interruptSignalled(long beforeNs) {
        for (Call call : calls.values()) {
            if (call.startNs - beforeNs < 0 && PendingSignals.noticed(call.caller.pid())) {
                interrupt(call.unique);
            }
        }
    }

    /** The connection has ended: nobody is answered any more. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        List.copyOf(calls.values()).forEach(call -> call.caller.cancel());
    }
}
