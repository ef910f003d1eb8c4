package org.globalfs.client.vfs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.meta.SessionLease;
import org.globalfs.client.vfs.OpenFiles.Handle;
import org.globalfs.client.vfs.OpenFiles.OpenInode;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Invariant;
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
 * <p>The replicas know an owner by a number of ours. The kernel's is given to the next open file as
 * soon as the last close has returned, which is before the locks are dropped: that drop must not
 * meet what the next owner has taken meanwhile.
 *
 * <p>When the session's lease in a partition runs out, all locks there are lost: their handles
 * answer EIO until they are closed, and the replicas refuse what was still to be committed, until
 * they hear that nothing of that is under way any more. They are told so of each file in which they
 * may have found a lock: also of those where ours was dropped, as long as they may not have heard
 * of that, or may have ended the lease before without our knowledge. Nobody locks such a file anew
 * before: what is written under that lock would be taken for settled.
 */
final class FileLocks {

    private static final Logger LOG = LoggerFactory.getLogger(FileLocks.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int POLL_MS = 8_000;
    private static final Duration POLL_PATIENCE = Duration.ofSeconds(12);
    private static final long SHORTEST_POLL_NS = 1_000_000_000L;
    private static final Duration RELEASE_PATIENCE = Duration.ofSeconds(10);
    private static final long CANCEL_NS = 10_000_000_000L;
    private static final long RELEASE_WAIT_MS = 2_000;
    private static final long NOBODY = 0;
    private static final long CLEANED_POLL_NS = 2_000_000;
    private static final long SETTLE_PAUSE_NS = 500_000_000;

    private final Requests requests;
    private final MetadataClient client;
    private final KernelPages pages;
    private final PageGrants grants;
    private final OpenFiles files;
    private final SessionLease lease;
    private final AtomicLong waits = new AtomicLong();
    private final AtomicLong owners = new AtomicLong();

    /** By inode, each with how many of its requests were not refused. */
    private final Map<Long, Map<Holder, Integer>> holders = new HashMap<>();

    /** Guarded by {@link #holders}. */
    private final Map<Owner, Numbered> numbers = new HashMap<>();

    /** By inode, how many owners' locks are being dropped. Guarded by {@link #holders}. */
    private final Map<Long, Integer> dropping = new HashMap<>();

    /**
     * By partition and inode, when the dropping of locks was last answered, the earliest first;
     * until a later renewal is answered. Guarded by {@link #holders}.
     */
    private final Map<Integer, LinkedHashMap<Long, Long>> dropped = new HashMap<>();

    /** By inode, how many lapses it is to be settled after. */
    private final ConcurrentMap<Long, Integer> unsettled = new ConcurrentHashMap<>();

    /**
     * By inode, what ends when the locks of a closed handle have been dropped. Guarded by {@link
     * #holders}.
     */
    private final Map<Long, Set<CountDownLatch>> releasing = new HashMap<>();

    /** Ends when what is told in the background about locks of this owner has been answered. */
    private final ConcurrentMap<InBackground, CompletableFuture<Void>> cleaning =
            new ConcurrentHashMap<>();

    private volatile @Nullable KernelCache kernel;
    private volatile boolean closed;

    /**
     * Somebody who may hold locks of a file, through a handle.
     *
     * @param owner the kernel's number
     * @param number the replicas': the same for all that have the same owner at a time
     */
    private record Holder(LockKind kind, long owner, long handle, long number) {}

    private record InBackground(long ino, long number) {}

    /** Whom the kernel names, with a number of its. */
    private record Owner(LockKind kind, long owner) {}

    /**
     * An owner's number at the replicas, one for all its files, by which they find deadlocks; in
     * how many places it is remembered, and how many of its requests are under way.
     */
    private static final class Numbered {
        final long number;
        private int places;
        private int asking;

        Numbered(long number) {
            this.number = number;
        }
    }

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
        if (request.type() != LockRequest.Type.WRITE) {
            commit(ino);
        }
        if (request.type() == LockRequest.Type.UNLOCK) {
            unlock(ino, wire(request, number(request)), requests.patience(caller));
            return;
        }
        ensureLease(caller, requests.home(ino));
        Holder holder = remember(ino, request, handle);
        try {
            acquireAtHome(caller, ino, wire(request, holder.number), wait);
        } catch (FsException e) {
            if (e.errno() == Errno.EAGAIN) {
                refused(ino, holder);
            }
            throw e;
        } finally {
            asked(request);
        }
        files.usable(handle);
        grants.settle(ino);
    }

