package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.LockRecord;
import org.globalfs.replica.state.model.LockRecord.State;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Table;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks against a naive model, and what POSIX says of single cases. */
final class FileLocksTest {

    private static final long END = Long.MAX_VALUE;
    private static final long FILE = Partitions.ino(1, 1);
    private static final int FILES = 3;

    private final MemoryRecords records = new MemoryRecords();
    private final Tree tree = new Tree(records, new Counters(1));
    private final List<LockModel.Outcome> outcomes = new ArrayList<>();
    private FileLocks locks = open();
    private long request;

    private FileLocks open() {
        return new FileLocks(
                records,
                tree,
                (session, number, state) ->
                        outcomes.add(new LockModel.Outcome(session, number, state)));
    }

    @BeforeEach
    void makeFiles() {
        for (int i = 0; i < FILES; i++) {
            Inode inode = new Inode(FILE + i);
            inode.mode = Mode.REGULAR | 0644;
            inode.nlink = 1;
            tree.add(inode);
        }
    }

    private Object run(long session, LockOp op) {
        UpdateReply reply = locks.execute(session, true, op);
        return reply.getErrno() != 0 ? Errno.of(reply.getErrno()) : reply.getLockState();
    }

    private Object posix(long session, LockType type, long first, long last, boolean wait) {
        return posix(session, FILE, type, first, last, wait);
    }

    private Object posix(
            long session, long ino, LockType type, long first, long last, boolean wait) {
        LockOp op = new LockOp(ino);
        op.setLock(new FileLock(7, 70, LockKind.POSIX, type, first, last));
        if (wait) {
            op.setRequest(++request);
        }
        return run(session, op);
    }

    /** What is held of the file, in order: session, type, range. */
    private List<String> held() {
        List<LockRecord> rows = new ArrayList<>();
        rows(FILE)
                .forEach(lock -> {
                    if (lock.is(State.HELD)) {
                        rows.add(lock);
                    }
                });
        rows.sort(
                java.util.Comparator.comparingLong(LockRecord::start)
                        .thenComparingLong(LockRecord::session));
        return rows.stream()
                .map(l -> l.session() + " " + l.type() + " " + l.start() + "-" + l.end())
                .toList();
    }

    private List<LockRecord> rows(long ino) {
        List<LockRecord> rows = new ArrayList<>();
        records.scan(
                Table.FILE_LOCK,
                Keys.of(ino),
                Keys.of(ino),
                (key, value) -> rows.add(LockRecord.decode(value)));
        return rows;
    }

    @Test
    void rangesSplitMergeUpgradeAndDowngrade() {
        posix(1, LockType.WRITE, 0, 99, false);
        posix(1, LockType.UNLOCK, 40, 59, false);
        assertThat(held()).containsExactly("1 WRITE 0-39", "1 WRITE 60-99");
        posix(1, LockType.READ, 30, 69, false);
        assertThat(held()).containsExactly("1 WRITE 0-29", "1 READ 30-69", "1 WRITE 70-99");
        posix(1, LockType.WRITE, 30, 69, false);
        assertThat(held()).containsExactly("1 WRITE 0-99");
        posix(1, LockType.WRITE, 100, END, false);
        assertThat(held()).containsExactly("1 WRITE 0-" + END);
        posix(1, LockType.READ, 0, END, false);
        assertThat(posix(2, LockType.READ, 5, 5, false)).isEqualTo(LockState.GRANTED);
        assertThat(posix(1, LockType.WRITE, 5, 5, false)).isEqualTo(Errno.EAGAIN);
        assertThat(held()).containsExactly("1 READ 0-" + END, "2 READ 5-5");
    }

    @Test
    void theFirstThatWaitsIsGrantedFirst() {
        posix(1, LockType.WRITE, 0, 9, false);
        assertThat(posix(2, LockType.WRITE, 0, 9, true)).isEqualTo(LockState.WAITING);
        assertThat(posix(3, LockType.READ, 0, 9, true)).isEqualTo(LockState.WAITING);
        assertThat(posix(4, LockType.READ, 5, 5, true)).isEqualTo(LockState.WAITING);
        posix(1, LockType.UNLOCK, 0, END, false);
        assertThat(outcomes).containsExactly(new LockModel.Outcome(2, 1, LockState.GRANTED));
        // The session's end grants to the readers together.
        locks.drop(2, false);
        assertThat(outcomes).hasSize(3);
        assertThat(held()).containsExactly("3 READ 0-9", "4 READ 5-5");
    }

    /** Every lock command of a partition goes through one thread. */
    @Test
    @Timeout(30)
    void aLongQueueIsHandedOnWithoutWalkingItForEachThatWaits() {
        int waiters = 4_000;
        for (int session = 1; session <= waiters; session++) {
            posix(session, LockType.WRITE, 0, 9, true);
        }
        for (int session = 1; session <= waiters; session++) {
            assertThat(outcomes).hasSize(session - 1);
            posix(session, LockType.UNLOCK, 0, 9, false);
            locks.known(session, List.of((long) session));
        }
        assertThat(outcomes)
                .extracting(LockModel.Outcome::session)
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(rows(FILE)).isEmpty();
    }

