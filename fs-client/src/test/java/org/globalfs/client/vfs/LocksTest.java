package org.globalfs.client.vfs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.operations.Sessions.Lease;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Locks through the file system interface, between two clients. */
@Timeout(60)
final class LocksTest {

    private static final long OWNER = 77;
    private static final List<Integer> REPLICAS = List.of(1, 2, 3);

    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient west;
    private TestClient east;
    private Open ours;
    private Open theirs;

    @BeforeEach
    void open() throws FsException {
        cluster = new FakeCluster(folder, 1);
        FakeBlockStore blocks = new FakeBlockStore();
        west = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        east = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        long home = west.mkdir(FileSystem.ROOT, "home");
        ours = west.create(home, "file");
        theirs = east.open(ours.ino(), OpenFlags.O_RDWR);
    }

    @AfterEach
    void close() {
        west.close();
        east.close();
        cluster.close();
    }

    private static LockRequest whole(LockRequest.Type type, boolean flock) {
        return new LockRequest(OWNER, flock, type, 0, Long.MAX_VALUE, 4);
    }

    /** The errno, or null. */
    private static @Nullable Errno lock(
            TestClient client,
            Caller caller,
            Open file,
            LockRequest.Type type,
            boolean flock,
            boolean wait) {
        try {
            client.fs.lock(caller, file.ino(), file.handle(), whole(type, flock), wait);
            return null;
        } catch (FsException e) {
            return e.errno();
        }
    }

    private static @Nullable Errno lock(
            TestClient client, Open file, LockRequest.Type type, boolean flock) {
        return lock(client, client.caller(), file, type, flock, false);
    }