    /** What was written under a lock is there for the next one who takes it. */
    private void commit(long ino) {
        OpenInode open = files.find(ino);
        if (open != null && open.content.hasPending()) {
            open.content.flush();
        }
    }

    private void ensureLease(Caller caller, int partition) throws FsException {
        if (!lease.ensure(partition, requests.patience(caller))) {
            throw FsException.of(caller.cancelled() ? Errno.EINTR : Errno.EIO);
        }
    }

    /** Where nobody knows of the session's lease nobody gives it a lock. */
    private void acquireAtHome(Caller caller, long ino, FileLock lock, boolean wait)
            throws FsException {
        while (true) {
            int partition = requests.home(ino);
            ensureLease(caller, partition);
            awaitThat(() -> !unsettled.containsKey(ino), requests.patience(caller));
            try {
                acquire(caller, ino, lock, wait);
                return;
            } catch (FsException e) {
                boolean moved = e.errno() == Errno.ENOLCK && requests.home(ino) != partition;
                if (!moved) {
                    throw e;
                }
            }
        }
    }

    private static FileLock wire(LockRequest request, long number) {
        return new FileLock(
                number,
                request.pid(),
                kind(request),
                switch (request.type()) {
                    case READ -> LockType.READ;
                    case WRITE -> LockType.WRITE;
                    case UNLOCK -> LockType.UNLOCK;
                },
                request.first(),
                request.last());
    }

    private static LockKind kind(LockRequest request) {
        return request.flock() ? LockKind.FLOCK : LockKind.POSIX;
    }

