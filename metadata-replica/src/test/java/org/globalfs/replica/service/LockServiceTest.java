package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.globalfs.replica.service.TestSession.ROOT;
import static org.globalfs.replica.service.TestSession.partitionOf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.GetLockOp;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Locks on running replicas: waits, fail-over, leases. */
@Timeout(120)
final class LockServiceTest {

    @TempDir Path folder;

    private static UpdateReply renew(TestSession session, int partition, int leaseMs)
            throws InterruptedException {
        RenewSessionOp op = new RenewSessionOp(List.of()).setLeaseMs(leaseMs);
        return session.update(partition, UpdateOp.renewSession(op));
    }

    private static UpdateReply lock(TestSession session, long ino, LockType type, long request)
            throws InterruptedException {
        LockOp op = new LockOp(ino).setLock(whole(type));
        if (request > 0) {
            op.setRequest(request);
        }
        return session.update(partitionOf(ino), UpdateOp.lock(op));
    }

    private static FileLock whole(LockType type) {
        return new FileLock(1, 2, LockKind.POSIX, type, 0, Long.MAX_VALUE);
    }

    private static CompletableFuture<LockState> outcome(
            TestSession session, long ino, long request) {
        return CompletableFuture.supplyAsync(
                () -> {
                    GetLockOp op = new GetLockOp(ino).setRequest(request);
                    try {
                        while (true) {
                            LockState state =
                                    session.read(partitionOf(ino), ReadOp.getLock(op))
                                            .getLockState();
                            if (state != LockState.WAITING) {
                                return state;
                            }
                        }
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                Thread::startVirtualThread);
    }

    @Test
    void aWaitOutlivesTheCoordinatorAndIsGrantedBeforeTheNextPoll() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession first = new TestSession(cluster, 1);
            TestSession second = new TestSession(cluster, 1);
            long home = first.mkdir(ROOT, "home").getAttributes().getIno();
            long ino = first.create(home, "file").getAttributes().getIno();
            second.learnFrom(first);
            assertThat(lock(first, ino, LockType.WRITE, 0).getErrno())
                    .isEqualTo(Errno.ENOLCK.number());
            renew(first, 1, 60_000);
            renew(second, 1, 60_000);
            assertThat(lock(first, ino, LockType.WRITE, 0).getLockState())
                    .isEqualTo(LockState.GRANTED);
            assertThat(lock(second, ino, LockType.READ, 0).getErrno())
                    .isEqualTo(Errno.EAGAIN.number());
            GetLockOp test = new GetLockOp(ino).setLock(whole(LockType.READ));
            FileLock found = second.read(1, ReadOp.getLock(test)).getLock();
            assertThat(found.getSession()).isEqualTo(first.id);
            assertThat(lock(second, ino, LockType.READ, 5).getLockState())
                    .isEqualTo(LockState.WAITING);
            int died = cluster.coordinator(1);
            cluster.crash(died);
            CompletableFuture<LockState> granted = outcome(second, ino, 5);
            lock(first, ino, LockType.UNLOCK, 0);
            assertThat(granted.get(30, TimeUnit.SECONDS)).isEqualTo(LockState.GRANTED);
            // At a replica that stays it is a matter of one command.
            assertThat(lock(first, ino, LockType.WRITE, 6).getLockState())
                    .isEqualTo(LockState.WAITING);
            CompletableFuture<LockState> next = outcome(first, ino, 6);
            TestSession other = new TestSession(cluster, 1);
            other.learnFrom(second);
            other.create(home, "meanwhile");
            assertThat(next).isNotDone();
            lock(second, ino, LockType.UNLOCK, 0);
            assertThat(next.get(1_500, TimeUnit.MILLISECONDS)).isEqualTo(LockState.GRANTED);
            cluster.start(died);
            cluster.awaitEqualHashes();
        }
    }