    @Test
    void whatIsWrittenUnderALockIsThereWhenItIsDropped() throws FsException {
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
        assertThat(lock(east, theirs, LockRequest.Type.READ, false)).isEqualTo(Errno.EAGAIN);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, true)).isNull();
        west.write(ours, 0, TestClient.bytes("under the lock"));
        assertThat(lock(west, ours, LockRequest.Type.UNLOCK, false)).isNull();
        assertThat(lock(east, theirs, LockRequest.Type.READ, false)).isNull();
        assertThat(east.read(theirs, 0, 100)).isEqualTo(TestClient.bytes("under the lock"));
        LockRequest found =
                west.fs.testLock(
                        west.caller(),
                        ours.ino(),
                        ours.handle(),
                        whole(LockRequest.Type.WRITE, false));
        assertThat(found.type()).isEqualTo(LockRequest.Type.READ);
        assertThat(found.pid()).isZero();
        LockRequest own =
                east.fs.testLock(
                        east.caller(),
                        ours.ino(),
                        theirs.handle(),
                        whole(LockRequest.Type.WRITE, false));
        assertThat(own.type()).isEqualTo(LockRequest.Type.UNLOCK);
    }

    @Test
    void locksEndWithTheOwnersCloseTheHandleAndTheSession() throws FsException {
        lock(west, ours, LockRequest.Type.WRITE, false);
        west.fs.flush(west.caller(), ours.ino(), ours.handle(), OWNER + 1);
        assertThat(lock(east, theirs, LockRequest.Type.READ, false)).isEqualTo(Errno.EAGAIN);
        west.fs.flush(west.caller(), ours.ino(), ours.handle(), OWNER);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, true)).isNull();
        east.fs.flush(east.caller(), theirs.ino(), theirs.handle(), OWNER);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
        assertThat(lock(west, ours, LockRequest.Type.WRITE, true)).isEqualTo(Errno.EAGAIN);
        east.fs.release(theirs.ino(), theirs.handle());
        assertThat(lock(west, ours, LockRequest.Type.WRITE, true)).isNull();
    }

    /** fcntl(2)'s locks of a file end with the first of the owner's descriptors of it. */
    @Test
    void whatIsWrittenUnderALockIsThereWhenAReadersCloseDropsIt() throws FsException {
        Open other = west.open(ours.ino(), OpenFlags.O_RDONLY);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
        west.write(ours, 0, TestClient.bytes("under the lock"));
        west.fs.flush(west.caller(), other.ino(), other.handle(), OWNER);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        assertThat(east.read(theirs, 0, 100)).isEqualTo(TestClient.bytes("under the lock"));
    }

    /** Pages that were mapped are written after the last close(2). */
    @Test
    void whatIsWrittenUnderALockIsThereWhenTheHandlesEndDropsIt() throws FsException {
        Open locked = west.open(ours.ino(), OpenFlags.O_RDWR);
        assertThat(lock(west, locked, LockRequest.Type.WRITE, true)).isNull();
        west.write(locked, 0, TestClient.bytes("under the lock"));
        int before = cluster.executed.size();
        west.fs.release(locked.ino(), locked.handle());
        assertThat(cluster.executed.subList(before, cluster.executed.size()))
                .extracting(command -> command.getOp().getSetField())
                .containsExactly(UpdateOp._Fields.WRITE, UpdateOp._Fields.LOCK);
    }

    /**
     * The kernel gives an owner's number to the next open file before it says that one is closed.
     */
    @Test
    void aLateReleaseLeavesTheLocksOfTheNextOwnerOfItsNumber() throws FsException {
        for (boolean flock : new boolean[] {false, true}) {
            Open before = west.open(ours.ino(), OpenFlags.O_RDWR);
            assertThat(lock(west, before, LockRequest.Type.WRITE, flock)).isNull();
            assertThat(lock(west, before, LockRequest.Type.UNLOCK, flock)).isNull();
            Open next = west.open(ours.ino(), OpenFlags.O_RDWR);
            assertThat(lock(west, next, LockRequest.Type.WRITE, flock)).isNull();
            west.fs.release(before.ino(), before.handle());
            assertThat(lock(east, theirs, LockRequest.Type.WRITE, flock)).isEqualTo(Errno.EAGAIN);
            west.fs.release(next.ino(), next.handle());
            assertThat(lock(east, theirs, LockRequest.Type.WRITE, flock)).isNull();
            assertThat(lock(east, theirs, LockRequest.Type.UNLOCK, flock)).isNull();
        }
    }

    /** close(2) returns before the kernel says that the open file's locks have ended. */
    @Test
    void whoAsksForALockWaitsForTheReleaseOfTheHandleThatHeldIt() throws Exception {
        Open locked = west.open(ours.ino(), OpenFlags.O_RDWR);
        assertThat(lock(west, locked, LockRequest.Type.WRITE, false)).isNull();
        cluster.retries.set(Integer.MAX_VALUE);
        int before = cluster.updates.get();
        Thread closing =
                Thread.startVirtualThread(() -> west.fs.release(locked.ino(), locked.handle()));
        await().until(() -> cluster.updates.get() > before);
        LockRequest other =
                new LockRequest(OWNER + 1, false, LockRequest.Type.WRITE, 0, Long.MAX_VALUE, 4);
        CompletableFuture<LockRequest.Type> asked =
                CompletableFuture.supplyAsync(
                        () -> typeFound(west, ours, other), Thread::startVirtualThread);
        assertThat(typeFound(east, theirs, other)).isEqualTo(LockRequest.Type.WRITE);
        cluster.retries.set(0);
        closing.join();
        assertThat(asked.get(20, TimeUnit.SECONDS)).isEqualTo(LockRequest.Type.UNLOCK);
    }

    private static LockRequest.Type typeFound(TestClient client, Open file, LockRequest request) {
        try {
            return client.fs.testLock(client.caller(), file.ino(), file.handle(), request).type();
        } catch (FsException e) {
            throw new AssertionError(e);
        }
    }

    /** An owner is the same in all its files, and another than before once it holds nothing. */
    @Test
    void aWaitThatWouldNeverEndIsRefused() throws Exception {
        Open ourSecond = west.create(west.mkdir(FileSystem.ROOT, "other"), "file");
        Open theirSecond = east.open(ourSecond.ino(), OpenFlags.O_RDWR);
        for (int round = 0; round < 2; round++) {
            assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
            assertThat(lock(east, theirSecond, LockRequest.Type.WRITE, false)).isNull();
            Caller caller = west.caller();
            long asked = waits();
            CompletableFuture<@Nullable Errno> waiting =
                    CompletableFuture.supplyAsync(
                            () ->
                                    lock(
                                            west,
                                            caller,
                                            ourSecond,
                                            LockRequest.Type.WRITE,
                                            false,
                                            true),
                            Thread::startVirtualThread);
            await().until(() -> waits() > asked);
            assertThat(lock(east, east.caller(), theirs, LockRequest.Type.WRITE, false, true))
                    .isEqualTo(Errno.EDEADLK);
            lock(east, theirSecond, LockRequest.Type.UNLOCK, false);
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isNull();
            for (Open file : new Open[] {ours, ourSecond}) {
                west.fs.flush(west.caller(), file.ino(), file.handle(), OWNER);
            }
            for (Open file : new Open[] {theirs, theirSecond}) {
                east.fs.flush(east.caller(), file.ino(), file.handle(), OWNER);
            }
        }
    }

    /** One thread waits for a lock, another of its process closes the file meanwhile. */
    @Test
    void whatIsGrantedAfterACloseOfItsOwnerCanBeGivenBack() throws Exception {
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        long asked = waits();
        CompletableFuture<@Nullable Errno> waiting =
                CompletableFuture.supplyAsync(
                        () -> lock(west, west.caller(), ours, LockRequest.Type.WRITE, false, true),
                        Thread::startVirtualThread);
        await().until(() -> waits() > asked);
        west.fs.flush(west.caller(), ours.ino(), ours.handle(), OWNER);
        lock(east, theirs, LockRequest.Type.UNLOCK, false);
        assertThat(waiting.get(20, TimeUnit.SECONDS)).isNull();
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isEqualTo(Errno.EAGAIN);
        lock(west, ours, LockRequest.Type.UNLOCK, false);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
    }

    @Test
    void aWaitIsGrantedOrInterrupted() throws Exception {
        lock(west, ours, LockRequest.Type.WRITE, false);
        Caller caller = east.caller();
        CompletableFuture<@Nullable Errno> waiting =
                CompletableFuture.supplyAsync(
                        () -> lock(east, caller, theirs, LockRequest.Type.WRITE, false, true),
                        Thread::startVirtualThread);
        await().until(() -> east.metadata.session().answeredBelow() > 1 && waits() == 1);
        caller.interrupt();
        assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo(Errno.EINTR);
        assertThat(waits()).isZero();
        CompletableFuture<@Nullable Errno> again =
                CompletableFuture.supplyAsync(
                        () ->
                                lock(
                                        east,
                                        east.caller(),
                                        theirs,
                                        LockRequest.Type.WRITE,
                                        false,
                                        true),
                        Thread::startVirtualThread);
        await().until(() -> waits() == 1);
        assertThat(again).isNotDone();
        lock(west, ours, LockRequest.Type.UNLOCK, false);
        assertThat(again.get(20, TimeUnit.SECONDS)).isNull();
    }

    /**
     * A signal ends the waiting for others; an answer, or an unlock, is waited for all the same.
     */
    @Test
    void whoNeedNotWaitIsNotInterrupted() throws Exception {
        assertThat(afterASignal(LockRequest.Type.WRITE)).isNull();
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isEqualTo(Errno.EAGAIN);
        assertThat(afterASignal(LockRequest.Type.UNLOCK)).isNull();
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
    }

    private @Nullable Errno afterASignal(LockRequest.Type type) throws Exception {
        cluster.retries.set(Integer.MAX_VALUE);
        int before = cluster.updates.get();
        Caller caller = east.caller();
        CompletableFuture<@Nullable Errno> asked =
                CompletableFuture.supplyAsync(
                        () -> lock(east, caller, theirs, type, false, true),
                        Thread::startVirtualThread);
        await().until(() -> cluster.updates.get() > before);
        caller.interrupt();
        int after = cluster.updates.get();
        await().until(() -> asked.isDone() || cluster.updates.get() > after);
        cluster.retries.set(0);
        return asked.get(20, TimeUnit.SECONDS);
    }

    /** What it did not get to know the outcome of is unlocked in the background. */
    @Test
    void whatIsAskedForAfterAnInterruptedRequestIsKept() throws Exception {
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        assertThat(lock(east, theirs, LockRequest.Type.UNLOCK, false)).isNull();
        cluster.retries.set(Integer.MAX_VALUE);
        int before = cluster.updates.get();
        Caller caller = east.caller();
        CompletableFuture<@Nullable Errno> interrupted =
                CompletableFuture.supplyAsync(
                        () -> lock(east, caller, theirs, LockRequest.Type.WRITE, false, true),
                        Thread::startVirtualThread);
        await().until(() -> cluster.updates.get() > before);
        caller.cancel();
        assertThat(interrupted.get(20, TimeUnit.SECONDS)).isEqualTo(Errno.EINTR);
        cluster.retries.set(0);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        await().until(() -> unlocks() == 2);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isEqualTo(Errno.EAGAIN);
    }

    private long unlocks() {
        FakeCluster watched = cluster;
        synchronized (watched) {
            return watched.executed.stream()
                    .map(command -> command.getOp())
                    .filter(op -> op.isSetLock() && op.getLock().isSetLock())
                    .filter(op -> op.getLock().getLock().getType() == LockType.UNLOCK)
                    .count();
        }
    }

    private long waits() {
        AtomicLong asked = new AtomicLong();
        FakeCluster watched = cluster;
        synchronized (watched) {
            watched.executed.forEach(command -> {
                UpdateOp op = command.getOp();
                if (op.isSetLock() && op.getLock().isSetRequest()) {
                    asked.incrementAndGet();
                }
                if (op.isSetLock() && op.getLock().isSetCancel()) {
                    asked.decrementAndGet();
                }
            });
        }
        return asked.get();
    }

    @Test
    void whoLostHisLeaseLosesTheHandleAndWhatHeHadNotCommitted() throws Exception {
        Open free = west.open(ours.ino(), OpenFlags.O_RDWR);
        lock(west, ours, LockRequest.Type.WRITE, false);
        west.write(ours, 0, TestClient.bytes("too late"));
        lapseAtReplica(west);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isNull();
        east.write(theirs, 0, TestClient.bytes("first"));
        lock(east, theirs, LockRequest.Type.UNLOCK, false);
        assertThat(west.fs.lease().renew(1, List.of(), Patience.until(Long.MAX_VALUE / 2)))
                .isTrue();
        await().until(() -> {
            try {
                west.read(ours, 0, 10);
                return false;
            } catch (FsException e) {
                return e.errno() == Errno.EIO;
            }
        });
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isEqualTo(Errno.EIO);
        await().until(() -> new String(west.read(free, 0, 100), UTF_8).equals("first"));
        await().until(() -> lock(west, free, LockRequest.Type.WRITE, false) == null);
        await().ignoreExceptions()
                .until(() -> {
                    west.write(free, 0, TestClient.bytes("F"));
                    west.fs.sync(west.caller(), free.ino(), free.handle(), false);
                    return new String(east.read(theirs, 0, 100), UTF_8).equals("First");
                });
    }

    private void lapseAtReplica(TestClient client) {
        long session = client.metadata.session().id();
        Lease lease =
                cluster.state(1).leases().stream()
                        .filter(l -> l.session() == session)
                        .findFirst()
                        .orElseThrow();
        CollectOrphansOp op = new CollectOrphansOp(1);
        cluster.internal(
                1, UpdateOp.collectOrphans(op.setLapsed(Map.of(session, lease.renewedNs()))));
    }

    private static void becomesWritable(TestClient client, Open file) {
        await().ignoreExceptions()
                .until(() -> {
                    client.write(file, 0, TestClient.bytes("anew"));
                    client.fs.sync(client.caller(), file.ino(), file.handle(), false);
                    return true;
                });
    }

    private TestClient shortLeased() {
        return new TestClient(
                cluster, new FakeBlockStore(), 1, TestClient.SLOW_FLUSH, Duration.ofMillis(600));
    }

    private void cutUntilTheLeaseIsOver(TestClient client) {
        cluster.dead.addAll(REPLICAS);
        await().until(() -> !client.fs.lease().runs(1));
        client.fs.lease().check();
        lapseAtReplica(client);
    }

    private static boolean renew(TestClient client) {
        return client.fs.lease().renew(1, List.of(), Patience.of(Duration.ofSeconds(20)));
    }

    @Test
    void whoLostALockCanWriteHoweverLongThePartitionIsAway() throws Exception {
        try (TestClient north = shortLeased()) {
            Open locked = north.open(ours.ino(), OpenFlags.O_RDWR);
            Open free = north.open(ours.ino(), OpenFlags.O_RDWR);
            assertThat(lock(north, locked, LockRequest.Type.WRITE, true)).isNull();
            cutUntilTheLeaseIsOver(north);
            // Longer than any of its attempts goes on.
            await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
            cluster.dead.clear();
            assertThat(renew(north)).isTrue();
            becomesWritable(north, free);
        }
    }

    /** The replicas have not heard of it when they end the lease, and keep writes out. */
    @Test
    void whoDroppedALockUnheardCanWriteOnceThePartitionIsBack() throws Exception {
        try (TestClient north = shortLeased()) {
            Open locked = north.open(ours.ino(), OpenFlags.O_RDWR);
            Open free = north.open(ours.ino(), OpenFlags.O_RDWR);
            assertThat(lock(north, locked, LockRequest.Type.WRITE, true)).isNull();
            cluster.dead.addAll(REPLICAS);
            int before = cluster.updates.get();
            Thread closing =
                    Thread.startVirtualThread(
                            () -> north.fs.release(locked.ino(), locked.handle()));
            cutUntilTheLeaseIsOver(north);
            cluster.dead.clear();
            closing.join();
            assertThat(cluster.updates.get()).isGreaterThan(before);
            assertThat(renew(north)).isTrue();
            becomesWritable(north, free);
        }
    }

    /** As one whose machine was suspended. */
    @Test
    void whoDroppedALockBeforeHeKnewThatItWasLostCanWrite() throws Exception {
        Open free = west.open(ours.ino(), OpenFlags.O_RDWR);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, true)).isNull();
        lapseAtReplica(west);
        west.fs.release(ours.ino(), ours.handle());
        assertThat(renew(west)).isTrue();
        becomesWritable(west, free);
    }

    /** A close that nobody answered is told in the background. */
    @Test
    void whatIsLockedAfterAnUnheardCloseIsKept() throws Exception {
        Open other = west.create(west.mkdir(FileSystem.ROOT, "other"), "file");
        assertThat(lock(west, other, LockRequest.Type.WRITE, false)).isNull();
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
        long before = unlocks();
        cluster.retries.set(Integer.MAX_VALUE);
        assertThatThrownBy(() -> west.fs.flush(brief(), ours.ino(), ours.handle(), OWNER))
                .isInstanceOf(FsException.class);
        cluster.retries.set(0);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, false)).isNull();
        await().until(() -> unlocks() > before);
        assertThat(lock(east, theirs, LockRequest.Type.WRITE, false)).isEqualTo(Errno.EAGAIN);
    }

    private static Caller brief() {
        return Caller.of(0, 0, new int[0], System.nanoTime() + 300_000_000L);
    }

    @Test
    void whoGotNoAnswerAboutOneFileLocksAnother() throws Exception {
        Open other = west.create(west.mkdir(FileSystem.ROOT, "other"), "file");
        cluster.late = op -> op.isSetLock() && op.getLock().getIno() == ours.ino();
        assertThat(lock(west, brief(), ours, LockRequest.Type.WRITE, false, false))
                .isEqualTo(Errno.EIO);
        assertThat(lock(west, other, LockRequest.Type.WRITE, false)).isNull();
    }

    /** What is written under the new lock would be taken for written under the lost one. */
    @Test
    void nobodyLocksAFileBeforeTheLossOfItsLocksIsSettled() throws Exception {
        Open free = west.open(ours.ino(), OpenFlags.O_RDWR);
        assertThat(lock(west, ours, LockRequest.Type.WRITE, true)).isNull();
        lapseAtReplica(west);
        cluster.late = op -> op.isSetRenewSession() && op.getRenewSession().getUnfencedSize() > 0;
        assertThat(renew(west)).isTrue();
        assertThat(lock(west, brief(), free, LockRequest.Type.WRITE, true, false))
                .isEqualTo(Errno.EIO);
        cluster.late = op -> false;
        assertThat(lock(west, free, LockRequest.Type.WRITE, true)).isNull();
        west.write(free, 0, TestClient.bytes("under the lock"));
        west.fs.sync(west.caller(), free.ino(), free.handle(), false);
    }

    /** Replicas keep them until they hear that all before have come. */
    @Test
    void whatNobodyAnswersKeepsNoAnswersFromBeingForgotten() throws Exception {
        try (TestClient north = shortLeased()) {
            Open file = north.open(ours.ino(), OpenFlags.O_RDWR);
            cluster.late = UpdateOp::isSetLock;
            assertThat(lock(north, brief(), file, LockRequest.Type.WRITE, false, false))
                    .isEqualTo(Errno.EIO);
            long before = north.metadata.session().answeredBelow();
            await().until(() -> north.metadata.session().answeredBelow() > before);
        }
    }

    /** close(2) does not wait for it, and the first of two may be answered last. */
    @Test
    void whoClosedTwoFilesLocksAThirdOnceBothAreReleased() throws Exception {
        Open first = west.open(ours.ino(), OpenFlags.O_RDWR);
        Open second = west.open(ours.ino(), OpenFlags.O_RDWR);
        flock(west.caller(), first, LockRequest.Type.READ, 1);
        flock(west.caller(), second, LockRequest.Type.READ, 2);
        CountDownLatch answered = new CountDownLatch(1);
        Thread closing = releaseOnce(answered, first);
        west.fs.release(second.ino(), second.handle());
        whenLocked(answered::countDown);
        flock(west.caller(), ours, LockRequest.Type.WRITE, 3);
        closing.join();
        assertThat(lock(east, theirs, LockRequest.Type.READ, true)).isEqualTo(Errno.EAGAIN);
    }

    @Test
    void whatIsGrantedUnheardAfterAReleaseIsGivenBack() throws Exception {
        Open first = west.open(ours.ino(), OpenFlags.O_RDWR);
        flock(west.caller(), first, LockRequest.Type.WRITE, 1);
        CountDownLatch answered = new CountDownLatch(1);
        Thread closing = releaseOnce(answered, first);
        whenLocked(() -> {
            cluster.late = UpdateOp::isSetLock;
            answered.countDown();
        });
        Caller patient = Caller.of(0, 0, new int[0], System.nanoTime() + 2_000_000_000L);
        assertThatThrownBy(() -> flock(patient, ours, LockRequest.Type.WRITE, 2))
                .isInstanceOfSatisfying(
                        FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
        closing.join();
        cluster.executeLate();
        cluster.late = op -> false;
        await().until(() -> lock(east, theirs, LockRequest.Type.WRITE, true) == null);
    }

    private void flock(Caller caller, Open file, LockRequest.Type type, long owner)
            throws FsException {
        LockRequest request = new LockRequest(owner, true, type, 0, Long.MAX_VALUE, 4);
        west.fs.lock(caller, file.ino(), file.handle(), request, false);
    }

    /** Returns once the replica has the dropping of its locks, and keeps it until then. */
    private Thread releaseOnce(CountDownLatch answered, Open file) throws InterruptedException {
        CountDownLatch sent = new CountDownLatch(1);
        AtomicBoolean others = new AtomicBoolean();
        cluster.refused =
                op -> {
                    if (op.isSetLock() && !others.getAndSet(true)) {
                        sent.countDown();
                        awaitUninterruptibly(answered);
                    }
                    return false;
                };
        Thread closing =
                Thread.startVirtualThread(() -> west.fs.release(file.ino(), file.handle()));
        sent.await();
        return closing;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** At the next request of an exclusive lock, before its answer. */
    private void whenLocked(Runnable then) {
        cluster.beforeReply =
                command -> {
                    UpdateOp op = command.getOp();
                    if (op.isSetLock()
                            && op.getLock().isSetLock()
                            && op.getLock().getLock().getType() == LockType.WRITE) {
                        cluster.beforeReply = next -> {};
                        then.run();
                    }
                };
    }
}