    LockRequest test(Caller caller, long ino, LockRequest request) throws FsException {
        Set<CountDownLatch> closing = releasing(ino);
        FileLock found = find(caller, ino, request);
        if (found != null
                && found.getSession() == client.session().id()
                && awaitReleased(ino, closing)) {
            found = find(caller, ino, request);
        }
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

    private @Nullable FileLock find(Caller caller, long ino, LockRequest request)
            throws FsException {
        int partition = requests.home(ino);
        ReadOp op = ReadOp.getLock(new GetLockOp(ino).setLock(wire(request, number(request))));
        Answer<ReadReply> answer =
                client.readNewest(
                        partition, Requests.credentials(caller), op, requests.patience(caller));
        Requests.check(answer.reply().getErrno());
        return answer.reply().getLock();
    }

    private void unlock(long ino, FileLock lock, Patience patience) throws FsException {
        FileLock whole = lock.deepCopy().setType(LockType.UNLOCK);
        LockOp op = new LockOp(ino).setLock(whole);
        Requests.check(send(ino, op, patience).reply().getErrno());
    }

    private Answer<UpdateReply> send(long ino, LockOp op, Patience patience) {
        int partition = requests.home(ino);
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
        // Who is killed need not stay for an answer that may take as long as others hold the lock.
        // One that comes at once is stayed for: to give up would be to drop what the owner had
        // locked before, and others may share it.
        Patience patience = requests.patience(caller);
        if (!wait) {
            patience = Patience.until(patience.deadlineNs());
        }
        awaitCleaned(ino, lock.getOwner(), patience);
        Set<CountDownLatch> closing = wait ? Set.of() : releasing(ino);
        Wait number = new Wait(waits.incrementAndGet());
        LockOp op = new LockOp(ino).setLock(lock);
        if (wait) {
            op.setRequest(number.number);
        }
        Answer<UpdateReply> answer = send(ino, op, patience);
        if (!wait
                && answer.answered()
                && answer.reply().getErrno() == Errno.EAGAIN.number()
                && awaitReleased(ino, closing)) {
            answer = send(ino, new LockOp(ino).setLock(lock), patience);
        }
        UpdateReply reply = answer.reply();
        if (!answer.answered()) {
            cleanUp(ino, lock, number, true);
            throw FsException.of(patience.cancelled() ? Errno.EINTR : Errno.EIO);
        }
        Requests.check(reply.getErrno());
        if (reply.getLockState() == LockState.WAITING) {
            await(caller, ino, lock, number);
        }
    }

    private Set<CountDownLatch> releasing(long ino) {
        synchronized (holders) {
            return new HashSet<>(releasing.getOrDefault(ino, Set.of()));
        }
    }

    /**
     * close(2) does not wait until an open file's locks are dropped. A program that closed one and
     * then tries to lock another, or asks whether it could, expects them to be.
     *
     * @param before were being dropped before it was tried
     * @return false: none are or were, so it is of no use to try again
     */
    private boolean awaitReleased(long ino, Set<CountDownLatch> before) {
        Set<CountDownLatch> closing = releasing(ino);
        closing.addAll(before);
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RELEASE_WAIT_MS);
        try {
            for (CountDownLatch done : closing) {
                var _ = done.await(untilNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !closing.isEmpty();
    }

    // ---------------------------------------------------------------- waiting

    /** Returns once the lock is granted. */
    private void await(Caller caller, long ino, FileLock lock, Wait wait) throws FsException {
        caller.whenInterrupted(() -> cleanUp(ino, lock, wait, false));
        int partition = requests.home(ino);
        ReadOp op = ReadOp.getLock(new GetLockOp(ino).setRequest(wait.number));
        long interruptedNs = 0;
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
                throw FsException.of(caller.interrupted() ? Errno.EINTR : Errno.EIO);
            }
            long nowNs = System.nanoTime();
            if (caller.interrupted() && interruptedNs == 0) {
                interruptedNs = nowNs;
            }
            boolean cutOff = closed || !lease.runs(partition);
            boolean enough = interruptedNs != 0 && nowNs - interruptedNs > CANCEL_NS;
            if (cutOff || enough) {
                if (!wait.abandon()) {
                    lease.know(partition, wait.number);
                    return;
                }
                if (!caller.interrupted()) {
                    cleanUp(ino, lock, wait, false);
                }
                throw FsException.of(caller.interrupted() ? Errno.EINTR : Errno.EIO);
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
        inBackground(ino, lock.getOwner(), () -> giveUp(ino, lock, wait, unsure));
    }

    private void inBackground(long ino, long number, Runnable task) {
        InBackground key = new InBackground(ino, number);
        CompletableFuture<Void> cleaned = new CompletableFuture<>();
        cleaning.merge(key, cleaned, CompletableFuture::allOf);
        Thread.ofVirtual()
                .name("unlock-" + number)
                .start(() -> {
                    try {
                        task.run();
                    } finally {
                        cleaned.complete(null);
                        cleaning.computeIfPresent(key, (same, all) -> all.isDone() ? null : all);
                    }
                });
    }

    private void giveUp(long ino, FileLock lock, Wait wait, boolean unsure) {
        UpdateReply reply = sendUntilAnswered(ino, new LockOp(ino).setCancel(wait.number));
        LockState state = reply == null ? null : reply.getLockState();
        boolean granted = state != null && wait.cancelled(state);
        if (granted || unsure) {
            lease.know(requests.home(ino), wait.number);
            FileLock whole = lock.deepCopy().setType(LockType.UNLOCK);
            UpdateReply unlocked = sendUntilAnswered(ino, new LockOp(ino).setLock(whole));
            if (unlocked != null && unlocked.getErrno() != 0) {
                LOG.warn(
                        "a lock of inode {} cannot be given back: {}",
                        ino,
                        Errno.of(unlocked.getErrno()));
            }
        }
    }

    /**
     * For as long as the mount lives; null: it has ended. Each attempt is an update of its own:
     * replicas keep what they have answered the session since the first that is under way.
     */
    private @Nullable UpdateReply sendUntilAnswered(long ino, LockOp op) {
        while (!closed) {
            Answer<UpdateReply> answer = send(ino, op, attempt());
            if (answer.answered()) {
                return answer.reply();
            }
        }
        return null;
    }

    private Patience attempt() {
        long untilNs = System.nanoTime() + lease.interval().toNanos();
        return Patience.until(untilNs, () -> closed);
    }

    /**
     * A program that was interrupted asks again at once: what it gets must not fall to the
     * unlocking of what it asked for before.
     */
    private void awaitCleaned(long ino, long number, Patience patience) throws FsException {
        CompletableFuture<Void> before = cleaning.get(new InBackground(ino, number));
        if (before != null) {
            awaitThat(before::isDone, patience);
        }
    }

    private static void awaitThat(BooleanSupplier done, Patience patience) throws FsException {
        while (!done.getAsBoolean()) {
            if (patience.over()) {
                throw FsException.of(patience.cancelled() ? Errno.EINTR : Errno.EIO);
            }
            LockSupport.parkNanos(CLEANED_POLL_NS);
        }
    }

    // ---------------------------------------------------------------- who holds what

    private Holder remember(long ino, LockRequest request, long handle) {
        synchronized (holders) {
            Owner owner = new Owner(kind(request), request.owner());
            Numbered numbered =
                    numbers.computeIfAbsent(owner, key -> new Numbered(owners.incrementAndGet()));
            Holder holder = new Holder(owner.kind, owner.owner, handle, numbered.number);
            Map<Holder, Integer> known = holders.computeIfAbsent(ino, key -> new LinkedHashMap<>());
            if (known.merge(holder, 1, Integer::sum) == 1) {
                numbered.places++;
            }
            numbered.asking++;
            return holder;
        }
    }

    /** By which the replicas know the owner; {@link #NOBODY}: it holds nothing. */
    private long number(LockRequest request) {
        synchronized (holders) {
            Numbered numbered = numbers.get(new Owner(kind(request), request.owner()));
            return numbered == null ? NOBODY : numbered.number;
        }
    }

    private List<Holder> known(long ino) {
        synchronized (holders) {
            return List.copyOf(holders.getOrDefault(ino, Map.of()).keySet());
        }
    }

    private void refused(long ino, Holder holder) {
        synchronized (holders) {
            Map<Holder, Integer> known = holders.get(ino);
            int requests = known == null ? 0 : known.getOrDefault(holder, 0);
            if (known != null && requests > 1) {
                known.put(holder, requests - 1);
            } else {
                forget(ino, holder);
            }
        }
    }

    private void forget(long ino, Holder holder) {
        synchronized (holders) {
            Map<Holder, Integer> known = holders.get(ino);
            if (known == null || known.remove(holder) == null) {
                return;
            }
            if (known.isEmpty()) {
                holders.remove(ino);
            }
            Owner owner = new Owner(holder.kind, holder.owner);
            Numbered numbered = numbers.get(owner);
            Invariant.check(numbered != null, "an owner without a number");
            numbered.places--;
            forgetIdle(owner, numbered);
        }
    }

    private void asked(LockRequest request) {
        synchronized (holders) {
            Owner owner = new Owner(kind(request), request.owner());
            Numbered numbered = numbers.get(owner);
            Invariant.check(numbered != null, "an owner without a number");
            numbered.asking--;
            forgetIdle(owner, numbered);
        }
    }

    private void forgetIdle(Owner owner, Numbered numbered) {
        if (numbered.places == 0 && numbered.asking == 0) {
            numbers.remove(owner);
        }
    }

    private boolean isAsking(Holder holder) {
        synchronized (holders) {
            Numbered numbered = numbers.get(new Owner(holder.kind, holder.owner));
            return numbered != null && numbered.asking > 0;
        }
    }

    /** close(2) of a descriptor of the file by this owner: its fcntl(2) locks end. */
    void flushed(Caller caller, long ino, long owner) throws FsException {
        List<Holder> ended = new ArrayList<>();
        for (Holder holder : known(ino)) {
            if (holder.kind == LockKind.POSIX && holder.owner == owner) {
                ended.add(holder);
            }
        }
        if (!ended.isEmpty()) {
            // Through another handle than the one that is closed, which may be a reader's.
            commit(ino);
            beginToDrop(ino, 1);
            try {
                dropAll(ino, ended.getFirst(), requests.patience(caller));
            } finally {
                // What another thread of the owner is granted from now on is to be found.
                ended.stream()
                        .filter(holder -> !isAsking(holder))
                        .forEach(holder -> forget(ino, holder));
            }
        }
    }

    private void beginToDrop(long ino, int owners) {
        synchronized (holders) {
            dropping.merge(ino, owners, Integer::sum);
        }
    }

    /** The replicas know of no lock of the owner any more. */
    private void hasDropped(long ino) {
        int partition = requests.home(ino);
        synchronized (holders) {
            dropping.computeIfPresent(ino, (key, owners) -> owners == 1 ? null : owners - 1);
            LinkedHashMap<Long, Long> recent =
                    dropped.computeIfAbsent(partition, key -> new LinkedHashMap<>());
            Iterator<Long> answers = recent.values().iterator();
            while (answers.hasNext() && lease.renewedSince(partition, answers.next())) {
                answers.remove();
            }
            recent.remove(ino);
            recent.put(ino, System.nanoTime());
        }
    }

    /**
     * Drops all locks of an owner; in the background when nobody answers by now. To be announced
     * before, by {@link #beginToDrop}.
     */
    private void dropAll(long ino, Holder holder, Patience patience) throws FsException {
        FileLock all =
                new FileLock(holder.number, 0, holder.kind, LockType.UNLOCK, 0, Long.MAX_VALUE);
        Answer<UpdateReply> answer = send(ino, new LockOp(ino).setLock(all), patience);
        if (answer.answered()) {
            hasDropped(ino);
        } else {
            inBackground(
                    ino,
                    holder.number,
                    () -> {
                        if (sendUntilAnswered(ino, new LockOp(ino).setLock(all)) != null) {
                            hasDropped(ino);
                        }
                    });
        }
        Requests.check(answer.reply().getErrno());
    }

    /**
     * The handle's last descriptor is closed: every lock taken through it ends, unless its owner
     * has since locked through another handle. Then the kernel has said what of the owner's ends,
     * or the owner's number is another's by now, who was given these locks as his own.
     */
    void released(long ino, long handle) {
        Set<Holder> ended = new LinkedHashSet<>();
        CountDownLatch done = new CountDownLatch(1);
        synchronized (holders) {
            for (Holder holder : known(ino)) {
                if (holder.handle == handle) {
                    forget(ino, holder);
                    ended.add(holder);
                }
            }
            for (Holder other : known(ino)) {
                ended.removeIf(holder -> holder.number == other.number);
            }
            if (ended.isEmpty()) {
                return;
            }
            beginToDrop(ino, ended.size());
            releasing.computeIfAbsent(ino, key -> new HashSet<>()).add(done);
        }
        try {
            commit(ino);
            for (Holder holder : ended) {
                try {
                    dropAll(ino, holder, Patience.of(RELEASE_PATIENCE));
                } catch (FsException e) {
                    LOG.warn("locks of inode {} are not dropped yet: {}", ino, e.errno());
                }
            }
        } finally {
            synchronized (holders) {
                releasing.computeIfPresent(
                        ino, (key, all) -> all.remove(done) && all.isEmpty() ? null : all);
            }
            done.countDown();
        }
    }

    // ---------------------------------------------------------------- the lease's end

    private void lapsed(int partition) {
        Map<Long, Set<Holder>> lost = new HashMap<>();
        Set<Long> inodes = new TreeSet<>();
        synchronized (holders) {
            holders.forEach((ino, known) -> {
                if (requests.home(ino) == partition) {
                    lost.put(ino, Set.copyOf(known.keySet()));
                }
            });
            inodes.addAll(lost.keySet());
            dropping.keySet().stream()
                    .filter(ino -> requests.home(ino) == partition)
                    .forEach(inodes::add);
            LinkedHashMap<Long, Long> recent = dropped.remove(partition);
            if (recent != null) {
                inodes.addAll(recent.keySet());
            }
            inodes.forEach(ino -> unsettled.merge(ino, 1, Integer::sum));
        }
        lost.forEach((ino, known) -> known.forEach(holder -> lose(ino, holder)));
        if (!lost.isEmpty()) {
            LOG.warn(
                    "partition {}: the locks of {} files are lost with the session's lease; what"
                            + " they were taken through answers EIO until it is closed",
                    partition,
                    lost.size());
        }
        if (!inodes.isEmpty()) {
            Thread.ofVirtual()
                    .name("lost-locks-" + partition)
                    .start(() -> settle(partition, inodes));
        }
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
        try {
            for (long ino : inodes) {
                commit(ino);
            }
            while (!closed && !lease.renew(partition, inodes, attempt())) {
                LockSupport.parkNanos(SETTLE_PAUSE_NS);
            }
        } finally {
            inodes.forEach(ino ->
                    unsettled.computeIfPresent(ino, (key, left) -> left == 1 ? null : left - 1));
        }
    }
}
