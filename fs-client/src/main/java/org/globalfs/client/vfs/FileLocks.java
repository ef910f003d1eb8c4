package org.globalfs.client.vfs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Inodes;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.meta.SessionLease;
import org.globalfs.client.vfs.OpenFiles.Handle;
import org.globalfs.client.vfs.OpenFiles.OpenInode;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.GetLockOp;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks that programs of this client take, which the replicas keep.
 *
 * <p>Kept here is only who may hold locks of which file, through which handle: to end them when the
 * handle does. Before a lock is dropped what was written is committed, and after one was taken no
 * old content is left in the kernel: whoever locks sees what was written under the lock before.
 *
 * <p>When the session's lease in a partition runs out, all locks there are lost: their handles
 * answer EIO until they are closed, and the replicas refuse what was still to be committed.
 */
final class FileLocks {

    private static final Logger LOG = LoggerFactory.getLogger(FileLocks.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int POLL_MS = 8_000;
    private static final Duration POLL_PATIENCE = Duration.ofSeconds(12);
    private static final long SHORTEST_POLL_NS = 1_000_000_000L;
    private static final Duration CLEAN_UP = Duration.ofMinutes(10);
    private static final Duration RELEASE_PATIENCE = Duration.ofSeconds(10);
    private static final long CANCEL_NS = 10_000_000_000L;
    private static final long RELEASE_WAIT_MS = 2_000;

    private final Requests requests;
    private final MetadataClient client;
    private final KernelPages pages;
    private final PageGrants grants;
    private final OpenFiles files;
    private final SessionLease lease;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Set<Holder>> holders = new HashMap<>();
    private final ConcurrentMap<Long, CountDownLatch> releasing = new ConcurrentHashMap<>();
    private volatile @Nullable KernelCache kernel;
    private volatile boolean closed;

    /** Somebody who may hold locks of a file, through a handle. */
    private record Holder(LockKind kind, long owner, long handle) {}

    /** A request that waits. {@code cancelled}: what the replicas said of its cancellation. */
    private static final class Wait {
        final long number;
        private @Nullable LockState cancelled;
        private boolean abandoned;

        Wait(long number) {
            this.number = number;
        }

        /** True: nobody waits for the lock, and it was granted. */
        synchronized boolean cancelled(LockState state) {
            cancelled = state;
            return abandoned && state == LockState.GRANTED;
        }

        /** Nobody waits any more; false: it is known to be granted. */
        synchronized boolean abandon() {
            abandoned = cancelled != LockState.GRANTED;
            return abandoned;
        }
    }

    FileLocks(
            Requests requests,
            OpenFiles files,
            KernelPages pages,
            PageGrants grants,
            SessionLease lease) {
        this.requests = requests;
        this.client = requests.client();
        this.files = files;
        this.pages = pages;
        this.grants = grants;
        this.lease = lease;
        lease.onLapse(this::lapsed);
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
    }

    void close() {
        closed = true;
    }

    // ---------------------------------------------------------------- lock, unlock, test

    void lock(Caller caller, long ino, long handle, LockRequest request, boolean wait)
            throws FsException {
        Handle open = files.usable(handle);
        if (request.type() != LockRequest.Type.WRITE && open.content().hasPending()) {
            // What was written under the lock is there for the next one who takes it.
            open.content().flush();
        }
        if (request.type() == LockRequest.Type.UNLOCK) {
            unlock(ino, wire(request), requests.patience(caller));
            return;
        }
        int partition = Inodes.partition(ino);
        if (!lease.ensure(partition, requests.patience(caller))) {
            throw FsException.of(caller.cancelled() ? Errno.EINTR : Errno.EIO);
        }
        boolean first = remember(ino, holder(request, handle));
        try {
            acquire(caller, ino, wire(request), wait);
        } catch (FsException e) {
            if (first && e.errno() == Errno.EAGAIN) {
                forget(ino, holder(request, handle));
            }
            throw e;
        }
        files.usable(handle);
        grants.settle(ino);
    }

    private static FileLock wire(LockRequest request) {
        return new FileLock(
                request.owner(),
                request.pid(),
                request.flock() ? LockKind.FLOCK : LockKind.POSIX,
                switch (request.type()) {
                    case READ -> LockType.READ;
                    case WRITE -> LockType.WRITE;
                    case UNLOCK -> LockType.UNLOCK;
                },
                request.first(),
                request.last());
    }

    private static Holder holder(LockRequest request, long handle) {
        LockKind kind = request.flock() ? LockKind.FLOCK : LockKind.POSIX;
        return new Holder(kind, request.owner(), handle);
    }

    LockRequest test(Caller caller, long ino, LockRequest request) throws FsException {
        int partition = Inodes.partition(ino);
        ReadOp op = ReadOp.getLock(new GetLockOp(ino).setLock(wire(request)));
        Answer<ReadReply> answer =
                client.readNewest(
                        partition, Requests.credentials(caller), op, requests.patience(caller));
        Requests.check(answer.reply().getErrno());
        FileLock found = answer.reply().getLock();
        if (found == null) {
            return new LockRequest(
                    request.owner(),
                    request.flock(),
                    LockRequest.Type.UNLOCK,
                    request.first(),
                    request.last(),
                    0);
        }
        return new LockRequest(
                found.getOwner(),
                found.getKind() == LockKind.FLOCK,
                found.getType() == LockType.WRITE ? LockRequest.Type.WRITE : LockRequest.Type.READ,
                found.getFirst(),
                found.getLast(),
                found.getSession() == client.session().id() ? found.getPid() : 0);
    }

    private void unlock(long ino, FileLock lock, Patience patience) throws FsException {
        FileLock whole = lock.deepCopy().setType(LockType.UNLOCK);
        LockOp op = new LockOp(ino).setLock(whole);
        Requests.check(send(ino, op, patience).reply().getErrno());
    }

    private Answer<UpdateReply> send(long ino, LockOp op, Patience patience) {
        int partition = Inodes.partition(ino);
        List<Long> known = lease.takeKnown(partition);
        if (!known.isEmpty()) {
            op.setKnown(known);
        }
        Answer<UpdateReply> answer = client.update(partition, SYSTEM, UpdateOp.lock(op), patience);
        if (!answer.answered()) {
            lease.giveBackKnown(partition, known);
        }
        return answer;
    }

    private void acquire(Caller caller, long ino, FileLock lock, boolean wait) throws FsException {
        CountDownLatch closing = wait ? null : releasing.get(ino);
        Wait number = new Wait(numbers.incrementAndGet());
        LockOp op = new LockOp(ino).setLock(lock);
        if (wait) {
            op.setRequest(number.number);
        }
        Answer<UpdateReply> answer = send(ino, op, requests.patience(caller));
        UpdateReply reply = answer.reply();
        if (!answer.answered()) {
            cleanUp(ino, lock, number, true);
            throw FsException.of(caller.cancelled() ? Errno.EINTR : Errno.EIO);
        }
        if (reply.getErrno() == Errno.EAGAIN.number() && !wait) {
            retryAfterRelease(ino, lock, closing, requests.patience(caller));
            return;
        }
        Requests.check(reply.getErrno());
        if (reply.getLockState() == LockState.WAITING) {
            await(caller, ino, lock, number);
        }
    }

    /**
     * close(2) does not wait until an open file's locks are dropped. A program that closed one and
     * then tries to lock another expects them to be.
     */
    private void retryAfterRelease(
            long ino, FileLock lock, @Nullable CountDownLatch before, Patience patience)
            throws FsException {
        CountDownLatch closing = before == null ? releasing.get(ino) : before;
        if (closing == null) {
            throw FsException.of(Errno.EAGAIN);
        }
        try {
            var _ = closing.await(RELEASE_WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Answer<UpdateReply> answer = send(ino, new LockOp(ino).setLock(lock), patience);
        Requests.check(answer.reply().getErrno());
    }

    // ---------------------------------------------------------------- waiting

    /** Returns once the lock is granted. */
    private void await(Caller caller, long ino, FileLock lock, Wait wait) throws FsException {
        caller.whenCancelled(() -> cleanUp(ino, lock, wait, false));
        int partition = Inodes.partition(ino);
        ReadOp op = ReadOp.getLock(new GetLockOp(ino).setRequest(wait.number));
        long cancelledNs = 0;
        while (true) {
            long askedNs = System.nanoTime();
            Answer<ReadReply> answer =
                    client.readLater(partition, SYSTEM, op, POLL_MS, Patience.of(POLL_PATIENCE));
            LockState state =
                    answer.answered() && answer.reply().getErrno() == 0
                            ? answer.reply().getLockState()
                            : null;
            if (state == LockState.GRANTED) {
                lease.know(partition, wait.number);
                return;
            }
            if (state == LockState.GONE) {
                throw FsException.of(caller.cancelled() ? Errno.EINTR : Errno.EIO);
            }
            long nowNs = System.nanoTime();
            if (caller.cancelled() && cancelledNs == 0) {
                cancelledNs = nowNs;
            }
            boolean cutOff = closed || !lease.runs(partition);
            boolean enough = cancelledNs != 0 && nowNs - cancelledNs > CANCEL_NS;
            if (cutOff || enough) {
                if (!wait.abandon()) {
                    lease.know(partition, wait.number);
                    return;
                }
                if (!caller.cancelled()) {
                    cleanUp(ino, lock, wait, false);
                }
                throw FsException.of(caller.cancelled() ? Errno.EINTR : Errno.EIO);
            }
            // A replica that does not wait itself is not asked more than once a second.
            LockSupport.parkNanos(Math.max(1, SHORTEST_POLL_NS - (nowNs - askedNs)));
        }
    }

    /**
     * Cancels a request, in the background and for as long as it takes; gives the lock back when it
     * was granted to nobody.
     *
     * @param unsure it may have been granted at once, which leaves nothing to cancel
     */
    private void cleanUp(long ino, FileLock lock, Wait wait, boolean unsure) {
        if (unsure) {
            wait.abandon();
        }
        Thread.ofVirtual()
                .name("unlock-" + wait.number)
                .start(() -> {
                    LockOp op = new LockOp(ino).setCancel(wait.number);
                    Answer<UpdateReply> answer = send(ino, op, untilClosed());
                    LockState state = answer.reply().getLockState();
                    boolean granted = answer.answered() && state != null && wait.cancelled(state);
                    if (granted || unsure) {
                        lease.know(Inodes.partition(ino), wait.number);
                        try {
                            unlock(ino, lock, untilClosed());
                        } catch (FsException e) {
                            LOG.warn("a lock of inode {} cannot be given back", ino, e);
                        }
                    }
                });
    }

    // ---------------------------------------------------------------- who holds what

    private boolean remember(long ino, Holder holder) {
        synchronized (holders) {
            return holders.computeIfAbsent(ino, key -> new LinkedHashSet<>()).add(holder);
        }
    }

    private void forget(long ino, Holder holder) {
        synchronized (holders) {
            Set<Holder> known = holders.get(ino);
            if (known != null && known.remove(holder) && known.isEmpty()) {
                holders.remove(ino);
            }
        }
    }

    /** close(2) of a descriptor of the file by this owner: its fcntl(2) locks end. */
    void flushed(Caller caller, long ino, long owner) throws FsException {
        List<Holder> ended = new ArrayList<>();
        synchronized (holders) {
            for (Holder holder : holders.getOrDefault(ino, Set.of())) {
                if (holder.kind == LockKind.POSIX && holder.owner == owner) {
                    ended.add(holder);
                }
            }
        }
        if (!ended.isEmpty()) {
            try {
                dropAll(ino, ended.getFirst(), requests.patience(caller));
            } finally {
                ended.forEach(holder -> forget(ino, holder));
            }
        }
    }

    /** Drops all locks of an owner; in the background when nobody answers by now. */
    private void dropAll(long ino, Holder holder, Patience patience) throws FsException {
        FileLock all =
                new FileLock(holder.owner, 0, holder.kind, LockType.UNLOCK, 0, Long.MAX_VALUE);
        Answer<UpdateReply> answer = send(ino, new LockOp(ino).setLock(all), patience);
        if (!answer.answered()) {
            Thread.ofVirtual()
                    .name("unlock-" + holder.handle)
                    .start(() -> send(ino, new LockOp(ino).setLock(all), untilClosed()));
        }
        Requests.check(answer.reply().getErrno());
    }

    /** As long as a lease can be: then there is nothing left to clean up. */
    private Patience untilClosed() {
        Patience limit = Patience.of(CLEAN_UP);
        return new Patience() {
            @Override
            public long deadlineNs() {
                return limit.deadlineNs();
            }

            @Override
            public boolean cancelled() {
                return closed;
            }
        };
    }

    /** The handle's last descriptor is closed: every lock taken through it ends. */
    void released(long ino, long handle) {
        Set<Holder> ended = new LinkedHashSet<>();
        CountDownLatch done = new CountDownLatch(1);
        synchronized (holders) {
            for (Holder holder : holders.getOrDefault(ino, Set.of())) {
                if (holder.handle == handle) {
                    ended.add(holder);
                }
            }
            if (ended.isEmpty()) {
                return;
            }
            releasing.put(ino, done);
        }
        try {
            for (Holder holder : ended) {
                try {
                    dropAll(ino, holder, Patience.of(RELEASE_PATIENCE));
                } catch (FsException e) {
                    LOG.warn("locks of inode {} are not dropped yet: {}", ino, e.errno());
                } finally {
                    forget(ino, holder);
                }
            }
        } finally {
            releasing.remove(ino, done);
            done.countDown();
        }
    }

    // ---------------------------------------------------------------- the lease's end

    private void lapsed(int partition) {
        Map<Long, Set<Holder>> lost = new HashMap<>();
        synchronized (holders) {
            holders.forEach((ino, known) -> {
                if (Inodes.partition(ino) == partition) {
                    lost.put(ino, Set.copyOf(known));
                }
            });
        }
        if (lost.isEmpty()) {
            return;
        }
        lost.forEach((ino, known) -> known.forEach(holder -> lose(ino, holder)));
        LOG.warn(
                "partition {}: the locks of {} files are lost with the session's lease; what they"
                        + " were taken through answers EIO until it is closed",
                partition,
                lost.size());
        Set<Long> inodes = new TreeSet<>(lost.keySet());
        Thread.ofVirtual().name("lost-locks-" + partition).start(() -> settle(partition, inodes));
    }

    private void lose(long ino, Holder holder) {
        Handle handle = files.known(holder.handle);
        if (handle != null) {
            handle.loseLock();
        }
        KernelCache mounted = kernel;
        if (mounted != null) {
            pages.forget(ino);
            mounted.invalidateInode(ino, 0, 0);
        }
    }

    /** Lets what was written before be refused, then has the replicas accept again. */
    private void settle(int partition, Set<Long> inodes) {
        for (long ino : inodes) {
            OpenInode open = files.find(ino);
            if (open != null && open.content.hasPending()) {
                open.content.flush();
            }
        }
        Patience patience = untilClosed();
        while (!closed && !lease.renew(partition, inodes, patience) && !patience.over()) {
            LOG.info("partition {} is still not reached", partition);
        }
    }
}
