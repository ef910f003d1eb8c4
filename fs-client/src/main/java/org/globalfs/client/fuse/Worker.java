package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.vfs.Caller;
import org.globalfs.protocol.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that reads a request, works on it and answers it, again and again.
 *
 * <p>{@code pending} is the number of the request that is owed an answer, 0 if none. Who swaps it
 * to 0 writes the answer: the worker itself, or {@link Watchdog} for a request that has run out of
 * time or whose process was killed. Numbers never come twice, so the swap cannot hit a later
 * request.
 */
final class Worker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);
    private static final int MAX_FAILED_READS = 100;

    private final WorkerPool pool;
    private final FuseDevice device;
    private final Dispatcher dispatcher;
    private final LockOperations locks;
    private final Watchdog watchdog;
    private final FuseKernelCache kernelCache;
    private final long timeoutNs;
    private final Exchange exchange = new Exchange();
    private final MemorySegment errnoState = Libc.newState();
    private final String name;
    private final List<Runnable> afterAnswer = new ArrayList<>(1);

    private final AtomicLong pending = new AtomicLong();
    private volatile long startNs;
    private volatile Caller caller = exchange.caller();
    private volatile int opcode;
    private volatile long node;
    private volatile boolean answering;
    private volatile boolean resumed;
    private volatile Thread thread;

    Worker(
            WorkerPool pool,
            FuseDevice device,
            Dispatcher dispatcher,
            LockOperations locks,
            Watchdog watchdog,
            FuseKernelCache kernelCache,
            long timeoutNs,
            String name) {
        this.pool = pool;
        this.device = device;
        this.dispatcher = dispatcher;
        this.locks = locks;
        this.watchdog = watchdog;
        this.kernelCache = kernelCache;
        this.timeoutNs = timeoutNs;
        this.name = name;
        thread = newThread();
    }

    private Thread newThread() {
        return Thread.ofPlatform().name(name).daemon().unstarted(this);
    }

    /**
     * @throws OutOfMemoryError the system gives no thread now; may be tried again
     */
    void start() {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            thread = newThread();
            throw e;
        }
    }

    @Override
    public void run() {
        try {
            serve();
        } catch (Throwable t) {
            log.error("a reader of the FUSE connection ends", t);
        } finally {
            pool.left(this);
        }
    }

    private void serve() {
        int failures = 0;
        do {
            long count =
                    Libc.read(
                            device.fd(),
                            exchange.requestAddress(),
                            Exchange.REQUEST_CAPACITY,
                            errnoState);
            if (count >= 0) {
                failures = 0;
                pool.took();
                serve((int) count);
            } else {
                switch (Errno.of((int) -count)) {
                    // unmounted, or aborted
                    case ENODEV, ECONNABORTED -> {
                        pool.disconnected();
                        return;
                    }
                    // a signal; a request that was given up while it was being handed over
                    case EINTR, EAGAIN, ENOENT -> {}
                    default -> {
                        log.error(
                                "reading from the FUSE connection failed: {}",
                                Errno.of((int) -count));
                        if (++failures > MAX_FAILED_READS) {
                            pool.disconnected();
                            return;
                        }
                    }
                }
                pool.took();
            }
        } while (pool.mayReadAgain(this));
    }

    private void serve(int count) {
        long now = System.nanoTime();
        if (!exchange.decode(count, now, timeoutNs)) {
            log.error("the kernel sent {} bytes that are no request", count);
            return;
        }
        int code = exchange.opcode();
        if (code == Opcode.INTERRUPT.number) {
            watchdog.interrupt(exchange.int64(FuseLayout.InterruptIn.UNIQUE));
        } else if (code == Opcode.FORGET.number || code == Opcode.BATCH_FORGET.number) {
            dispatcher.run(exchange, now);
        } else if (code == Opcode.SETLK.number || code == Opcode.SETLKW.number) {
            locks.start(exchange, device, now);
        } else {
            answerable(now);
        }
    }

    private void answerable(long now) {
        long unique = exchange.unique();
        long invalidations = kernelCache.issued();
        caller = exchange.caller();
        opcode = exchange.opcode();
        node = exchange.node();
        startNs = now;
        pending.set(unique);
        try (var _ = dispatcher.answering()) {
            int errno = dispatcher.run(exchange, now);
            if (pending.compareAndSet(unique, 0)) {
                answer(errno, invalidations);
            } else {
                dispatcher.takeBack(exchange, errno);
                pool.returned();
            }
        } finally {
            runAfterAnswer();
        }
    }

    /** For this worker's thread. */
    void afterAnswer(Runnable then) {
        afterAnswer.add(then);
    }

    private void runAfterAnswer() {
        if (!afterAnswer.isEmpty()) {
            List<Runnable> all = List.copyOf(afterAnswer);
            afterAnswer.clear();
            all.forEach(Runnable::run);
        }
    }

    private void answer(int errno, long invalidations) {
        long written;
        answering = true;
        try {
            boolean takenBack = kernelCache.issued() != invalidations;
            if (errno == 0 && (takenBack || exchange.hasOldTimeouts(System.nanoTime()))) {
                exchange.forgetTimeouts();
            }
            written =
                    Libc.write(
                            device.fd(),
                            exchange.seal(errno),
                            exchange.sealedLength(errno),
                            errnoState);
        } finally {
            answering = false;
        }
        if (written >= 0) {
            return;
        }
        Errno refusal = Errno.of((int) -written);
        switch (refusal) {
            case ENOENT, ENODEV, ECONNABORTED, ENOTCONN -> dispatcher.takeBack(exchange, errno);
            default -> {
                log.error(
                        "the kernel refused the answer to {} of inode {}: {}",
                        Opcode.of(exchange.opcode()),
                        exchange.node(),
                        refusal);
                dispatcher.takeBack(exchange, errno);
                Libc.write(
                        device.fd(),
                        exchange.seal(Errno.EIO.number()),
                        exchange.sealedLength(Errno.EIO.number()),
                        errnoState);
            }
        }
    }

    // ---------------------------------------------------------------- for the watchdog

    /** The request owed an answer; 0: none. */
    long pending() {
        return pending.get();
    }

    Caller caller() {
        return caller;
    }

    /** When the request was read. */
    long startNs() {
        return startNs;
    }

    FuseDevice device() {
        return device;
    }

    /** Takes the duty to answer away from the worker; false: it has answered. */
    boolean giveUp(long unique) {
        Caller waiting = caller;
        if (!pending.compareAndSet(unique, 0)) {
            return false;
        }
        waiting.cancel();
        return true;
    }

    /** For the log: what runs, for whom, and where it stands. */
    String describe() {
        StringBuilder text = new StringBuilder();
        text.append(Opcode.of(opcode)).append(" of inode ").append(Long.toUnsignedString(node));
        text.append(" for ").append(caller).append(" after ");
        text.append(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs)).append(" ms");
        for (StackTraceElement element : thread.getStackTrace()) {
            text.append("\n\tat ").append(element);
        }
        return text.toString();
    }

    /** Waits while the worker hands over an answer; a matter of microseconds. */
    void awaitAnswered() {
        for (int spins = 0; answering; spins++) {
            if (spins < 100) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(20_000);
            }
        }
    }

    boolean isCurrentThread() {
        return Thread.currentThread().equals(thread);
    }

    /** What waits for the kernel; false: not for what was wanted of it. */
    interface KernelWait<X extends Exception> {
        boolean run() throws X;
    }

    /** Runs it on this worker's thread: others serve requests meanwhile. */
    <X extends Exception> boolean awaitKernel(KernelWait<X> wait) throws X {
        pool.awaitsKernel();
        try {
            return wait.run();
        } finally {
            pool.awaitedKernel();
        }
    }

    // ---------------------------------------------------------------- for the pool

    void resume() {
        resumed = true;
        LockSupport.unpark(thread);
    }

    void parkUntilResumed() {
        while (!resumed) {
            LockSupport.park(this);
        }
        resumed = false;
    }
}
