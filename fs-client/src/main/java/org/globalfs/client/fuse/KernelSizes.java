package org.globalfs.client.fuse;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.globalfs.client.vfs.KernelCache;
import org.jspecify.annotations.Nullable;

/**
 * Has the kernel believe sizes of files, though something is taken back from it all the while.
 *
 * <p>The kernel numbers what happens to an inode's attributes, and drops an answer that was asked
 * for before the newest of it; an INVAL_INODE is such an event, whatever it takes back. Who reads a
 * growing file through the kernel's pages then gets what lay within the size before, however long
 * ago another client's write was acknowledged. So for some time after an invalidation a size is
 * told not only by the answer but by a NOTIFY_STORE as well, which makes the file longer at once. A
 * file that became shorter needs none: the answer to the READ says so.
 *
 * <p>What is stored is the file's last byte, and none comes along: the kernel makes the file longer
 * if it has it shorter, then finds nothing to copy and leaves the page as it was (EFAULT). A byte
 * would go into the page whatever that holds, and a program of this mount may just have written
 * there through a mapping, which nobody but the kernel knows of.
 *
 * <p>A store must not bring back a size that an invalidation takes away. An invalidation is counted
 * before it is sent; a store is begun when the count is what it was before the attributes were
 * asked for; and who sends an invalidation waits between counting and sending for the store that is
 * under way.
 *
 * <p>Nor a size that this mount cut off. A truncation counts likewise, once it is committed, and is
 * answered when the store that is under way is through: then the kernel goes by the answer. It
 * waits for that for a second at most. A store begins with the size and can only be waiting for a
 * page after so long, and whoever has that may be waiting for the truncation to be answered.
 *
 * <p>Inodes share counters, by hash: that costs a question more now and then, and nothing else. A
 * store may wait for a page that is being read, so one of another inode is not waited for.
 */
final class KernelSizes {

    /** Sends a NOTIFY_STORE that makes the file this long, if it is shorter. */
    interface Store {
        void send(long ino, long size);
    }

    /** Longer than a question is on its way from the kernel. */
    private static final long DOUBT_NS = TimeUnit.SECONDS.toNanos(10);

    private static final long TRUNCATION_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final int SLOTS = 256;

    private final Slot[] slots = new Slot[SLOTS];

    private final long truncationWaitNs;

    KernelSizes() {
        this(TRUNCATION_WAIT_NS);
    }

    /** {@code truncationWaitNs}: how long a truncation waits for a store at most. */
    KernelSizes(long truncationWaitNs) {
        this.truncationWaitNs = truncationWaitNs;
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = new Slot();
        }
    }

    private static final class Slot {
        /** Invalidations and truncations. */
        private long changes;

        private boolean everSent;
        private long unsent;
        private long lastNs;
        private long ino;
        private long size;

        /** Inodes of which a store is under way. */
        private final Set<Long> storing = new HashSet<>();

        synchronized void invalidated() {
            changes++;
            unsent++;
            ino = 0;
        }

        synchronized void sent() {
            unsent--;
            everSent = true;
            lastNs = System.nanoTime();
        }

        synchronized void shortened(long inode, long waitNs) {
            changes++;
            if (ino == inode) {
                ino = 0;
            }
            awaitStored(inode, waitNs);
        }

        /** The count of changes; 0: there was no invalidation lately. */
        synchronized long recent() {
            boolean lately = everSent && System.nanoTime() - lastNs < DOUBT_NS;
            return unsent > 0 || lately ? changes : 0;
        }

        /** False: something was taken back, or cut off, since there were that many changes. */
        synchronized boolean beginStore(long inode, long count) {
            awaitStored(inode, Long.MAX_VALUE);
            return changes == count && storing.add(inode);
        }

        synchronized boolean isStoring(long inode) {
            return storing.contains(inode);
        }

        synchronized void endStore(long inode) {
            storing.remove(inode);
            notifyAll();
        }

        synchronized void awaitStored(long inode, long atMostNs) {
            long beganNs = System.nanoTime();
            boolean interrupted = false;
            while (storing.contains(inode)) {
                long leftNs = atMostNs - (System.nanoTime() - beganNs);
                if (leftNs <= 0) {
                    break;
                }
                try {
                    // Never 0, which is for ever.
                    wait(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        synchronized boolean covers(long inode, long atLeast, long count) {
            return changes == count && ino == inode && size >= atLeast;
        }

        synchronized void stored(long inode, long newSize, long count) {
            if (changes == count) {
                ino = inode;
                size = newSize;
            }
        }
    }

    private Slot slot(long ino) {
        return slots[Long.hashCode(ino * 0x9E3779B97F4A7C15L) >>> 24];
    }

    /** Before an invalidation of the inode is queued. */
    void invalidated(long ino) {
        slot(ino).invalidated();
    }

    /** Right before it is sent: sizes read before it are with the kernel, or will never be. */
    void awaitStored(long ino) {
        slot(ino).awaitStored(ino, Long.MAX_VALUE);
    }

    /** Right after it was sent. */
    void sent(long ino) {
        slot(ino).sent();
    }

    /** Between a truncation and the answer to it: sizes asked for before are not told any more. */
    void shortened(long ino) {
        slot(ino).shortened(ino, truncationWaitNs);
    }

    boolean isStoring(long ino) {
        return slot(ino).isStoring(ino);
    }

    KernelCache.@Nullable Doubt doubt(long ino, Store store) {
        Slot slot = slot(ino);
        long count = slot.recent();
        return count == 0 ? null : new Unsettled(ino, slot, count, store);
    }

    private record Unsettled(long ino, Slot slot, long count, Store store)
            implements KernelCache.Doubt {
        @Override
        public boolean covers(long size) {
            return slot.covers(ino, size, count);
        }

        @Override
        public boolean lengthen(long size) {
            if (!slot.beginStore(ino, count)) {
                return false;
            }
            try {
                store.send(ino, size);
                slot.stored(ino, size, count);
            } finally {
                slot.endStore(ino);
            }
            return true;
        }
    }
}
