package org.globalfs.client.jnr;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.fuse.OperationLog;
import org.globalfs.client.fuse.OperationStatistics;
import org.globalfs.client.fuse.PendingSignals;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.Standstill;
import org.globalfs.protocol.Threads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import ru.serce.jnrfuse.struct.FuseContext;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/**
 * The one place that every call of libfuse's passes.
 *
 * <p>libfuse answers the kernel when its call returns, so work that may hang runs on another
 * thread: the library's waits until it has ended, its deadline has passed (EIO), or the process
 * that asked was killed (EINTR; one that waits for a lock: was signalled). Work that was given up
 * ends by itself some time, and what it would have handed over is taken back then. What the library
 * lent (paths, buffers) is gone by that time: work must use copies only. Thread-safe.
 *
 * <p>Where the system gives no further thread a call is answered EIO, but for the closing of what
 * is open, which nobody asks for twice: the library's own thread does that.
 */
final class Calls {
    private static final Logger log = LoggerFactory.getLogger(Calls.class);
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long NO_DEADLINE_NS = Long.MAX_VALUE / 4;
    private static final long IDLE_SECONDS = 30;
    private static final Set<Opcode> CLOSING =
            Set.of(Opcode.FLUSH, Opcode.RELEASE, Opcode.RELEASEDIR);

    /** What the file system has to do; its outcome is not null. */
    @FunctionalInterface
    interface Work<T> {
        T run(Caller caller, Walk walk) throws FsException;
    }

    /** As {@link Work}, without an outcome. */
    @FunctionalInterface
    interface Action {
        void run(Caller caller, Walk walk) throws FsException;
    }

    /** As {@link Work}, on an open file or directory. */
    @FunctionalInterface
    interface OpenWork<T> {
        T run(Caller caller, Handles.Open open) throws FsException;
    }

    /** As {@link Action}, on an open file or directory. */
    @FunctionalInterface
    interface OpenAction {
        void run(Caller caller, Handles.Open open) throws FsException;
    }

    private record Outcome<T>(@Nullable T value, int errno) {}

    private final FileSystem fileSystem;
    private final Handles handles;
    private final long timeoutNs;
    private final Supplier<FuseContext> context;
    private final OperationStatistics statistics;
    private final OperationLog operations;
    private final ExecutorService threads;
    private final FailureNews shortages = new FailureNews();
    private volatile boolean disconnected;

    /**
     * @param context who makes the current call, on the thread that makes it
     * @param factory of the threads that work
     */
    Calls(
            FileSystem fileSystem,
            Handles handles,
            long timeoutNs,
            Supplier<FuseContext> context,
            OperationStatistics statistics,
            OperationLog operations,
            ThreadFactory factory) {
        this.fileSystem = fileSystem;
        this.handles = handles;
        this.timeoutNs = timeoutNs;
        this.context = context;
        this.statistics = statistics;
        this.operations = operations;
        threads =
                new ThreadPoolExecutor(
                        0,
                        Integer.MAX_VALUE,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new SynchronousQueue<>(),
                        factory);
    }

    /** Nobody is answered any more: who still waits gives up. */
    void disconnect() {
        disconnected = true;
    }

    /** No call follows. False: after that time some work has not ended yet. */
    boolean drain(long limitMs) throws InterruptedException {
        threads.shutdown();
        return threads.awaitTermination(limitMs, TimeUnit.MILLISECONDS);
    }

    /** Serves a call by path that has no outcome but success. */
    int act(Opcode opcode, byte[] path, Action action) {
        return serve(
                opcode,
                path,
                (caller, walk) -> {
                    action.run(caller, walk);
                    return true;
                },
                done -> 0);
    }

    /** Serves a call by path; {@code answer} puts the outcome where the library wants it. */
    <T> int serve(Opcode opcode, byte[] path, Work<T> work, ToIntFunction<T> answer) {
        return serve(opcode, path, 0, work, answer, nothing -> {});
    }

    /** As {@link #serve}; {@code takeBack} undoes an outcome that came too late. */
    <T> int serve(
            Opcode opcode,
            byte[] path,
            Work<T> work,
            ToIntFunction<T> answer,
            Consumer<T> takeBack) {
        return serve(opcode, path, 0, work, answer, takeBack);
    }

    /** Serves a call on an open file that has no outcome but success. */
    int actOpen(Opcode opcode, FuseFileInfo info, OpenAction action) {
        return serveOpen(
                opcode,
                info,
                (caller, open) -> {
                    action.run(caller, open);
                    return true;
                },
                done -> 0,
                nothing -> {});
    }

    /** Serves a call on an open file. */
    <T> int serveOpen(
            Opcode opcode,
            FuseFileInfo info,
            OpenWork<T> work,
            ToIntFunction<T> answer,
            Consumer<T> takeBack) {
        Handles.Open open = handles.find(info.fh.get());
        if (open == null) {
            return -Errno.EBADF.number();
        }
        return serve(
                opcode,
                null,
                open.ino(),
                (caller, walk) -> work.run(caller, open),
                answer,
                takeBack);
    }

