package org.globalfs.multicast.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.merge.Merged.Logs;
import org.globalfs.multicast.merge.Merged.Step;
import org.globalfs.protocol.Invariant;
import org.junit.jupiter.api.Test;

/** The merge over random logs; each test prints its seed. */
class RoundRobinTest {
    private static final int RUNS = 300;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    private static Entry command(int n) {
        return new Entry.Command(n, new byte[0], new int[0]);
    }

    private void someMore(Logs logs, int rings, int instances) {
        for (int i = 0; i < instances; i++) {
            int ring = random.nextInt(rings);
            List<Entry> entries = new ArrayList<>();
            if (random.nextInt(3) > 0) {
                entries.add(command(i));
            }
            if (random.nextInt(4) == 0) {
                // Late and doubled skips too: below where the ring is.
                long at = logs.position(ring, logs.of(ring).size());
                entries.add(new Entry.Skip(Math.max(0, at + random.nextInt(30) - 10)));
            }
            logs.decide(ring, entries.toArray(Entry[]::new));
        }
    }

    private Logs someLogs(int rings) {
        Logs logs = new Logs();
        someMore(logs, rings, 20 + random.nextInt(100));
        return logs;
    }

    private static MergePosition start(int turn, int rings) {
        List<Integer> numbers = new ArrayList<>();
        for (int ring = 0; ring < rings; ring++) {
            numbers.add(ring);
        }
        return MergePosition.start(turn, numbers);
    }

    /** Every logical instance one by one, in turns, as the paper puts it. */
    private static List<Step> literally(Logs logs, int rings, int turn) {
        List<List<Step>> logical = new ArrayList<>();
        for (int ring = 0; ring < rings; ring++) {
            List<Step> instances = new ArrayList<>();
            long instance = 0;
            for (List<Entry> entries : logs.of(ring)) {
                long after = Entry.Skip.positionAfter(instances.size(), entries);
                instances.add(new Step(ring, ++instance));
                while (instances.size() < after) {
                    instances.add(new Step(ring, 0));
                }
            }
            logical.add(instances);
        }
        List<Step> order = new ArrayList<>();
        for (int round = 0; ; round++) {
            for (List<Step> ring : logical) {
                for (int i = round * turn; i < (round + 1) * turn; i++) {
                    if (i >= ring.size()) {
                        return order;
                    }
                    if (ring.get(i).instance() > 0) {
                        order.add(ring.get(i));
                    }
                }
            }
        }
    }

    @Test
    void isTheTurnsOfThePaper() {
        for (int run = 0; run < RUNS; run++) {
            int rings = 1 + random.nextInt(4);
            int turn = 1 + random.nextInt(4);
            Logs logs = someLogs(rings);
            Merged merged = new Merged(1, start(turn, rings), 1 + random.nextInt(9), logs);
            merged.finish();
            assertThat(merged.steps)
                    .as("seed %s run %s", seed, run)
                    .isEqualTo(literally(logs, rings, turn));
        }
    }

    @Test
    void isTheSameHoweverInstancesArrive() {
        for (int run = 0; run < RUNS; run++) {
            int rings = 2 + random.nextInt(3);
            MergePosition start = start(1 + random.nextInt(4), rings);
            Logs logs = someLogs(rings);
            Merged eager = new Merged(1, start, 1000, logs);
            eager.finish();
            Merged other = new Merged(1, start, 1 + random.nextInt(5), logs);
            for (int i = 0; i < 1000; i++) {
                if (random.nextBoolean()) {
                    other.read(random.nextInt(rings));
                } else {
                    other.step();
                }
            }
            other.finish();
            assertThat(other.steps).as("seed %s run %s", seed, run).isEqualTo(eager.steps);
        }
    }

    @Test
    void resumesAnywhereExactly() {
        for (int run = 0; run < RUNS / 10; run++) {
            int rings = 2 + random.nextInt(3);
            Logs logs = someLogs(rings);
            Merged whole = new Merged(1, start(1 + random.nextInt(4), rings), 1000, logs);
            whole.finish();
            for (int from = 0; from <= whole.steps.size(); from++) {
                Merged rest = new Merged(1, whole.positions.get(from), 1 + random.nextInt(9), logs);
                rest.finish();
                assertThat(rest.steps)
                        .as("seed %s run %s from %s", seed, run, from)
                        .isEqualTo(whole.steps.subList(from, whole.steps.size()));
                assertThat(rest.position()).isEqualTo(whole.position());
            }
        }
    }