    @Test
    void locksThatManyWaitForLeaveConnectionsForOtherCalls() throws Exception {
        int waits = 12;
        int atOnce = 8;
        ReplicaOptions few = ReplicaOptions.defaults().waiting(atOnce);
        try (ReplicaCluster cluster = new ReplicaCluster(folder, 1, few).startAll()) {
            TestSession holder = new TestSession(cluster, 1);
            TestSession other = new TestSession(cluster, 1);
            long home = holder.mkdir(ROOT, "home").getAttributes().getIno();
            long ino = holder.create(home, "file").getAttributes().getIno();
            other.learnFrom(holder);
            renew(holder, 1, 60_000);
            renew(other, 1, 60_000);
            lock(holder, ino, LockType.WRITE, 0);
            for (int request = 1; request <= waits; request++) {
                assertThat(lock(other, ino, LockType.WRITE, request).getLockState())
                        .isEqualTo(LockState.WAITING);
            }
            List<CompletableFuture<LockState>> polls = new ArrayList<>();
            for (int request = 1; request <= waits; request++) {
                polls.add(poll(cluster, other.id, ino, request));
            }
            await().atMost(ReplicaCluster.LONG)
                    .until(() ->
                            polls.stream().filter(CompletableFuture::isDone).count()
                                    >= waits - atOnce);
            assertThat(polls.stream().filter(CompletableFuture::isDone))
                    .hasSize(waits - atOnce)
                    .allMatch(poll -> poll.join() == LockState.WAITING);
            lock(holder, ino, LockType.UNLOCK, 0);
            // All wait for the same owner, so that all are granted by the one command.
            for (int request = 1; request <= waits; request++) {
                assertThat(outcome(other, ino, request).get(30, TimeUnit.SECONDS))
                        .isEqualTo(LockState.GRANTED);
            }
        }
    }

    /** What the coordinator says of a request that it may keep waiting for as long as we do. */
    private static CompletableFuture<LockState> poll(
            ReplicaCluster cluster, long session, long ino, long number) {
        ReadOp op = ReadOp.getLock(new GetLockOp(ino).setRequest(number));
        ReadRequest request =
                new ReadRequest(session, 1, new Credentials(0, 0), Consistency.STRONG, 0, 0, op)
                        .setWaitMs(100_000);
        return CompletableFuture.supplyAsync(
                () -> {
                    while (true) {
                        try {
                            ReadReply reply =
                                    cluster.client(cluster.coordinator(1))
                                            .call(MetadataCalls.READ, request, 105_000);
                            if (reply.getStatus() == Status.DONE) {
                                return reply.getLockState();
                            }
                        } catch (RpcException e) {
                            throw new AssertionError(e);
                        }
                    }
                },
                Thread::startVirtualThread);
    }

    @Test
    void aSilentSessionLosesItsLocksWithItsLease() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession silent = new TestSession(cluster, 1);
            TestSession other = new TestSession(cluster, 1);
            for (int partition = 0; partition <= 1; partition++) {
                long home =
                        partition == 0 ? ROOT : silent.mkdir(ROOT, "home").getAttributes().getIno();
                long ino = silent.create(home, "file").getAttributes().getIno();
                other.learnFrom(silent);
                renew(silent, partition, 1_500);
                renew(other, partition, 60_000);
                lock(silent, ino, LockType.WRITE, 0);
                long sinceNs = System.nanoTime();
                assertThat(lock(other, ino, LockType.WRITE, 9).getLockState())
                        .isEqualTo(LockState.WAITING);
                assertThat(outcome(other, ino, 9).get(30, TimeUnit.SECONDS))
                        .isEqualTo(LockState.GRANTED);
                assertThat(System.nanoTime() - sinceNs).isGreaterThan(1_000_000_000L);
                assertThat(lock(silent, ino, LockType.UNLOCK, 0).getErrno()).isZero();
                assertThat(lock(silent, ino, LockType.READ, 0).getErrno())
                        .isEqualTo(Errno.ENOLCK.number());
                assertThat(renew(silent, partition, 60_000).getLapses()).isEqualTo(1);
                assertThat(lock(silent, ino, LockType.READ, 0).getErrno())
                        .isEqualTo(Errno.EAGAIN.number());
            }
            cluster.awaitEqualHashes();
        }
    }
}
