package org.globalfs.replica.grants;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GrantTableTest {

    private static final long A = 1;
    private static final long B = 2;
    private static final long C = 3;
    private static final long DIRECTORY = 10;
    private static final long FILE = 11;
    private static final long LEASE_MS = 5_000;

    private final AtomicLong now = new AtomicLong(1_000_000_000);
    private final GrantTable table = new GrantTable(now::get, 0);

    private static Footprint change(long ino) {
        return Footprint.of(UpdateOp.setAttributes(new SetAttributesOp(ino)));
    }

    private static Footprint create(long parent, String name) {
        return Footprint.of(
                UpdateOp.create(
                        new CreateOp(parent, ByteBuffer.wrap(name.getBytes(UTF_8)), 0100644)));
    }

    private GrantTable.Update begin(long session, Footprint footprint) throws InterruptedException {
        return table.begin(session, footprint, name -> FILE, now.get());
    }

    /** The table's clock stands still, so a passed deadline means: don't wait. */
    private boolean recalled(GrantTable.Update update) throws InterruptedException {
        return table.awaitRecalled(update, now.get());
    }

    private GrantTable.Recalls poll(long session, long acknowledged) throws InterruptedException {
        return table.poll(session, acknowledged, () -> LEASE_MS, now.get());
    }

    private int grant(long session, long ino, long stamp) {
        return table.grant(session, List.of(ino), stamp, LEASE_MS).ms();
    }

    @Test
    void updateWaitsForOthersGrantsOnly() throws Exception {
        assertThat(grant(A, FILE, table.stamp())).isEqualTo((int) LEASE_MS);
        assertThat(grant(B, FILE, table.stamp())).isPositive();
        GrantTable.Update update = begin(A, change(FILE));
        assertThat(recalled(update)).isFalse();
        assertThat(poll(A, 0).recalled()).isEmpty();
        GrantTable.Recalls recalls = poll(B, 0);
        assertThat(recalls.recalled()).containsExactly(FILE);
        assertThat(poll(B, recalls.number()).recalled()).isEmpty();
        assertThat(recalled(update)).isTrue();
        table.end(update);
    }

    @Test
    void updateThroughANameRecallsTheInodeBehindIt() throws Exception {
        grant(B, FILE, table.stamp());
        GrantTable.Update update = begin(A, create(DIRECTORY, "x"));
        assertThat(recalled(update)).isFalse();
        assertThat(poll(B, 0).recalled()).containsExactly(FILE);
        table.end(update);
    }

    @Test
    void nothingSeenAroundAnUpdateIsGranted() throws Exception {
        long before = table.stamp();
        GrantTable.Update update = begin(A, change(FILE));
        assertThat(grant(B, FILE, table.stamp())).isZero();
        assertThat(grant(A, FILE, table.stamp())).as("its own").isPositive();
        table.end(update);
        assertThat(grant(B, FILE, before)).isZero();
        assertThat(grant(B, FILE, table.stamp())).isPositive();
    }

    @Test
    void resultIsGrantedUnlessAnotherSessionsUpdateWasUnderWay() throws Exception {
        GrantTable.Update first = begin(A, change(FILE));
        GrantTable.Update second = begin(B, change(FILE));
        table.end(second);
        assertThat(table.grantResult(first, List.of(FILE), LEASE_MS).ms()).isZero();
        table.end(first);
        GrantTable.Update third = begin(A, change(FILE));
        assertThat(table.grantResult(third, List.of(FILE), LEASE_MS).ms()).isPositive();
        table.end(third);
    }

    @Test
    void deadSessionDelaysOneUpdateByItsLeaseAndGetsNothingAfterwards() throws Exception {
        grant(B, FILE, table.stamp());
        grant(B, DIRECTORY, table.stamp());
        GrantTable.Update update = begin(A, change(FILE));
        assertThat(recalled(update)).isFalse();
        now.addAndGet(LEASE_MS * 1_000_000);
        assertThat(recalled(update)).isTrue();
        table.end(update);
        GrantTable.Update next = begin(A, change(DIRECTORY));
        assertThat(recalled(next)).isTrue();
        table.end(next);
        assertThat(grant(B, FILE, table.stamp())).as("it has never polled").isZero();
        poll(B, 0);
        assertThat(grant(B, FILE, table.stamp())).as("it lives").isPositive();
    }

    @Test
    void sessionThatDoesNotAcknowledgeGetsNoLongerLease() throws Exception {
        grant(B, FILE, table.stamp());
        GrantTable.Update update = begin(A, change(FILE));
        now.addAndGet(400_000_000);
        assertThat(poll(B, 0).lease().ms()).isZero();
        assertThat(grant(B, DIRECTORY, table.stamp())).isZero();
        GrantTable.Recalls recalls = poll(B, 0);
        assertThat(recalls.recalled()).containsExactly(FILE);
        assertThat(poll(B, recalls.number()).lease().ms()).isPositive();
        table.end(update);
    }

    @Test
    void aLeaseIsToldFromWhenItWasAskedForHoweverLongTheAnswerTakes() throws Exception {
        grant(B, FILE, table.stamp());
        long askedNs = now.get();
        GrantTable.Recalls answer =
                table.poll(
                        B,
                        0,
                        () -> {
                            now.addAndGet(60 * 1_000_000L); // the thread stands still
                            return LEASE_MS;
                        },
                        askedNs);
        long believedNs = askedNs + answer.lease().ms() * 1_000_000L;
        now.set(believedNs);
        GrantTable.Update update = begin(A, change(FILE));
        assertThat(recalled(update)).as("over here when it is over there").isTrue();
        table.end(update);
    }

    @Test
    void aSessionThatComesBackAfterItsLeaseLearnsThatItIsAnother() throws Exception {
        long first = table.grant(B, List.of(FILE), table.stamp(), LEASE_MS).number();
        assertThat(poll(B, 0).lease().number()).isEqualTo(first);
        now.addAndGet(2 * LEASE_MS * 1_000_000);
        long second = table.grant(B, List.of(DIRECTORY), table.stamp(), LEASE_MS).number();
        assertThat(second).isGreaterThan(first);
        assertThat(poll(B, 0).lease().number()).isEqualTo(second);
    }

    @Test
    void whatAnOperationHoldsIsGivenBackByAllButItsOwnSession() throws Exception {
        grant(A, FILE, table.stamp());
        grant(B, FILE, table.stamp());
        long before = table.stamp();
        GrantTable.Clearing clearing = table.clear(A, List.of(FILE));
        assertThat(table.isClear(clearing)).isFalse();
        assertThat(poll(A, 0).recalled()).isEmpty();
        assertThat(grant(C, FILE, before)).as("of what was read before").isZero();
        poll(B, poll(B, 0).number());
        assertThat(table.isClear(clearing)).isTrue();
    }

    @Test
    void aDeadSessionHoldsNothingUpForLongerThanItsLease() throws Exception {
        grant(B, FILE, table.stamp());
        GrantTable.Clearing clearing = table.clear(A, List.of(FILE));
        now.addAndGet(LEASE_MS * 1_000_000);
        assertThat(table.isClear(clearing)).isTrue();
    }

    @Test
    void updatesOfOneNameFollowEachOther() throws Exception {
        GrantTable.Update first = begin(A, create(DIRECTORY, "x"));
        assertThat(table.begin(B, create(DIRECTORY, "x"), name -> 0, now.get())).isNull();
        GrantTable.Update other = begin(B, create(DIRECTORY, "y"));
        table.end(other);
        table.end(first);
        GrantTable.Update second = table.begin(B, create(DIRECTORY, "x"), name -> 0, now.get());
        assertThat(second).isNotNull();
        table.end(second);
    }

    @Test
    void numbersOfRecallsAreNeverOnesThatWereAcknowledgedBefore() throws Exception {
        grant(B, FILE, table.stamp());
        GrantTable.Update update = begin(A, change(FILE));
        long number = poll(B, 0).number();
        poll(B, number);
        table.end(update);
        now.addAndGet(2 * LEASE_MS * 1_000_000);
        grant(B, FILE, table.stamp());
        GrantTable.Update next = begin(A, change(FILE));
        assertThat(poll(B, number).recalled()).containsExactly(FILE);
        assertThat(recalled(next)).isFalse();
        table.end(next);
    }

    @Test
    void whatWasAcknowledgedToAFormerTableGivesNothingBack() throws Exception {
        for (long former : List.of(0L, 4_999L, 6_000L, Long.MAX_VALUE)) {
            GrantTable restarted = new GrantTable(now::get, 5_000);
            restarted.grant(B, List.of(FILE), restarted.stamp(), LEASE_MS);
            GrantTable.Update update = restarted.begin(A, change(FILE), name -> FILE, now.get());
            assertThat(restarted.poll(B, former, () -> LEASE_MS, now.get()).recalled())
                    .containsExactly(FILE);
            assertThat(restarted.awaitRecalled(update, now.get())).isFalse();
        }
    }

    @Test
    void changeFromOutsideRecallsAndRefusesWhatWasSeenBefore() throws Exception {
        grant(A, FILE, table.stamp());
        long stamp = table.stamp();
        table.changedFromOutside(List.of(FILE));
        assertThat(poll(A, 0).recalled()).containsExactly(FILE);
        assertThat(grant(B, FILE, stamp)).isZero();
    }

    @Test
    void sessionThatHoldsTooMuchIsAskedToGiveTheOldestBack() throws Exception {
        for (long ino = 0; ino <= 100_000; ino++) {
            assertThat(grant(A, ino, table.stamp())).isPositive();
        }
        GrantTable.Recalls recalls = poll(A, 0);
        assertThat(recalls.recalled()).hasSize(1_000).startsWith(0L, 1L).doesNotContain(100_000L);
        assertThat(poll(A, recalls.number()).recalled()).isEmpty();
        GrantTable.Update update = begin(B, change(0));
        assertThat(recalled(update)).isTrue();
        table.end(update);
    }

    /**
     * Sessions that cache what they may and check that it is never older than what was acknowledged
     * before they looked.
     */
    @Test
    void cachesNeverShowLessThanWasAcknowledged() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        int inodes = 6;
        AtomicLongArray state = new AtomicLongArray(inodes);
        AtomicLongArray acknowledged = new AtomicLongArray(inodes);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger hits = new AtomicInteger();
        GrantTable real = new GrantTable(System::nanoTime, 0);
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (int s = 1; s <= 4; s++) {
                CachingSession session = new CachingSession(real, s, state, acknowledged, hits);
                all.add(threads.submit(() -> session.poll(stop)));
                for (int t = 0; t < 2; t++) {
                    Random random = new Random(seed + 10 * s + t);
                    all.add(threads.submit(() -> session.work(random, stop)));
                }
            }
            Thread.ofVirtual()
                    .start(() -> {
                        java.util.concurrent.locks.LockSupport.parkNanos(3_000_000_000L);
                        stop.set(true);
                    });
            for (Future<?> one : all) {
                one.get(50, TimeUnit.SECONDS);
            }
        }
        assertThat(hits.get()).isPositive();
    }

    private static final class CachingSession {
        private static final long SHORT_LEASE_MS = 400;

        private final GrantTable table;
        private final long id;
        private final AtomicLongArray state;
        private final AtomicLongArray acknowledged;
        private final AtomicInteger hits;
        private final Map<Long, Long> cache = new ConcurrentHashMap<>();
        private final Map<Long, Long> forgotten = new ConcurrentHashMap<>();
        private final AtomicLong clock = new AtomicLong();
        private volatile long leaseUntilNs = System.nanoTime();
        private long leaseNumber;

        CachingSession(
                GrantTable table,
                long id,
                AtomicLongArray state,
                AtomicLongArray acknowledged,
                AtomicInteger hits) {
            this.table = table;
            this.id = id;
            this.state = state;
            this.acknowledged = acknowledged;
            this.hits = hits;
        }

        private synchronized void extend(long sentNs, GrantTable.Lease lease) {
            long nowNs = System.nanoTime();
            if (lease.number() < leaseNumber) {
                return;
            }
            if (leaseUntilNs - nowNs <= 0 || lease.number() > leaseNumber) {
                cache.clear();
                leaseUntilNs = nowNs;
            }
            leaseNumber = lease.number();
            long untilNs = sentNs + lease.ms() * 1_000_000L;
            leaseUntilNs = Math.max(leaseUntilNs, untilNs);
        }

        private synchronized void learn(
                long ino, long version, long stamp, long sentNs, GrantTable.Lease lease) {
            boolean inTime = sentNs + lease.ms() * 1_000_000L - System.nanoTime() > 0;
            if (lease.ms() > 0 && inTime && lease.number() >= leaseNumber) {
                extend(sentNs, lease);
                if (forgotten.getOrDefault(ino, 0L) <= stamp) {
                    cache.merge(ino, version, Math::max);
                }
            }
        }

        private synchronized Long cached(long ino) {
            return leaseUntilNs - System.nanoTime() > 0 ? cache.get(ino) : null;
        }

        Void poll(AtomicBoolean stop) throws InterruptedException {
            long number = 0;
            while (!stop.get()) {
                long sentNs = System.nanoTime();
                GrantTable.Recalls recalls =
                        table.poll(id, number, () -> SHORT_LEASE_MS, sentNs + 50_000_000);
                synchronized (this) {
                    recalls.recalled().forEach(this::forget);
                    if (recalls.lease().ms() > 0) {
                        extend(sentNs, recalls.lease());
                    }
                }
                number = Math.max(number, recalls.number());
            }
            return null;
        }

        private synchronized void forget(long ino) {
            forgotten.put(ino, clock.incrementAndGet());
            cache.remove(ino);
        }

        Void work(Random random, AtomicBoolean stop) throws InterruptedException {
            while (!stop.get()) {
                long ino = random.nextInt(state.length());
                if (random.nextInt(20) == 0) {
                    update(ino);
                } else {
                    read(ino);
                }
            }
            return null;
        }

        private void read(long ino) {
            long least = acknowledged.get((int) ino);
            Long known = cached(ino);
            if (known != null) {
                hits.incrementAndGet();
                assertThat(known).as("session %s, inode %s", id, ino).isGreaterThanOrEqualTo(least);
                return;
            }
            long stamp = clock.get();
            long sentNs = System.nanoTime();
            long seen = table.stamp();
            long version = state.get((int) ino);
            learn(ino, version, stamp, sentNs, table.grant(id, List.of(ino), seen, SHORT_LEASE_MS));
        }

        private void update(long ino) throws InterruptedException {
            long stamp = clock.get();
            long sentNs = System.nanoTime();
            long deadlineNs = sentNs + 10_000_000_000L;
            GrantTable.Update update = table.begin(id, change(ino), name -> 0, deadlineNs);
            assertThat(table.awaitRecalled(update, deadlineNs)).isTrue();
            long version = state.incrementAndGet((int) ino);
            GrantTable.Lease lease = table.grantResult(update, List.of(ino), SHORT_LEASE_MS);
            table.end(update);
            learn(ino, version, stamp, sentNs, lease);
            if (cache.getOrDefault(ino, 0L) < version) {
                // A read of before the update may be under way still.
                forget(ino);
            }
            acknowledged.accumulateAndGet((int) ino, version, Math::max);
        }
    }
}
