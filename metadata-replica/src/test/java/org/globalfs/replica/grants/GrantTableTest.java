package org.globalfs.replica.grants;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
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
    private static final long HEAP_BYTES = 4L << 30;

    private final AtomicLong now = new AtomicLong(1_000_000_000);
    private final GrantTable table = new GrantTable(now::get, 0, HEAP_BYTES);
    private long sequence;

    private static Footprint change(long ino) {
        return Footprint.of(UpdateOp.setAttributes(new SetAttributesOp(ino)));
    }

    private static Footprint create(long parent, String name) {
        return Footprint.of(
                UpdateOp.create(
                        new CreateOp(parent, ByteBuffer.wrap(name.getBytes(UTF_8)), 0100644)));
    }

    private Update begin(long session, Footprint footprint) throws InterruptedException {
        return table.begin(session, ++sequence, footprint, name -> FILE, now.get());
    }

    /** The table's clock stands still, so a passed deadline means: don't wait. */
    private boolean recalled(Update update) throws InterruptedException {
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
        Update update = begin(A, change(FILE));
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
        Update update = begin(A, create(DIRECTORY, "x"));
        assertThat(recalled(update)).isFalse();
        assertThat(poll(B, 0).recalled()).containsExactly(FILE);
        table.end(update);
    }

    @Test
    void nothingSeenAroundAnUpdateIsGranted() throws Exception {
        long before = table.stamp();
        Update update = begin(A, change(FILE));
        assertThat(grant(B, FILE, table.stamp())).isZero();
        assertThat(grant(A, FILE, table.stamp())).as("its own").isPositive();
        table.end(update);
        assertThat(grant(B, FILE, before)).isZero();
        assertThat(grant(B, FILE, table.stamp())).isPositive();
    }

    @Test
    void resultIsGrantedUnlessAnotherSessionsUpdateWasUnderWay() throws Exception {
        Update first = begin(A, change(FILE));
        Update second = begin(B, change(FILE));
        table.end(second);
        assertThat(table.grantResult(first, List.of(FILE), LEASE_MS).ms()).isZero();
        table.end(first);
        Update third = begin(A, change(FILE));
        assertThat(table.grantResult(third, List.of(FILE), LEASE_MS).ms()).isPositive();
        table.end(third);
    }

    @Test
    void deadSessionDelaysOneUpdateByItsLeaseAndGetsNothingAfterwards() throws Exception {
        grant(B, FILE, table.stamp());
        grant(B, DIRECTORY, table.stamp());
        Update update = begin(A, change(FILE));
        assertThat(recalled(update)).isFalse();
        now.addAndGet(LEASE_MS * 1_000_000);
        assertThat(recalled(update)).isTrue();
        table.end(update);
        Update next = begin(A, change(DIRECTORY));
        assertThat(recalled(next)).isTrue();
        table.end(next);
        assertThat(grant(B, FILE, table.stamp())).as("it has never polled").isZero();
        poll(B, 0);
        assertThat(grant(B, FILE, table.stamp())).as("it lives").isPositive();
    }

    @Test
    void sessionThatDoesNotAcknowledgeGetsNoLongerLease() throws Exception {
        grant(B, FILE, table.stamp());
        Update update = begin(A, change(FILE));
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
        Update update = begin(A, change(FILE));
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
        GrantTable.Clearing clearing = table.clear(A, ++sequence, List.of(FILE));
        assertThat(table.isClear(clearing)).isFalse();
        assertThat(poll(A, 0).recalled()).isEmpty();
        assertThat(grant(C, FILE, before)).as("of what was read before").isZero();
        poll(B, poll(B, 0).number());
        assertThat(table.isClear(clearing)).isTrue();
    }

    @Test
    void aDeadSessionHoldsNothingUpForLongerThanItsLease() throws Exception {
        grant(B, FILE, table.stamp());
        GrantTable.Clearing clearing = table.clear(A, ++sequence, List.of(FILE));
        now.addAndGet(LEASE_MS * 1_000_000);
        assertThat(table.isClear(clearing)).isTrue();
    }

    @Test
    void updatesOfOneNameFollowEachOther() throws Exception {
        Update first = begin(A, create(DIRECTORY, "x"));
        assertThat(table.begin(B, ++sequence, create(DIRECTORY, "x"), name -> 0, now.get()))
                .isNull();
        Update other = begin(B, create(DIRECTORY, "y"));
        table.end(other);
        table.end(first);
        Update second = table.begin(B, ++sequence, create(DIRECTORY, "x"), name -> 0, now.get());
        assertThat(second).isNotNull();
        table.end(second);
    }

    @Test
    void numbersOfRecallsAreNeverOnesThatWereAcknowledgedBefore() throws Exception {
        grant(B, FILE, table.stamp());
        Update update = begin(A, change(FILE));
        long number = poll(B, 0).number();
        poll(B, number);
        table.end(update);
        now.addAndGet(2 * LEASE_MS * 1_000_000);
        grant(B, FILE, table.stamp());
        Update next = begin(A, change(FILE));
        assertThat(poll(B, number).recalled()).containsExactly(FILE);
        assertThat(recalled(next)).isFalse();
        table.end(next);
    }

    @Test
    void whatWasAcknowledgedToAFormerTableGivesNothingBack() throws Exception {
        for (long former : List.of(0L, 4_999L, 6_000L, Long.MAX_VALUE)) {
            GrantTable restarted = new GrantTable(now::get, 5_000, HEAP_BYTES);
            restarted.grant(B, List.of(FILE), restarted.stamp(), LEASE_MS);
            Update update = restarted.begin(A, ++sequence, change(FILE), name -> FILE, now.get());
            assertThat(restarted.poll(B, former, () -> LEASE_MS, now.get()).recalled())
                    .containsExactly(FILE);
            assertThat(restarted.awaitRecalled(update, now.get())).isFalse();
        }
    }

    @Test
    void sessionsThatHaveGoneTakeNoRoom() throws Exception {
        for (long session = A; session < A + 20; session++) {
            long first = 1_000_000 * session;
            List<Long> own = LongStream.range(first, first + 100_000).boxed().toList();
            assertThat(table.grant(session, own, table.stamp(), LEASE_MS).ms())
                    .as("session %s", session)
                    .isPositive();
            now.addAndGet(LEASE_MS * 1_000_000);
            table.expire();
            assertThat(table.isEmpty()).isTrue();
        }
    }

    /** Of what 100 mounts of one tree hold, each counts. */
    @Test
    void thereAreNoMoreGrantsThanTheHeapHasRoomForAndWhoHoldsMostGivesSomeBack() throws Exception {
        int most = 16_000;
        GrantTable small = new GrantTable(now::get, 0, most * 1_000L);
        int sessions = 11;
        int granted = 0;
        for (long ino = 0; ino < 2_000; ino++) {
            for (long session = 1; session <= sessions; session++) {
                granted += small.grant(session, List.of(ino), 0, LEASE_MS).ms() > 0 ? 1 : 0;
            }
        }
        assertThat(granted).isEqualTo(most);
        long newcomer = sessions + 1L;
        assertThat(small.grant(newcomer, List.of(FILE), 0, LEASE_MS).ms()).isZero();
        assertThat(small.grant(1, List.of(1_200L), 0, LEASE_MS).ms()).as("held").isPositive();
        int shed = 0;
        for (long session = 1; session <= sessions; session++) {
            GrantTable.Recalls recalls = small.poll(session, 0, () -> LEASE_MS, now.get());
            assertThat(recalls.lease().ms()).isPositive();
            if (!recalls.recalled().isEmpty()) {
                shed++;
                assertThat(recalls.recalled()).hasSize(1_000).startsWith(0L, 1L);
                small.poll(session, recalls.number(), () -> LEASE_MS, now.get());
            }
        }
        assertThat(shed).as("asked at a time").isEqualTo(1);
        assertThat(small.grant(newcomer, List.of(FILE), 0, LEASE_MS).ms()).isPositive();
    }

    @Test
    void whoseLeaseRunsIsNotForgotten() throws Exception {
        grant(B, FILE, table.stamp());
        now.addAndGet(LEASE_MS * 1_000_000 - 1);
        table.expire();
        Update update = begin(A, change(FILE));
        assertThat(recalled(update)).isFalse();
        now.incrementAndGet();
        table.expire();
        assertThat(recalled(update)).isTrue();
        table.end(update);
    }

    @Test
    void aLeaseIsNeverToldLongerThanTheCoordinatorsOwnWhoeverExtendedIt() throws Exception {
        // As by a thread that stood still since it looked at the coordinator's.
        table.grant(B, List.of(FILE), table.stamp(), LEASE_MS);
        GrantTable.Recalls answer = table.poll(B, 0, () -> 100, now.get());
        assertThat(answer.lease().ms()).isEqualTo(100);
    }

    /** A minute's work if each recall were looked for among all others. */
    @Test
    void veryManyGrantsAreTakenBackAtOnce() throws Exception {
        List<Long> tree = LongStream.range(0, 100_000).boxed().toList();
        for (long session = A; session < A + 9; session++) {
            table.grant(session, tree, table.stamp(), LEASE_MS);
        }
        GrantTable.Clearing clearing = table.clear(0, 0, tree);
        for (long session = A; session < A + 9; session++) {
            assertThat(table.isClear(clearing)).isFalse();
            GrantTable.Recalls recalls = poll(session, 0);
            assertThat(recalls.recalled()).hasSize(100_000);
            poll(session, recalls.number());
        }
        assertThat(table.isClear(clearing)).isTrue();
        assertThat(table.isEmpty()).isTrue();
    }

    @Test
    void whatAnUpdateChangedThatNobodyWaitedForIsTakenBackFromItsOwnSessionToo() throws Exception {
        Update update = begin(A, change(FILE));
        assertThat(recalled(update)).isTrue();
        grant(A, FILE, table.stamp());
        grant(B, DIRECTORY, table.stamp());
        long before = table.stamp();
        table.endUnheard(update, List.of(DIRECTORY));
        assertThat(poll(A, 0).recalled()).containsExactly(FILE);
        assertThat(poll(B, 0).recalled()).containsExactly(DIRECTORY);
        poll(A, poll(A, 0).number());
        assertThat(grant(A, FILE, before)).as("of what was read before").isZero();
        assertThat(grant(C, DIRECTORY, before)).isZero();
        assertThat(grant(A, FILE, table.stamp())).isPositive();
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
        Update update = begin(B, change(0));
        assertThat(recalled(update)).isTrue();
        table.end(update);
    }

    @Test
    void whatASessionsOwnUpdateOutdatesIsGivenBackBeforeOthersHearOfTheUpdate() throws Exception {
        grant(A, FILE, table.stamp());
        grant(A, DIRECTORY, table.stamp());
        Update update = execute(A, FILE, DIRECTORY);
        table.end(update);
        GrantTable.Clearing clearing = table.seen(B, List.of(FILE), new ArrayList<>());
        assertThat(table.awaitRecalled(clearing, now.get())).isFalse();
        GrantTable.Recalls recalls = poll(A, 0);
        assertThat(recalls.recalled()).containsExactlyInAnyOrder(FILE, DIRECTORY);
        poll(A, recalls.number());
        assertThat(table.awaitRecalled(clearing, now.get())).isTrue();
        assertThat(isFree(B, FILE)).isTrue();
    }

    @Test
    void settledUpdatesAreNobodysConcern() throws Exception {
        grant(A, FILE, table.stamp());
        Update first = execute(A, FILE);
        table.end(first);
        Update second = execute(A, FILE);
        table.end(second);
        table.settled(A, second.sequence + 1, List.of(second.sequence));
        assertThat(isFree(B, FILE)).as("the second is not settled").isFalse();
        poll(A, poll(A, 0).number());
        grant(A, FILE, table.stamp());
        Update third = execute(A, FILE);
        table.end(third);
        table.settled(A, third.sequence + 1, List.of());
        assertThat(isFree(B, FILE)).isTrue();
        assertThat(poll(A, 0).recalled()).isEmpty();
    }

    @Test
    void whatAnUpdatesAnswerGrantsIsNotOutdatedByIt() throws Exception {
        Update update = execute(A, FILE);
        assertThat(table.grantResult(update, List.of(FILE), LEASE_MS).ms()).isPositive();
        table.end(update);
        assertThat(isFree(B, FILE)).isTrue();
    }

    @Test
    void whatWasSeenBeforeAnOwnUpdateIsGrantedOnlyWhileNobodyElseHasSeenTheUpdate()
            throws Exception {
        grant(A, DIRECTORY, table.stamp());
        long before = table.stamp();
        table.end(execute(A, FILE));
        assertThat(grant(A, FILE, before)).isPositive();
        assertThat(isFree(B, FILE)).as("the grant is of before").isFalse();
        poll(A, poll(A, 0).number());
        long beforeNext = table.stamp();
        table.end(execute(A, FILE));
        assertThat(isFree(B, FILE)).isTrue();
        assertThat(grant(A, FILE, beforeNext)).isZero();
        assertThat(grant(A, FILE, table.stamp())).isPositive();
    }

    @Test
    void aReaderIsToldOfItsSessionsOwnUpdatesThatItsSessionMayNotShowYet() throws Exception {
        grant(A, FILE, table.stamp());
        Update update = execute(A, FILE, DIRECTORY);
        table.end(update);
        List<Long> own = new ArrayList<>();
        GrantTable.Clearing clearing = table.seen(A, List.of(DIRECTORY), own);
        assertThat(own).containsExactly(update.sequence);
        assertThat(table.awaitRecalled(clearing, now.get())).isTrue();
    }

    @Test
    void whatWasSeenBeforeAnUpdateOfASessionWithoutGrantsIsNotGranted() throws Exception {
        long before = table.stamp();
        table.end(execute(A, FILE));
        assertThat(isFree(B, FILE)).isTrue();
        assertThat(grant(A, FILE, before)).isZero();
        assertThat(grant(A, FILE, table.stamp())).isPositive();
    }

    private Update execute(long session, long... inodes) throws InterruptedException {
        List<Long> all = Arrays.stream(inodes).boxed().toList();
        Update update = begin(session, new Footprint(all, List.of()));
        assertThat(recalled(update)).isTrue();
        table.executed(update, true);
        return update;
    }

    /** Whether a session that has just read the inode can be answered. */
    private boolean isFree(long session, long ino) throws InterruptedException {
        GrantTable.Clearing clearing = table.seen(session, List.of(ino), new ArrayList<>());
        return table.awaitRecalled(clearing, now.get());
    }

    /**
     * Sessions that cache what they may. Whatever one of them shows is no older than what any of
     * them, itself included, has shown before: an update of two inodes is shown of both or of
     * neither. Answers to updates take their time.
     */
    @Test
    void cachesNeverShowLessThanWasShown() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        World world = new World(6);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger hits = new AtomicInteger();
        GrantTable real = new GrantTable(System::nanoTime, 0, HEAP_BYTES);
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (int s = 1; s <= 4; s++) {
                CachingSession session = new CachingSession(real, s, world, hits);
                all.add(threads.submit(() -> session.poll(stop)));
                for (int t = 0; t < 3; t++) {
                    Random random = new Random(seed + 10 * s + t);
                    all.add(threads.submit(() -> session.work(random, stop)));
                }
            }
            Thread.ofVirtual()
                    .start(() -> {
                        LockSupport.parkNanos(3_000_000_000L);
                        stop.set(true);
                    });
            for (Future<?> one : all) {
                one.get(50, TimeUnit.SECONDS);
            }
        }
        assertThat(hits.get()).isPositive();
    }

    /**
     * @param of the inode
     * @param ofPair of the last update of both inodes of the pair by then
     */
    private record Version(long of, long ofPair) {}

    /** Inodes in pairs: 0 and 1, 2 and 3, ... */
    private static final class World {
        private final long[] versions;
        private final long[] ofPairs;
        private final AtomicLongArray shown;
        private long last;

        World(int inodes) {
            versions = new long[inodes];
            ofPairs = new long[inodes];
            shown = new AtomicLongArray(inodes);
        }

        synchronized Version read(long ino) {
            return new Version(versions[(int) ino], ofPairs[(int) ino]);
        }

        synchronized void execute(List<Long> inodes) {
            last++;
            for (long ino : inodes) {
                versions[(int) ino] = last;
                if (inodes.size() == 2) {
                    ofPairs[(int) ino] = last;
                }
            }
        }

        void shown(long ino, Version version) {
            shown.accumulateAndGet((int) ino, version.of, Math::max);
            shown.accumulateAndGet((int) ino ^ 1, version.ofPair, Math::max);
        }
    }

    private static final class CachingSession {
        private static final long SHORT_LEASE_MS = 400;

        private final GrantTable table;
        private final long id;
        private final World world;
        private final AtomicInteger hits;
        private final Map<Long, Version> cache = new ConcurrentHashMap<>();
        private final Map<Long, Long> forgotten = new ConcurrentHashMap<>();
        private final AtomicLong clock = new AtomicLong();
        private final AtomicLong sequence = new AtomicLong();
        private final Set<Long> unsettled = ConcurrentHashMap.newKeySet();

        /** By pair: who updates a name through a kernel has its directory to himself. */
        private final Map<Long, Object> updating = new ConcurrentHashMap<>();

        private volatile long leaseUntilNs = System.nanoTime();
        private long leaseNumber;

        CachingSession(GrantTable table, long id, World world, AtomicInteger hits) {
            this.table = table;
            this.id = id;
            this.world = world;
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
                Map<Long, Version> versions, long stamp, long sentNs, GrantTable.Lease lease) {
            boolean inTime = sentNs + lease.ms() * 1_000_000L - System.nanoTime() > 0;
            if (lease.ms() > 0 && inTime && lease.number() >= leaseNumber) {
                extend(sentNs, lease);
                versions.forEach((ino, version) -> {
                    if (forgotten.getOrDefault(ino, 0L) <= stamp) {
                        cache.merge(ino, version, (a, b) -> a.of > b.of ? a : b);
                    }
                });
            }
        }

        private synchronized Version cached(long ino) {
            return leaseUntilNs - System.nanoTime() > 0 ? cache.get(ino) : null;
        }

        Void poll(AtomicBoolean stop) throws InterruptedException {
            long number = 0;
            while (!stop.get()) {
                long sentNs = System.nanoTime();
                synchronized (unsettled) {
                    table.settled(id, sequence.get() + 1, List.copyOf(unsettled));
                }
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
                long ino = random.nextInt(world.versions.length);
                if (random.nextInt(20) == 0) {
                    synchronized (updating.computeIfAbsent(ino / 2, pair -> new Object())) {
                        update(random.nextBoolean() ? List.of(ino) : List.of(ino, ino ^ 1), random);
                    }
                } else {
                    show(ino, world.shown.get((int) ino));
                }
            }
            return null;
        }

        private void show(long ino, long least) throws InterruptedException {
            Version version = cached(ino);
            if (version != null) {
                hits.incrementAndGet();
            } else {
                version = ask(ino);
            }
            assertThat(version.of)
                    .as("session %s, inode %s", id, ino)
                    .isGreaterThanOrEqualTo(least);
            world.shown(ino, version);
        }

        private Version ask(long ino) throws InterruptedException {
            long stamp = clock.get();
            long sentNs = System.nanoTime();
            long seen = table.stamp();
            Version version = world.read(ino);
            List<Long> own = new ArrayList<>();
            GrantTable.Clearing clearing = table.seen(id, List.of(ino), own);
            assertThat(table.awaitRecalled(clearing, sentNs + 10_000_000_000L)).isTrue();
            GrantTable.Lease lease = table.grant(id, List.of(ino), seen, SHORT_LEASE_MS);
            while (own.stream().anyMatch(unsettled::contains)) {
                LockSupport.parkNanos(50_000);
            }
            learn(Map.of(ino, version), stamp, sentNs, lease);
            return version;
        }

        private void update(List<Long> inodes, Random random) throws InterruptedException {
            long number;
            synchronized (unsettled) {
                number = sequence.incrementAndGet();
                unsettled.add(number);
            }
            long stamp = clock.get();
            long sentNs = System.nanoTime();
            long deadlineNs = sentNs + 10_000_000_000L;
            Update update =
                    table.begin(
                            id, number, new Footprint(inodes, List.of()), name -> 0, deadlineNs);
            assertThat(table.awaitRecalled(update, deadlineNs)).isTrue();
            Map<Long, Version> answer = new HashMap<>();
            synchronized (world) {
                world.execute(inodes);
                inodes.forEach(ino -> answer.put(ino, world.read(ino)));
            }
            pause(random);
            table.executed(update, true);
            assertThat(table.awaitRecalled(update, deadlineNs)).isTrue();
            GrantTable.Lease lease = table.grantResult(update, inodes, SHORT_LEASE_MS);
            table.end(update);
            pause(random);
            synchronized (this) {
                learn(answer, stamp, sentNs, lease);
                answer.forEach((ino, version) -> {
                    Version known = cache.get(ino);
                    if (known == null || known.of < version.of) {
                        // A read of before the update may be under way still.
                        forget(ino);
                    }
                });
            }
            unsettled.remove(number);
            answer.forEach(world::shown);
        }

        private static void pause(Random random) {
            if (random.nextInt(4) == 0) {
                LockSupport.parkNanos(random.nextInt(2_000_000));
            }
        }
    }
}
