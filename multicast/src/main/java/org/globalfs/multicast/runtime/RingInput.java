package org.globalfs.multicast.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.globalfs.protocol.Invariant;
import org.jctools.queues.SpscArrayQueue;

/**
 * One ring's decided instances on their way from the event loop to a delivery thread. The loop
 * never waits: what does not fit the queue is read back from the log.
 */
final class RingInput {
    private static final int QUEUED_INSTANCES = 1024;
    private static final long QUEUED_BYTES = 32 << 20;
    private static final int READ_BYTES = 1 << 20;
    private static final long NOT_BEHIND = -1;

    final int ring;
    private final MulticastLog mlog;
    private final SpscArrayQueue<Decision> queue = new SpscArrayQueue<>(QUEUED_INSTANCES);
    private final AtomicLong queuedBytes = new AtomicLong();
    private Runnable wake = () -> {};

    /** The loop's: the last instance that the queue took, and whether it refused one before. */
    private long queuedThrough;

    private boolean refused;

    /** Every instance through this one is decided and readable from the log, unless trimmed. */
    private volatile long readable;

    private volatile long newestSkip;
    private volatile long firstAvailableElsewhere = NOT_BEHIND;
    private volatile long delivered;

    RingInput(int ring, MulticastLog mlog, long decided, long delivered) {
        this.ring = ring;
        this.mlog = mlog;
        this.readable = decided;
        this.delivered = delivered;
    }

    /** Before the threads start: tells the delivery thread of news. */
    void onNews(Runnable waker) {
        wake = waker;
    }

    /** Any thread: highest instance that the learner executed. */
    long delivered() {
        return delivered;
    }

    // ---- the loop

    /** The next decided instance. */
    void offer(Decision decision) {
        List<Entry> entries = decision.batch().entries();
        if (!entries.isEmpty() && entries.getLast() instanceof Entry.Skip skip) {
            newestSkip = skip.position();
        }
        int bytes = decision.batch().sizeBytes();
        if (queuedBytes.get() + bytes <= QUEUED_BYTES && queue.offer(decision)) {
            queuedBytes.addAndGet(bytes);
            queuedThrough = decision.instance();
            wake.run();
        } else {
            refused = true;
        }
    }

    /** The log can be read through here; comes after the instance was offered. */
    void readable(long instance) {
        if (instance <= readable) {
            return;
        }
        readable = instance;
        // What the queue took was news then; waking the thread for it again would cost a switch.
        if (refused || instance > queuedThrough) {
            refused = false;
            wake.run();
        }
    }

    /** No peer has what follows the decided prefix, only from this instance on. */
    void behind(long firstAvailable) {
        firstAvailableElsewhere = firstAvailable;
        wake.run();
    }

    // ---- the delivery thread

    /** The ring's logical position is at least this. */
    long newestSkip() {
        return newestSkip;
    }

    /** What {@link #behind} was last told, once; -1 if nothing. */
    long takeBehind() {
        long first = firstAvailableElsewhere;
        if (first != NOT_BEHIND) {
            firstAvailableElsewhere = NOT_BEHIND;
        }
        return first;
    }

    boolean isBehind() {
        return firstAvailableElsewhere != NOT_BEHIND;
    }

    /** Whether {@link #take} or {@link #takeBehind} has something. */
    boolean hasNews(long next) {
        Decision head = queue.peek();
        return isBehind() || readable >= next || head != null && head.instance() <= next;
    }

    /**
     * Decided instances from this one on, without gap; none when it is not known yet, or when the
     * log begins later, which {@link #takeBehind} then tells.
     */
    List<Decision> take(long next) {
        long known = readable;
        Decision head = queue.peek();
        while (head != null && head.instance() < next) {
            drop(head);
            head = queue.peek();
        }
        if (head != null && head.instance() == next) {
            drop(head);
            return List.of(head);
        }
        // The queue was looked at after the instance became readable: it did not fit.
        return known >= next ? fromLog(next, known) : List.of();
    }

    private void drop(Decision head) {
        queuedBytes.addAndGet(-head.batch().sizeBytes());
        queue.poll();
    }

    private List<Decision> fromLog(long next, long through) {
        List<StoredRecord> records = mlog.read(ring, next, through, READ_BYTES);
        if (records.isEmpty()) {
            long first = mlog.firstAvailable(ring);
            Invariant.check(
                    first > next,
                    "instance %s of ring %s is decided, but not in the log",
                    next,
                    ring);
            firstAvailableElsewhere = first;
            return List.of();
        }
        List<Decision> decisions = new ArrayList<>(records.size());
        for (StoredRecord record : records) {
            decisions.add(new Decision(next + decisions.size(), LogCodec.batch(record)));
        }
        return decisions;
    }

    /** Forgets what came of a ring that nobody follows. */
    void discard() {
        for (Decision head = queue.peek(); head != null; head = queue.peek()) {
            drop(head);
        }
        delivered = readable;
    }

    void delivered(long instance) {
        delivered = instance;
    }
}
