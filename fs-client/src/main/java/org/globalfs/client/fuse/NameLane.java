package org.globalfs.client.fuse;

import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Tells the kernel of names, in order, on a thread of its own. Thread-safe.
 *
 * <p>The notice of a name waits in the kernel for the lock of its directory, which a request holds
 * for as long as it may take; the mount goes on meanwhile, and has further names to tell of. When
 * {@code most} wait, they are let go, and the kernel is made to forget all names in their place
 * before anything else is told, where it can be.
 */
final class NameLane {
    /** Each takes some 150 bytes. */
    static final int MOST = 50_000;

    private static final long END_MS = 2_000;

    private final int most;
    private final Names names;
    private final Thread thread;
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();

    /** How many of the queue may be let go. */
    private int forgettable;

    private boolean ended;

    /** Nothing that is added would be told any more. */
    private boolean over;

    /** All names of the mount. */
    interface Names {
        /** Whether the kernel can be made to forget them now. Asked with the lane's lock held. */
        boolean canForget();

        /** On the lane's thread, for all that was let go. */
        void forget();
    }

    private record Entry(Runnable task, boolean isForgettable) {}

    /**
     * @param most how many may wait that forgetting all names can stand for
     */
    NameLane(String name, int most, Names names) {
        this.most = most;
        this.names = names;
        thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /**
     * @param notice tells the kernel of a name; may wait
     * @param isForgettable whether forgetting all names is as good
     */
    synchronized void add(Runnable notice, boolean isForgettable) {
        if (ended) {
            return;
        }
        if (isForgettable && forgettable >= most && names.canForget()) {
            queue.removeIf(Entry::isForgettable);
            forgettable = 0;
            queue.addFirst(new Entry(names::forget, false));
        }
        queue.add(new Entry(notice, isForgettable));
        forgettable += isForgettable ? 1 : 0;
        notifyAll();
    }

    /** Reached once the kernel was told of everything added before, or will be told of no more. */
    CountDownLatch barrier() {
        CountDownLatch reached = new CountDownLatch(1);
        synchronized (this) {
            if (!over) {
                queue.add(new Entry(reached::countDown, false));
                notifyAll();
                return reached;
            }
        }
        reached.countDown();
        return reached;
    }

    /** Takes no more; waits a little for what there is. */
    void end() throws InterruptedException {
        synchronized (this) {
            ended = true;
            notifyAll();
        }
        thread.join(END_MS);
    }

    private void run() {
        try {
            for (Entry next = take(); next != null; next = take()) {
                next.task.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Null: it has ended, and nothing is left. */
    private synchronized @Nullable Entry take() throws InterruptedException {
        while (queue.isEmpty() && !ended) {
            wait();
        }
        Entry next = queue.poll();
        over = next == null;
        forgettable -= next != null && next.isForgettable ? 1 : 0;
        return next;
    }
}
