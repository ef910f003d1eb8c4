package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.MergeStrategy;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.RingPosition;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three processes with two rings, merged by round-robin, over real sockets and disks. */
@Timeout(120)
class MergedClusterTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final List<Integer> NODES = List.of(1, 2, 3);
    private static final int GROUP = 7;
    private static final MergeStrategy.RoundRobin TURNS =
            new MergeStrategy.RoundRobin(2, 1000, Duration.ofMillis(20));

    @TempDir Path folder;

    private long retainedBytes = 64 << 20;
    private final Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
    private final Map<Integer, Learner> learners = new TreeMap<>();
    private final Map<Integer, MulticastNode> running = new ConcurrentSkipListMap<>();
    private final List<Throwable> fatal = new CopyOnWriteArrayList<>();

    /** Keeps what it was told. Survives restarts, as a state on disk would. */
    private static final class Learner implements MergedLearner {
        private final List<String> told = new ArrayList<>();
        private final Map<Integer, Long> timestamps = new HashMap<>();
        private final Map<Integer, Membership> memberships = new HashMap<>();
        private MergePosition position;
        private @Nullable Learner peer;

        Learner(MergePosition start) {
            this.position = start;
        }

        @Override
        public int group() {
            return GROUP;
        }

        @Override
        public synchronized MergePosition position() {
            return position;
        }

        @Override
        public synchronized long lastTimestamp(int ring) {
            return timestamps.getOrDefault(ring, 0L);
        }

        @Override
        public synchronized @Nullable Membership membership(int ring) {
            return memberships.get(ring);
        }

        @Override
        public synchronized void deliver(
                int ring, long instance, List<Entry> entries, MergePosition after) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Members changed) {
                    memberships.put(ring, changed.membership());
                } else if (entry instanceof Entry.Command command) {
                    timestamps.put(ring, command.timestamp());
                    told.add(ring + "." + instance + " " + new String(command.value(), UTF_8));
                }
            }
            position = after;
        }

        @Override
        public synchronized void behind(int ring, long firstAvailable) {
            Learner from = peer;
            if (from == null) {
                throw new AssertionError("behind " + ring + "." + firstAvailable);
            }
            synchronized (from) {
                told.clear();
                told.addAll(from.told);
                timestamps.putAll(from.timestamps);
                position = from.position;
            }
        }

        synchronized List<String> told() {
            return List.copyOf(told);
        }

        boolean has(String value) {
            return told().stream().anyMatch(text -> text.endsWith(" " + value));
        }
    }

    @BeforeEach
    void begin() throws IOException {
        for (int node : NODES) {
            addresses.put(node, Cluster.freeAddress());
        }
    }

    @AfterEach
    void end() {
        List.copyOf(running.values()).forEach(MulticastNode::close);
        assertThat(fatal).isEmpty();
    }

    private void startAll(List<Integer> followed) throws IOException {
        for (int node : NODES) {
            learners.put(node, new Learner(MergePosition.start(TURNS.turn(), followed)));
            start(node);
        }
    }

    private MulticastOptions options(int node) {
        return new MulticastOptions(
                "test",
                node,
                addresses.get(node),
                addresses,
                Map.of(0, NODES, 1, NODES),
                -1,
                folder.resolve("node" + node),
                true,
                4 << 20,
                retainedBytes);
    }

    private void start(int node) throws IOException {
        running.put(
                node,
                MulticastNode.startMerged(
                        options(node).mergedBy(TURNS), learners.get(node), fatal::add));
    }

    private static void propose(Multicast node, int ring, String value) {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> node.propose(ring, value.getBytes(UTF_8), new int[0]));
    }

    /** Again and again, as clients do, until everyone who runs was told. */
    private void proposeUntilDelivered(int node, int ring, String value) {
        long[] proposedAt = {0};
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> {
                    long now = System.nanoTime();
                    if (proposedAt[0] == 0 || now - proposedAt[0] > 1_000_000_000L) {
                        propose(running.get(node), ring, value);
                        proposedAt[0] = now;
                    }
                    return running.keySet().stream().allMatch(n -> learners.get(n).has(value));
                });
    }

    private void assertSameOrder() {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    List<String> first = learners.get(1).told();
                    assertThat(learners.get(2).told()).isEqualTo(first);
                    assertThat(learners.get(3).told()).isEqualTo(first);
                });
    }

    private int coordinator(int ring) {
        return await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(
                        () ->
                                running.entrySet().stream()
                                        .filter(e -> e.getValue().leaseInstance(ring) >= 0)
                                        .map(Map.Entry::getKey)
                                        .findFirst()
                                        .orElse(-1),
                        node -> node > 0);
    }

    @Test
    void oneOrderOfTwoRingsThroughTheDeathOfACoordinator() throws Exception {
        startAll(List.of(0, 1));
        for (int i = 0; i < 50; i++) {
            propose(running.get(1 + i % 3), i % 2, "early" + i);
        }
        proposeUntilDelivered(2, 1, "only ring 1");
        int killed = coordinator(0);
        running.remove(killed).crash();
        int survivor = killed % 3 + 1;
        proposeUntilDelivered(survivor, 1, "without it");
        proposeUntilDelivered(survivor, 0, "after it");

        // Skips of the new coordinator made up for the time between: nothing lags by it now.
        long begin = System.nanoTime();
        proposeUntilDelivered(survivor, 1, "at once");
        assertThat(System.nanoTime() - begin).isLessThan(5_000_000_000L);

        start(killed);
        proposeUntilDelivered(killed, 0, "again");
        assertSameOrder();
    }

    @Test
    void followsAndLeavesARingAtOnePlace() throws Exception {
        startAll(List.of(1));
        proposeUntilDelivered(1, 1, "first");
        propose(running.get(1), 0, "unheard");
        proposeUntilDelivered(1, 1, "second");
        subscribe(true);
        proposeUntilDelivered(1, 0, "heard");
        assertSameOrder();
        assertThat(learners.get(1).has("unheard")).isFalse();

        subscribe(false);
        running.remove(3).crash();
        proposeUntilDelivered(1, 1, "third");
        for (Learner learner : List.of(learners.get(1), learners.get(2))) {
            running.values().forEach(node -> node.checkpointed(learner.position()));
        }
        start(3);
        proposeUntilDelivered(3, 1, "fourth");
        assertSameOrder();
    }

    private void subscribe(boolean follow) {
        long[] askedAt = {0};
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    long now = System.nanoTime();
                    if (askedAt[0] == 0 || now - askedAt[0] > 1_000_000_000L) {
                        boolean asked =
                                follow
                                        ? running.get(2).subscribe(1, GROUP, RingPosition.start(0))
                                        : running.get(2).unsubscribe(1, GROUP, 0);
                        askedAt[0] = asked ? now : 0;
                    }
                    return NODES.stream()
                            .allMatch(n -> (learners.get(n).position().in(0) != null) == follow);
                });
    }

    @Test
    void aMergeBeyondEveryLogTakesOverACheckpointOfBothRings() throws Exception {
        retainedBytes = 0;
        startAll(List.of(0, 1));
        proposeUntilDelivered(1, 0, "before");
        running.remove(3).crash();
        String filler = "-".repeat(100_000);
        for (int i = 0; running.get(1).status(0).firstAvailable() < 100; i++) {
            propose(running.get(1 + i % 2), i % 2, i + filler);
            running.forEach(
                    (node, multicast) -> multicast.checkpointed(learners.get(node).position()));
        }
        learners.get(3).peer = learners.get(1);
        start(3);
        proposeUntilDelivered(1, 1, "after");
        assertSameOrder();
    }

    @Test
    void anotherTurnThanTheStatesIsRefused() {
        learners.put(1, new Learner(MergePosition.start(3, List.of(0, 1))));
        assertThatThrownBy(() -> start(1))
                .isInstanceOf(Invariant.Broken.class)
                .hasMessageContaining("merged in turns of 3, the configuration says 2");
    }
}
