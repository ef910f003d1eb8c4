package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Group commit: of the threads that wait for their writes to be on disk one syncs for all.
 *
 * <p>A failed sync is final: the kernel may have dropped the unwritten pages and would report
 * success the next time, so everything that waits, and everything later, fails too.
 */
final class GroupSync {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition synced = lock.newCondition();
    private Set<SegmentFile> dirty = new LinkedHashSet<>();
    private long written;
    private long durable;
    private boolean syncing;
    private volatile @Nullable IOException failure;

    /** Notes a completed write; the ticket is what {@link #await} takes. */
    long wrote(SegmentFile file) {
        lock.lock();
        try {
            dirty.add(file);
            return ++written;
        } finally {
            lock.unlock();
        }
    }

    /** The ticket of the last completed write. */
    long latest() {
        lock.lock();
        try {
            return written;
        } finally {
            lock.unlock();
        }
    }

    /** A deleted segment's file needs no sync any more. */
    void forget(SegmentFile file) {
        lock.lock();
        try {
            dirty.remove(file);
        } finally {
            lock.unlock();
        }
    }

    @Nullable IOException failure() {
        return failure;
    }

    /** Fails where every later write does, also when none waits. */
    void checkWorks() throws IOException {
        IOException failed = failure;
        if (failed != null) {
            throw new IOException("disk failed: " + failed.getMessage(), failed);
        }
    }

    /** Makes every later write fail: the disk gave an error. False: they do already. */
    boolean fail(IOException cause) {
        lock.lock();
        try {
            if (failure != null) {
                return false;
            }
            failure = cause;
            synced.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns once the write with this ticket, and all before it, are on disk. */
    void await(long ticket) throws IOException {
        lock.lock();
        try {
            while (durable < ticket) {
                checkWorks();
                if (syncing) {
                    synced.awaitUninterruptibly();
                } else {
                    lead();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void lead() {
        List<SegmentFile> files = new ArrayList<>(dirty);
        dirty = new LinkedHashSet<>();
        long through = written;
        syncing = true;
        IOException failed = null;
        boolean done = false;
        lock.unlock();
        try {
            for (SegmentFile file : files) {
                file.sync();
            }
            done = true;
        } catch (IOException e) {
            failed = e;
        } catch (RuntimeException | Error e) {
            failed = new IOException("a sync was broken off", e);
            throw e;
        } finally {
            lock.lock();
            syncing = false;
            if (done) {
                durable = Math.max(durable, through);
            } else if (failure == null) {
                failure = failed;
            }
            synced.signalAll();
        }
    }
}