    @Test
    void aCircleIsFoundOverFilesAndSessions() {
        for (int i = 0; i < FILES; i++) {
            posix(i + 1L, FILE + i, LockType.WRITE, 0, 0, false);
        }
        assertThat(posix(1, FILE + 1, LockType.READ, 0, 0, true)).isEqualTo(LockState.WAITING);
        assertThat(posix(2, FILE + 2, LockType.READ, 0, 0, true)).isEqualTo(LockState.WAITING);
        assertThat(posix(3, FILE, LockType.READ, 0, 0, true)).isEqualTo(Errno.EDEADLK);
        assertThat(posix(3, FILE, LockType.READ, 1, 1, true)).isEqualTo(LockState.GRANTED);
    }

    @Test
    void aLapsedSessionIsFencedUntilItHasSettled() {
        posix(1, LockType.WRITE, 0, 9, false);
        locks.drop(1, true);
        assertThat(held()).isEmpty();
        assertThat(locks.isFenced(1, FILE)).isTrue();
        assertThat(locks.isFenced(1, FILE + 1)).isFalse();
        locks = open();
        assertThat(locks.isFenced(1, FILE)).isTrue();
        assertThat(posix(2, LockType.WRITE, 0, 9, false)).isEqualTo(LockState.GRANTED);
        locks.unfence(1, List.of(FILE));
        assertThat(locks.isFenced(1, FILE)).isFalse();
    }

    @Test
    void theFencesOfMountsThatDiedAreNoLocks() {
        for (int session = 1; session <= Limits.LOCKS_OF_INODE; session++) {
            posix(session, LockType.WRITE, 0, 9, false);
            locks.drop(session, true);
        }
        assertThat(rows(FILE)).hasSize(Limits.LOCKS_OF_INODE);
        long other = Limits.LOCKS_OF_INODE + 1L;
        assertThat(posix(other, LockType.WRITE, 0, 9, false)).isEqualTo(LockState.GRANTED);
        locks = open();
        assertThat(posix(other, LockType.WRITE, 20, 29, false)).isEqualTo(LockState.GRANTED);
        assertThat(locks.isFenced(1, FILE)).isTrue();
        assertThat(locks.isFenced(other, FILE)).isFalse();
        locks.unfence(1, List.of(FILE));
        assertThat(locks.isFenced(1, FILE)).isFalse();
        assertThat(locks.isFenced(2, FILE)).isTrue();
        locks.drop(2, false);
        assertThat(locks.isFenced(2, FILE)).isFalse();
        locks.forget(FILE);
        assertThat(locks.isFenced(3, FILE)).isFalse();
        assertThat(records.table(Table.FILE_LOCK)).isEmpty();
    }

    @Test
    void withoutALeaseThereIsNoLock() {
        LockOp op =
                new LockOp(FILE).setLock(new FileLock(1, 1, LockKind.FLOCK, LockType.READ, 0, END));
        assertThat(locks.execute(1, false, op).getErrno()).isEqualTo(Errno.ENOLCK.number());
        assertThat(records.table(Table.FILE_LOCK)).isEmpty();
    }

    /** As on Linux, where an unlock that splits a lock may find no memory for it. */
    @Test
    void anUnlockSplitsALockNoMoreOftenThanThereMayBeLocks() {
        posix(1, LockType.WRITE, 0, END, false);
        int refused = 0;
        for (int i = 0; i < Limits.LOCKS_OF_INODE + 10; i++) {
            Object answer = posix(1, LockType.UNLOCK, 2 * i + 1, 2 * i + 1, false);
            refused += answer.equals(Errno.ENOLCK) ? 1 : 0;
        }
        assertThat(rows(FILE)).hasSize(Limits.LOCKS_OF_INODE);
        assertThat(refused).isEqualTo(11);
        assertThat(posix(1, LockType.UNLOCK, 0, 0, false)).isEqualTo(LockState.GRANTED);
        assertThat(rows(FILE)).hasSize(Limits.LOCKS_OF_INODE - 1);
        assertThat(posix(1, LockType.UNLOCK, 0, END, false)).isEqualTo(LockState.GRANTED);
        assertThat(rows(FILE)).isEmpty();
    }

