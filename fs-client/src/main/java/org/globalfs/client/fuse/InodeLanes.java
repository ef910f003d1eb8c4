package org.globalfs.client.fuse;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks of inodes: those of one inode in order, and those of others though one takes long.
 *
 * <p>What is sent to the kernel waits there for pages that are being read or written, as long as a
 * request may take. One thread at a time has the <i>turn</i>: it runs the task of the inode that
 * waits longest, and the next. When it has been at one for {@link #PATIENCE_MS}, another thread
 * takes the turn: while tasks are ready one of those that wait watches for that, and who takes the
 * turn and leaves none waiting begins one. Who comes back without the turn waits too, or ends where
 * {@link #SPARE} do already.
 *
 * <p>While {@link #MAX_THREADS} are held up, each by another inode, further ones wait for the first
 * that is let go.
 */
final class InodeLanes {
    private static final Logger log = LoggerFactory.getLogger(InodeLanes.class);
    private static final int MAX_THREADS = 256;
    private static final int SPARE = 2;
    private static final long PATIENCE_MS = 10;
    private static final long END_MS = 2_000;

    private final String name;
    private final FailureNews shortages = new FailureNews();
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Inodes with tasks that wait or run. */
    private final Map<Long, Lane> lanes = new HashMap<>();

    /** Those of them of which no task runs. */
    private final ArrayDeque<Lane> ready = new ArrayDeque<>();

    private int threads;
    private int waiting;
    private long turn;
    private boolean running;
    private long runningSinceNs;
    private boolean watched;
    private boolean closed;

    private record Lane(long ino, ArrayDeque<Runnable> tasks) {}

    InodeLanes(String name) {
        this.name = name;
    }

    synchronized void start() {
        startThread();
    }

    /** No more tasks are taken; waits a little for those that there are. */
    void end() throws InterruptedException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        if (!ended.await(END_MS, TimeUnit.MILLISECONDS)) {
            log.debug("{} goes on", name);
        }
    }

    synchronized void add(long ino, Runnable task) {
        if (closed) {
            return;
        }
        Lane lane = lanes.get(ino);
        if (lane == null) {
            lane = new Lane(ino, new ArrayDeque<>());
            lanes.put(ino, lane);
            ready.add(lane);
            if (!watched) {
                notify();
            }
        }
        lane.tasks.add(task);
    }

    /** Runs the task, which must not wait, once all of the inode added before have run. */
    void after(long ino, Runnable task) {
        synchronized (this) {
            Lane lane = lanes.get(ino);
            if (lane != null) {
                lane.tasks.add(task);
                return;
            }
        }
        task.run();
    }

    private void startThread() {
        threads++;
        boolean begun = false;
        try {
            Thread.ofPlatform().name(name).daemon().start(this::work);
            begun = true;
        } finally {
            threads -= begun ? 0 : 1;
        }
    }

    private void work() {
        try {
            while (workOnce()) {
                // and again
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            synchronized (this) {
                if (--threads == 0 && closed) {
                    ended.countDown();
                }
            }
        }
    }

    private boolean workOnce() throws InterruptedException {
        Lane lane;
        Runnable task;
        long mine;
        synchronized (this) {
            if (!awaitTurn()) {
                return false;
            }
            lane = ready.remove();
            task = lane.tasks.remove();
            mine = ++turn;
            running = true;
            runningSinceNs = System.nanoTime();
            letAnotherWatch();
        }
        try {
            task.run();
        } finally {
            synchronized (this) {
                running = running && turn != mine;
                if (lane.tasks.isEmpty()) {
                    lanes.remove(lane.ino);
                } else {
                    ready.add(lane);
                }
            }
        }
        return true;
    }

    /** False: this thread is not needed any more. */
    private synchronized boolean awaitTurn() throws InterruptedException {
        while (true) {
            long leftNs =
                    !running
                            ? 0
                            : runningSinceNs
                                    + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS)
                                    - System.nanoTime();
            if (!ready.isEmpty() && leftNs <= 0) {
                return true;
            }
            boolean watches = !ready.isEmpty() && !watched;
            if (!watches && (closed || waiting >= SPARE)) {
                return false;
            }
            watched |= watches;
            waiting++;
            try {
                wait(watches ? TimeUnit.NANOSECONDS.toMillis(leftNs) + 1 : 0);
            } finally {
                waiting--;
                watched &= !watches;
            }
        }
    }

    private void letAnotherWatch() {
        if (waiting > 0) {
            if (!ready.isEmpty() && !watched) {
                notify();
            }
        } else if (threads < MAX_THREADS && !closed) {
            try {
                startThread();
            } catch (OutOfMemoryError e) {
                if (shortages.of(e, System.nanoTime())) {
                    log.warn(
                            "no further thread could be begun: what the kernel is to drop of one file"
                                    + " may wait for a slow read of another. {}",
                            Threads.remedy());
                }
            }
        }
    }
}
