package org.globalfs.multicast.runtime;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that hands decided instances to a learner, and sleeps while there are none. */
abstract class DeliveryThread {
    private static final Logger log = LoggerFactory.getLogger(DeliveryThread.class);
    private static final long CLOSE_TIMEOUT_MS = 20_000;

    /** What the delivery reports, from its thread. */
    interface Listener {
        /** The learner took over a checkpoint through this instance. */
        void checkpointInstalled(
                int ring, long instance, long lastTimestamp, @Nullable Membership membership);
    }

    private final String what;
    private final Thread thread;
    private volatile boolean closed;
    private volatile boolean waiting;

    DeliveryThread(int node, String what, FatalStop stop) {
        this.what = what;
        this.thread =
                new Thread(
                        () -> {
                            try {
                                while (!closed) {
                                    turn();
                                }
                            } catch (Throwable e) {
                                stop.fatal("delivery of " + what, e);
                            }
                        },
                        "deliver-" + node + "-" + what.replace(' ', '-'));
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    boolean closed() {
        return closed;
    }

    /** Delivers what there is, or {@link #await}s more. */
    abstract void turn();

    /** Any thread: there is news. */
    final void wake() {
        if (waiting) {
            waiting = false;
            LockSupport.unpark(thread);
        }
    }

    /** Until there is news; at most this long, if it is more than 0. */
    final void await(BooleanSupplier idle, long timeoutNs) {
        waiting = true;
        if (!closed && idle.getAsBoolean()) {
            if (timeoutNs > 0) {
                LockSupport.parkNanos(this, timeoutNs);
            } else {
                LockSupport.park(this);
            }
        }
        waiting = false;
    }

    /**
     * Ends the thread once the learner returns from what it does now; does not wait if called by
     * that thread.
     */
    void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    void join() {
        if (!Threads.join(thread, CLOSE_TIMEOUT_MS)) {
            log.error("the learner of {} does not return from what it does", what);
        }
    }
}