    @Test
    void whatGoesWithTheInodeOrWasSaidToBeKnownLeavesNothing() {
        posix(1, LockType.WRITE, 0, 9, false);
        posix(2, LockType.WRITE, 0, 9, true);
        posix(1, LockType.UNLOCK, 0, END, false);
        assertThat(rows(FILE)).hasSize(2);
        locks.known(2, List.of(1L));
        assertThat(rows(FILE)).hasSize(1);
        posix(3, LockType.READ, 0, 0, true);
        locks.forget(FILE);
        assertThat(records.table(Table.FILE_LOCK)).isEmpty();
        assertThat(outcomes).endsWith(new LockModel.Outcome(3, 2, LockState.GONE));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void behavesAsTheModel(long seed) {
        System.out.println("locks against the model: seed " + seed);
        Random random = new Random(seed);
        LockModel model = new LockModel();
        int deadlocks = 0;
        int granted = 0;
        for (int step = 0; step < 4_000; step++) {
            String what = "seed " + seed + " step " + step;
            long session = 1L + random.nextInt(3);
            switch (random.nextInt(40)) {
                case 0 -> {
                    locks.drop(session, random.nextBoolean());
                    model.end(session);
                }
                case 1 -> locks = open();
                case 2, 3, 4 -> {
                    long number = 1 + random.nextLong(request + 1);
                    LockOp op = new LockOp(FILE + number % FILES).setCancel(number);
                    assertThat(run(session, op)).as(what).isEqualTo(model.cancel(session, number));
                }
                case 5 -> {
                    List<Long> known = new ArrayList<>();
                    model.unknown.forEach(o -> known.add(o.request()));
                    for (long each = 1; each <= 3; each++) {
                        locks.known(each, known);
                    }
                    model.unknown.clear();
                }
                default -> {
                    Object answer = step(random, session, model, what);
                    deadlocks += answer == Errno.EDEADLK ? 1 : 0;
                }
            }
            granted += outcomes.size();
            assertThat(outcomes).as(what).isEqualTo(model.outcomes);
            outcomes.clear();
            model.outcomes.clear();
            compare(model, what);
        }
        assertThat(deadlocks).isPositive();
        assertThat(granted).isGreaterThan(50);
    }

    private Object step(Random random, long session, LockModel model, String what) {
        LockKind kind = random.nextInt(4) == 0 ? LockKind.FLOCK : LockKind.POSIX;
        LockType type = LockType.findByValue(random.nextInt(3));
        int first = kind == LockKind.FLOCK ? 0 : random.nextInt(LockModel.BYTES);
        int last =
                kind == LockKind.FLOCK
                        ? LockModel.BYTES - 1
                        : first + random.nextInt(LockModel.BYTES - first);
        boolean wait = type != LockType.UNLOCK && random.nextBoolean();
        request++;
        long ino = FILE + request % FILES;
        long number = random.nextInt(3);
        long end = last == LockModel.BYTES - 1 ? END : (long) last;
        LockOp op = new LockOp(ino);
        op.setLock(new FileLock(number, 1, kind, type, first, end));
        if (wait) {
            op.setRequest(request);
        }
        LockModel.Owner owner = new LockModel.Owner(session, number, kind);
        Object expected =
                model.lock(new LockModel.Request(owner, ino, type, first, last, request), wait);
        assertThat(run(session, op)).as("%s %s", what, op).isEqualTo(expected);
        return expected;
    }

    private void compare(LockModel model, String what) {
        for (long ino = FILE; ino < FILE + FILES; ino++) {
            Map<String, String> actual = new TreeMap<>();
            Map<String, LockType[]> bytes = new TreeMap<>();
            Set<Long> waiting = new HashSet<>();
            for (LockRecord lock : rows(ino)) {
                if (lock.is(State.WAITING)) {
                    waiting.add(lock.request());
                }
                if (lock.is(State.HELD)) {
                    LockType[] own =
                            bytes.computeIfAbsent(
                                    lock.session() + "/" + lock.owner() + "/" + lock.kind(),
                                    key -> none());
                    for (long at = lock.start(); at <= Math.min(lock.end(), own.length - 1); at++) {
                        assertThat(own[(int) at]).as(what).isEqualTo(LockType.UNLOCK);
                        own[(int) at] = lock.type();
                    }
                }
            }
            bytes.forEach((owner, types) -> actual.put(owner, Arrays.toString(types)));
            Map<String, String> expected = new TreeMap<>();
            model.held
                    .getOrDefault(ino, Map.of())
                    .forEach((owner, types) -> {
                        if (!Arrays.equals(types, none())) {
                            expected.put(
                                    owner.session() + "/" + owner.number() + "/" + owner.kind(),
                                    Arrays.toString(types));
                        }
                    });
            assertThat(actual).as(what).isEqualTo(expected);
            Set<Long> queued = new HashSet<>();
            for (LockModel.Request each : model.queue) {
                if (each.ino() == ino) {
                    queued.add(each.number());
                }
            }
            assertThat(waiting).as(what).isEqualTo(queued);
        }
    }

    private static LockType[] none() {
        LockType[] none = new LockType[LockModel.BYTES];
        Arrays.fill(none, LockType.UNLOCK);
        return none;
    }
}