    private <T> int serve(
            Opcode opcode,
            byte @Nullable [] path,
            long ino,
            Work<T> work,
            ToIntFunction<T> answer,
            Consumer<T> takeBack) {
        long startNs = System.nanoTime();
        Caller caller = caller(startNs, opcode);
        int result;
        try {
            Task<T> task = new Task<>(caller, work, takeBack);
            begin(task, opcode);
            Outcome<T> outcome = await(task, opcode);
            result =
                    outcome.errno != 0
                            ? -outcome.errno
                            : answer.applyAsInt(Objects.requireNonNull(outcome.value));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            result = -Errno.EINTR.number();
        } catch (Throwable unexpected) {
            log.error("{} failed unexpectedly", opcode, unexpected);
            result = -Errno.EIO.number();
        }
        count(opcode, path, ino, caller, result, System.nanoTime() - startNs);
        return result;
    }

    private void begin(Task<?> task, Opcode opcode) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            if (shortages.of(e, System.nanoTime())) {
                log.warn(
                        "no further thread could be begun: requests are answered EIO. {}",
                        Threads.remedy());
            }
            if (CLOSING.contains(opcode)) {
                task.run();
            } else {
                task.outcome.complete(new Outcome<>(null, Errno.EIO.number()));
            }
        }
    }

    private Caller caller(long startNs, Opcode opcode) {
        FuseContext asking = context.get();
        long patienceNs = opcode.waitsForOthers() ? NO_DEADLINE_NS : timeoutNs;
        Caller caller =
                new Caller(
                        asking.uid.intValue(),
                        asking.gid.intValue(),
                        asking.pid.intValue(),
                        startNs + patienceNs);
        caller.umask(asking.umask.intValue());
        return caller;
    }

    private void count(
            Opcode opcode,
            byte @Nullable [] path,
            long ino,
            Caller caller,
            int result,
            long elapsedNs) {
        int errno = Math.max(0, -result);
        statistics.count(opcode, errno, elapsedNs);
        boolean transfer = opcode == Opcode.READ || opcode == Opcode.WRITE;
        if (errno == 0 && opcode == Opcode.READ) {
            statistics.countRead(result);
        } else if (errno == 0 && opcode == Opcode.WRITE) {
            statistics.countWritten(result);
        }
        operations.ended(
                opcode, path, ino, caller, errno, transfer && errno == 0 ? result : -1, elapsedNs);
    }

    private <T> Outcome<T> await(Task<T> task, Opcode opcode)
            throws InterruptedException, ExecutionException {
        while (true) {
            long beginNs = System.nanoTime();
            long leftNs = Math.max(0, task.caller.deadlineNs() - beginNs);
            long tickNs = Math.min(TICK_NS, leftNs);
            try {
                return task.outcome.get(tickNs, TimeUnit.NANOSECONDS);
            } catch (TimeoutException stillAtWork) {
                task.caller.stoodStill(Standstill.during(beginNs, tickNs));
                giveUpIfDue(task, opcode);
            }
        }
    }

    private void giveUpIfDue(Task<?> task, Opcode opcode) {
        Caller caller = task.caller;
        boolean late = System.nanoTime() - caller.deadlineNs() >= 0;
        boolean killed = PendingSignals.fatal(caller.pid());
        if (!late && !killed && !disconnected) {
            if (opcode.waitsForOthers() && PendingSignals.noticed(caller.pid())) {
                caller.interrupt();
            }
            return;
        }
        Errno errno = killed ? Errno.EINTR : Errno.EIO;
        if (!task.outcome.complete(new Outcome<>(null, errno.number()))) {
            return;
        }
        if (killed) {
            statistics.countInterrupt();
        } else if (late) {
            statistics.countTimeout();
            log.warn(
                    "answered EIO to a request that ran out of time: {} for {}{}",
                    opcode,
                    caller,
                    task.stack());
        }
        caller.cancel();
    }

    /** Who completes {@link #outcome} first decides what the call is answered. */
    private final class Task<T> implements Runnable {
        final Caller caller;
        final CompletableFuture<Outcome<T>> outcome = new CompletableFuture<>();
        private final Work<T> work;
        private final Consumer<T> takeBack;
        private volatile @Nullable Thread thread;

        Task(Caller caller, Work<T> work, Consumer<T> takeBack) {
            this.caller = caller;
            this.work = work;
            this.takeBack = takeBack;
        }

        @Override
        public void run() {
            thread = Thread.currentThread();
            Outcome<T> ended = perform();
            if (!outcome.complete(ended) && ended.value != null) {
                undo(ended.value);
            }
        }

        private Outcome<T> perform() {
            try (Walk walk = new Walk(fileSystem, caller.deadlineNs())) {
                return new Outcome<>(work.run(caller, walk), 0);
            } catch (FsException e) {
                return new Outcome<>(null, e.errno().number());
            } catch (Throwable unexpected) {
                log.error("a call for {} failed unexpectedly", caller, unexpected);
                return new Outcome<>(null, Errno.EIO.number());
            }
        }

        private void undo(T value) {
            try {
                takeBack.accept(value);
            } catch (RuntimeException | Error e) {
                log.error("taking back what was done too late for {} failed", caller, e);
            }
        }

        String stack() {
            StringBuilder text = new StringBuilder();
            Thread working = thread;
            if (working != null) {
                for (StackTraceElement element : working.getStackTrace()) {
                    text.append("\n\tat ").append(element);
                }
            }
            return text.toString();
        }
    }
}
