package org.globalfs.client.fuse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.globalfs.client.vfs.KernelCache;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends invalidations to the kernel: those of names in order, by one thread, and those of each
 * inode in order, see {@link InodeLanes}. Nothing relies on an order among different inodes, or
 * between names and inodes.
 *
 * <p>The kernel runs a notification inside the write(2) that brings it, and waits there:
 * INVAL_INODE for pages that are being read or written, INVAL_ENTRY and DELETE for the directory's
 * lock, which every request that changes a name in it holds until it is answered. So a notification
 * from a thread that answers requests can wait for itself. Two mounts can even wait for each other:
 * A creates a name, its coordinator recalls B's names of that directory, B creates there too and
 * cannot drop them before A is through. Where the kernel can (7.44), {@link #await} therefore does
 * not wait for a directory's lock: it lets all names of the mount be looked up again instead, which
 * takes no lock. The kernel drops each name then before it looks it up, and unmounts whatever is
 * mounted on or below it: while there is such a mount this is not done.
 *
 * <p>An answer under way must not bring back what an invalidation takes away. {@link #issued}
 * counts invalidations; a worker whose answer was begun at another count sends it with nothing to
 * remember, and an invalidation is sent only once all workers are through that looked at the count
 * before it: a worker first says that it is answering, then looks at the count; here the count is
 * raised first, then the workers are looked at.
 */
final class FuseKernelCache implements KernelCache {
    private static final Logger log = LoggerFactory.getLogger(FuseKernelCache.class);
    private static final int NAME_MAX = 255;
    private static final int EPOCH_MINOR = 44;
    private static final long NO_CONTENT = -1;

    /** How long a name's invalidation may take before all names are let go instead. */
    private static final long NAMES_PATIENCE_MS = 10;

    /** Longer than any lease, which the kernel believes no name beyond. */
    private static final long BELIEVED_NS = TimeUnit.SECONDS.toNanos(60);

    private static final long LONGEST_PARK_NS = 100_000_000;

    private final FuseDevice device;
    private final Supplier<List<Worker>> workers;
    private final boolean epochs;
    private final Submounts submounts;
    private final boolean mapsDirectFiles;
    private final int entryFlags;
    private final AtomicLong issued = new AtomicLong();
    private final KernelSizes sizes = new KernelSizes();
    private final InodeLanes inodes;
    private final NameLane names;
    private final Sender atOnce = new Sender();
    private final ThreadLocal<Sender> senders = ThreadLocal.withInitial(Sender::new);
    private volatile boolean ended;

    FuseKernelCache(
            FuseDevice device,
            String name,
            InitNegotiation.Agreement agreement,
            Submounts submounts,
            Supplier<List<Worker>> workers) {
        this.device = device;
        this.submounts = submounts;
        this.workers = workers;
        epochs = agreement.minor() >= EPOCH_MINOR;
        mapsDirectFiles = (agreement.flags() & FuseFlags.DIRECT_IO_ALLOW_MMAP) != 0;
        entryFlags = agreement.expiresEntries() ? FuseFlags.EXPIRE_ONLY : 0;
        inodes = new InodeLanes("fuse-inodes-" + name);
        names = new NameLane("fuse-names-" + name, NameLane.MOST, new AllNames());
    }

    void start() {
        inodes.start();
        names.start();
    }

    /** No more notices reach the kernel; waits a little for those under way. */
    void end() throws InterruptedException {
        synchronized (atOnce) {
            // The session outlives the mount, and the device's number may soon be another file's.
            ended = true;
        }
        inodes.end();
        names.end();
    }

    /** How many invalidations there have been. */
    long issued() {
        return issued.get();
    }

    @Override
    public void invalidateInode(long ino, long offset, long length) {
        sizes.invalidated(ino);
        issued.incrementAndGet();
        inodes.add(ino, () -> send(new InodeNotice(ino, offset, length)));
    }

    private void send(InodeNotice notice) {
        if (!ended) {
            sizes.awaitStored(notice.ino());
            check(senders.get().send(notice));
            sizes.sent(notice.ino());
        }
    }

    @Override
    public @Nullable Doubt doubt(long ino) {
        Doubt doubt = sizes.doubt(ino, this::lengthen);
        return doubt == null ? null : new AwaitedDoubt(doubt);
    }

    /** A store waits for a page that is being read. */
    private final class AwaitedDoubt implements Doubt {
        private final Doubt doubt;

        AwaitedDoubt(Doubt doubt) {
            this.doubt = doubt;
        }

        @Override
        public boolean covers(long size) {
            return doubt.covers(size);
        }

        @Override
        public boolean lengthen(long size) {
            return awaitKernel(() -> doubt.lengthen(size));
        }
    }

    @Override
    public void shortened(long ino) {
        sizes.shortened(ino);
    }

    @Override
    public boolean isStoring(long ino) {
        return sizes.isStoring(ino);
    }

    private void lengthen(long ino, long size) {
        if (!ended) {
            long result = senders.get().writeShort(new StoreNotice(ino, size - 1));
            check(result == -Errno.EFAULT.number() ? 0 : result);
        }
    }

    @Override
    public void invalidateEntry(long parent, byte[] name) {
        invalidateEntry(parent, name, entryFlags, true);
    }

    @Override
    public void entryMoved(long parent, byte[] name) {
        // That it is looked up again would come too late.
        invalidateEntry(parent, name, 0, false);
    }

    private void invalidateEntry(long parent, byte[] name, int flags, boolean isForgettable) {
        if (!possible(name)) {
            return;
        }
        issued.incrementAndGet();
        EntryNotice notice = new EntryNotice(parent, name, flags);
        names.add(
                () -> {
                    if (!ended) {
                        check(senders.get().send(notice));
                    }
                },
                isForgettable);
    }

    private static boolean possible(byte[] name) {
        return name.length > 0 && name.length <= NAME_MAX;
    }

    @Override
    public boolean await(Collection<Long> changed, long timeoutMs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        CountDownLatch namesReached = names.barrier();
        CountDownLatch inodesReached = new CountDownLatch(changed.size());
        changed.forEach(ino -> inodes.after(ino, inodesReached::countDown));
        long patience = forgetsAtOnce() ? Math.min(NAMES_PATIENCE_MS, timeoutMs) : timeoutMs;
        return (namesReached.await(patience, TimeUnit.MILLISECONDS)
                        || forgetAllNames()
                        || namesReached.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS))
                && inodesReached.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean awaitInode(long ino, long timeoutMs) throws InterruptedException {
        CountDownLatch reached = new CountDownLatch(1);
        inodes.after(ino, reached::countDown);
        if (reached.getCount() == 0) {
            return true;
        }
        return awaitKernel(() -> reached.await(timeoutMs, TimeUnit.MILLISECONDS));
    }

    private <X extends Exception> boolean awaitKernel(Worker.KernelWait<X> wait) throws X {
        // It may be waiting for a request that nobody has read yet.
        for (Worker worker : workers.get()) {
            if (worker.isCurrentThread()) {
                return worker.awaitKernel(wait);
            }
        }
        return wait.run();
    }

    @Override
    public void afterInode(long ino, Runnable then) {
        inodes.after(ino, then);
    }

    @Override
    public void afterAnswer(Runnable then) {
        for (Worker worker : workers.get()) {
            if (worker.isCurrentThread()) {
                worker.afterAnswer(then);
                return;
            }
        }
        then.run();
    }

    @Override
    public boolean mapsDirectFiles() {
        return mapsDirectFiles;
    }

    @Override
    public boolean forgetsAtOnce() {
        return epochs && !submounts.present();
    }

    @Override
    public void forgetNow(Collection<Long> told, long believedNs) {
        long until = System.nanoTime() + believedNs;
        told.forEach(sizes::invalidated);
        issued.incrementAndGet();
        boolean mayForget = !submounts.look();
        synchronized (atOnce) {
            if (ended) {
                return;
            }
            if (mayForget) {
                check(atOnce.send(NEW_EPOCH));
            }
            for (long ino : told) {
                check(atOnce.send(new InodeNotice(ino, NO_CONTENT, 0)));
                sizes.sent(ino);
            }
        }
        if (!mayForget) {
            parkUntil(until);
        }
    }

    /** Also when it is interrupted: who asked is answered only once the kernel believes no more. */
    private void parkUntil(long untilNs) {
        boolean interrupted = false;
        while (!ended && untilNs - System.nanoTime() > 0) {
            LockSupport.parkNanos(Math.min(LONGEST_PARK_NS, untilNs - System.nanoTime()));
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Every name is looked up again at its next use; false: that cannot be had. */
    private boolean forgetAllNames() {
        if (!epochs || submounts.look()) {
            return false;
        }
        synchronized (atOnce) {
            return ended || atOnce.send(NEW_EPOCH) >= 0;
        }
    }

    /** What stands for names that too many had to be told of. */
    private final class AllNames implements NameLane.Names {
        @Override
        public boolean canForget() {
            return forgetsAtOnce() && !submounts.look();
        }

        @Override
        public void forget() {
            if (!forgetAllNames()) {
                // Something was mounted in the tree since.
                parkUntil(System.nanoTime() + BELIEVED_NS);
            }
        }
    }

    private void check(long result) {
        if (result >= 0 || ended) {
            return;
        }
        switch (Errno.of((int) -result)) {
            // nothing of it is cached; or the mount is being removed; or the name is a
            // directory in use, or a mountpoint
            case ENOENT, ENODEV, ENOTCONN, ECONNABORTED, ENOTEMPTY, EBUSY, ENOTDIR -> {}
            default -> log.warn("the kernel refused an invalidation: {}", Errno.of((int) -result));
        }
    }

    /** What is told the kernel. */
    private interface Notice {
        int code();

        /** Writes the body and returns its size. */
        int put(ByteBuffer out, int at);
    }

    private record InodeNotice(long ino, long offset, long length) implements Notice {
        @Override
        public int code() {
            return FuseFlags.NOTIFY_INVAL_INODE;
        }

        @Override
        public int put(ByteBuffer out, int at) {
            out.putLong(at + FuseLayout.NotifyInvalInodeOut.INO, ino);
            out.putLong(at + FuseLayout.NotifyInvalInodeOut.OFF, offset);
            out.putLong(at + FuseLayout.NotifyInvalInodeOut.LEN, length);
            return FuseLayout.NotifyInvalInodeOut.SIZE_OF;
        }
    }

    private record EntryNotice(long parent, byte[] name, int flags) implements Notice {
        @Override
        public int code() {
            return FuseFlags.NOTIFY_INVAL_ENTRY;
        }

        @Override
        public int put(ByteBuffer out, int at) {
            int size = FuseLayout.NotifyInvalEntryOut.SIZE_OF;
            out.putLong(at + FuseLayout.NotifyInvalEntryOut.PARENT, parent);
            out.putInt(at + FuseLayout.NotifyInvalEntryOut.NAMELEN, name.length);
            out.putInt(at + FuseLayout.NotifyInvalEntryOut.FLAGS, flags);
            out.put(at + size, name);
            out.put(at + size + name.length, (byte) 0);
            return size + name.length + 1;
        }
    }

    /** Of one byte, which is not there. */
    private record StoreNotice(long ino, long offset) implements Notice {
        @Override
        public int code() {
            return FuseFlags.NOTIFY_STORE;
        }

        @Override
        public int put(ByteBuffer out, int at) {
            out.putLong(at + FuseLayout.NotifyStoreOut.NODEID, ino);
            out.putLong(at + FuseLayout.NotifyStoreOut.OFFSET, offset);
            out.putInt(at + FuseLayout.NotifyStoreOut.SIZE, 1);
            out.putInt(at + FuseLayout.NotifyStoreOut.SIZE + 4, 0);
            return FuseLayout.NotifyStoreOut.SIZE_OF;
        }
    }

    private static final Notice NEW_EPOCH =
            new Notice() {
                @Override
                public int code() {
                    return FuseFlags.NOTIFY_INC_EPOCH;
                }

                @Override
                public int put(ByteBuffer out, int at) {
                    return 0;
                }
            };

    /** Memory to make a notification in; used by one thread. */
    private final class Sender {
        private final MemorySegment memory = Arena.ofAuto().allocate(4096);
        private final ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
        private final MemorySegment vectors = Arena.ofAuto().allocate(32, 8);
        private final MemorySegment errnoState = Libc.newState();

        long send(Notice notice) {
            for (Worker worker : workers.get()) {
                worker.awaitAnswered();
            }
            return write(notice);
        }

        /** Without waiting for answers under way. */
        long write(Notice notice) {
            return Libc.write(device.fd(), memory.address(), put(notice, 0), errnoState);
        }

        /** Likewise, of a notice whose last byte is missing. */
        long writeShort(Notice notice) {
            return Libc.writeShort(
                    device.fd(), memory.address(), put(notice, 1) - 1, 1, vectors, errnoState);
        }

        /** Returns the size, with that of what is not there. */
        private int put(Notice notice, int missing) {
            int there =
                    FuseLayout.OutHeader.SIZE_OF + notice.put(bytes, FuseLayout.OutHeader.SIZE_OF);
            bytes.putInt(FuseLayout.OutHeader.LEN, there + missing);
            bytes.putInt(FuseLayout.OutHeader.ERROR, notice.code());
            bytes.putLong(FuseLayout.OutHeader.UNIQUE, 0);
            return there + missing;
        }
    }
}
