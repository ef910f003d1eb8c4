package org.globalfs.multicast.runtime;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.globalfs.protocol.Invariant;
import org.jctools.queues.SpscArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that hands one ring's decided instances to its learner, in order. The event loop never
 * waits for it: what does not fit the queue is read back from the log.
 */
final class Delivery {
    private static final Logger log = LoggerFactory.getLogger(Delivery.class);
    private static final int QUEUED_INSTANCES = 1024;
    private static final long QUEUED_BYTES = 32 << 20;
    private static final long CLOSE_TIMEOUT_MS = 20_000;
    private static final int READ_BYTES = 1 << 20;
    private static final long NOT_BEHIND = -1;

    /** What the delivery reports, from its thread. */
    interface Listener {
        /** The learner took over a checkpoint through this instance. */
        void checkpointInstalled(long instance, long lastTimestamp);
    }

    private final int ring;
    private final Learner learner;
    private final MulticastLog mlog;
    private final Listener listener;
    private final Thread thread;
    private final SpscArrayQueue<Decision> queue = new SpscArrayQueue<>(QUEUED_INSTANCES);
    private final AtomicLong queuedBytes = new AtomicLong();

    /** Every instance through this one is decided and readable from the log, unless trimmed. */
    private volatile long readable;

    private volatile long firstAvailableElsewhere = NOT_BEHIND;
    private volatile boolean closed;
    private volatile boolean waiting;
    private volatile long delivered;
    private long next;

    Delivery(
            int node,
            int ring,
            Learner learner,
            MulticastLog mlog,
            long decided,
            Listener listener,
            FatalStop stop) {
        this.ring = ring;
        this.learner = learner;
        this.mlog = mlog;
        this.listener = listener;
        this.readable = decided;
        this.delivered = learner.applied();
        this.next = delivered + 1;
        this.thread =
                new Thread(
                        () -> {
                            try {
                                run();
                            } catch (Throwable e) {
                                stop.fatal("delivery of ring " + ring, e);
                            }
                        },
                        "deliver-" + node + "-ring-" + ring);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Highest instance that the learner executed. */
    long delivered() {
        return delivered;
    }

    /** Loop: the next decided instance. */
    void offer(Decision decision) {
        int bytes = decision.batch().sizeBytes();
        if (queuedBytes.get() + bytes <= QUEUED_BYTES && queue.offer(decision)) {
            queuedBytes.addAndGet(bytes);
            wake();
        }
    }

    /** Loop: the log can be read through here; comes after the instance was offered. */
    void readable(long instance) {
        if (instance > readable) {
            readable = instance;
            wake();
        }
    }

    /** Loop: no peer has what follows the decided prefix, only from this instance on. */
    void behind(long firstAvailable) {
        firstAvailableElsewhere = firstAvailable;
        wake();
    }

    private void wake() {
        if (waiting) {
            waiting = false;
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        while (!closed) {
            if (firstAvailableElsewhere != NOT_BEHIND) {
                long first = firstAvailableElsewhere;
                firstAvailableElsewhere = NOT_BEHIND;
                takeOverCheckpoint(first);
                continue;
            }
            long known = readable;
            Decision decision = queue.poll();
            if (decision != null) {
                queuedBytes.addAndGet(-decision.batch().sizeBytes());
                deliver(decision);
            } else if (known >= next) {
                // Polled empty after the instance became readable: it did not fit the queue.
                deliverFromLog(known);
            } else {
                await();
            }
        }
    }

    private void await() {
        waiting = true;
        if (!closed
                && queue.isEmpty()
                && readable < next
                && firstAvailableElsewhere == NOT_BEHIND) {
            LockSupport.park(this);
        }
        waiting = false;
    }

    private void deliver(Decision decision) {
        while (decision.instance() > next && !closed) {
            if (readable >= next) {
                deliverFromLog(Math.min(readable, decision.instance() - 1));
            } else {
                waiting = true;
                if (readable < next && !closed) {
                    LockSupport.park(this);
                }
                waiting = false;
            }
        }
        if (decision.instance() == next && !closed) {
            learner.deliver(next, decision.batch().entries());
            delivered = next++;
        }
    }

    private void deliverFromLog(long through) {
        List<StoredRecord> records = mlog.read(ring, next, through, READ_BYTES);
        if (records.isEmpty()) {
            long first = mlog.firstAvailable(ring);
            Invariant.check(
                    first > next,
                    "instance %s of ring %s is decided, but not in the log",
                    next,
                    ring);
            takeOverCheckpoint(first);
            return;
        }
        for (StoredRecord record : records) {
            if (closed) {
                return;
            }
            learner.deliver(next, LogCodec.batch(record).entries());
            delivered = next++;
        }
    }

    private void takeOverCheckpoint(long firstAvailable) {
        if (learner.applied() < firstAvailable - 1) {
            log.info(
                    "ring {}: the state ends at {}, the log begins at {}: a checkpoint is needed",
                    ring,
                    delivered,
                    firstAvailable);
        }
        while (learner.applied() < firstAvailable - 1 && !closed) {
            learner.behind(firstAvailable);
        }
        if (closed) {
            return;
        }
        delivered = learner.applied();
        next = delivered + 1;
        listener.checkpointInstalled(delivered, learner.lastTimestamp());
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
            log.error("the learner of ring {} does not return from what it does", ring);
        }
    }
}