    /** Two groups that come and go: each agrees with itself, and both with one order of all. */
    @Test
    void subscriptionsAgree() {
        int changes = 0;
        for (int run = 0; run < RUNS; run++) {
            int rings = 3 + random.nextInt(2);
            int turn = 1 + random.nextInt(3);
            Logs logs = new Logs();
            for (int i = 0; i < 12; i++) {
                someMore(logs, rings, random.nextInt(20));
                int through = random.nextInt(rings);
                logs.decide(through, someChange(logs, rings));
            }
            someMore(logs, rings, 40);
            List<List<Step>> orders = new ArrayList<>();
            for (int group = 1; group <= 2; group++) {
                int first = random.nextInt(rings);
                MergePosition start = MergePosition.start(turn, List.of(first));
                Merged whole = new Merged(group, start, 1000, logs);
                whole.finish();
                changes += (int) whole.positions.stream().filter(p -> p.rings().size() > 1).count();
                for (int i = 0; i < 5; i++) {
                    int from = random.nextInt(whole.positions.size());
                    Merged rest =
                            new Merged(
                                    group, whole.positions.get(from), 1 + random.nextInt(5), logs);
                    rest.finish();
                    assertThat(rest.steps)
                            .as("seed %s run %s group %s from %s", seed, run, group, from)
                            .isEqualTo(whole.steps.subList(from, whole.steps.size()));
                }
                orders.add(whole.steps);
            }
            List<Step> all = literally(logs, rings, turn);
            for (List<Step> order : orders) {
                List<Step> both = new ArrayList<>(order);
                both.retainAll(all);
                List<Step> asInAll = new ArrayList<>(all);
                asInAll.retainAll(order);
                assertThat(both).as("seed %s run %s", seed, run).isEqualTo(asInAll);
            }
        }
        assertThat(changes).isPositive();
    }

    private Entry someChange(Logs logs, int rings) {
        int ring = random.nextInt(rings);
        int group = 1 + random.nextInt(2);
        if (random.nextInt(3) == 0) {
            return new Entry.Subscription(group, ring, false, 0, 0);
        }
        int behind = random.nextInt(logs.of(ring).size() + 1);
        return new Entry.Subscription(group, ring, true, behind, logs.position(ring, behind));
    }

    @Test
    void aRingThatRunsAheadIsBufferedWithinBounds() {
        RoundRobin machine = new RoundRobin(1, start(1, 2), 8, 100);
        long offered = 0;
        while (machine.hasRoom(1)) {
            machine.offer(1, ++offered, List.of(command(1)), 1);
        }
        assertThat(offered).isEqualTo(8);
        assertThat(machine.waitingFor()).isZero();
        assertThat(machine.hasRoom(0)).isTrue();
        assertThat(machine.wanted()).isEqualTo(9);
        assertThatThrownBy(() -> machine.offer(1, 9, List.of(), 1))
                .isInstanceOf(Invariant.Broken.class)
                .hasMessageContaining("no room");
        machine.offer(0, 1, List.of(new Entry.Skip(3)), 1);
        for (int i = 0; i < 4; i++) {
            assertThat(machine.next()).isNotNull();
        }
        assertThat(machine.next()).isNull();
        assertThat(machine.hasRoom(1)).as("not before it is half empty").isFalse();
        machine.offer(0, 2, List.of(new Entry.Skip(4)), 1);
        while (machine.next() != null) {
            assertThat(machine.position().rings()).hasSize(2);
        }
        assertThat(machine.hasRoom(1)).isTrue();
    }

    @Test
    void bytesAreBoundedToo() {
        RoundRobin machine = new RoundRobin(1, start(1, 2), 8, 100);
        machine.offer(1, 1, List.of(), 99);
        assertThat(machine.hasRoom(1)).isTrue();
        machine.offer(1, 2, List.of(), 5000);
        assertThat(machine.hasRoom(1)).isFalse();
    }

    @Test
    void nobodyIsAskedToHurryForSkipsAlone() {
        RoundRobin machine = new RoundRobin(1, start(2, 2), 8, 100);
        machine.offer(1, 1, List.of(new Entry.Skip(50)), 1);
        machine.offer(1, 2, List.of(new Entry.Noop()), 1);
        assertThat(machine.wanted()).isZero();
        machine.offer(1, 3, List.of(command(1)), 1);
        assertThat(machine.wanted()).isEqualTo(52 + 2);
        machine.offer(0, 1, List.of(new Entry.Skip(54)), 1);
        int delivered = 0;
        while (machine.next() != null) {
            delivered++;
        }
        assertThat(delivered).isEqualTo(4);
        assertThat(machine.wanted()).isZero();
    }

    @Test
    void aPositionNamesEachRingOnce() {
        RingPosition ring = RingPosition.start(1);
        assertThatThrownBy(() -> new MergePosition(1, List.of(ring, ring)))
                .isInstanceOf(Invariant.Broken.class);
        assertThatThrownBy(() -> new MergePosition(1, List.of()))
                .isInstanceOf(Invariant.Broken.class);
    }

    @Test
    void whatMayBeBehindAFullBufferIsAskedForToo() {
        RoundRobin machine = new RoundRobin(1, start(1, 2), 2, 100);
        machine.offer(1, 1, List.of(new Entry.Skip(50)), 1);
        machine.heard(1, 900);
        assertThat(machine.wanted()).isZero();
        machine.offer(1, 2, List.of(new Entry.Skip(60)), 1);
        assertThat(machine.wanted()).isEqualTo(901);
        machine.heard(2, 5000);
        machine.heard(1, 70);
        assertThat(machine.wanted()).isEqualTo(901);
    }
}
