package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.protocol.Dissemination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

@Timeout(120)
class MulticastNodeTest {
    private static final int[] NOWHERE = {};
    private static final Map<Integer, List<Integer>> ONE_RING = Map.of(1, List.of(1, 2, 3));

    @TempDir Path folder;

    private static void propose(Multicast node, int ring, String value, int... destinations) {
        if (!node.propose(ring, value.getBytes(UTF_8), destinations)) {
            await().atMost(Cluster.LONG)
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> node.propose(ring, value.getBytes(UTF_8), destinations));
        }
    }

    /** Proposes again, as clients do, until the value is delivered here. */
    private static void proposeUntilDelivered(Cluster cluster, int node, int ring, String value) {
        RecordingLearner learner = cluster.learner(node, ring);
        if (learner.has(value)) {
            return;
        }
        long[] proposedAt = {0};
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> {
                    if (!learner.has(value) && System.nanoTime() - proposedAt[0] > 500_000_000L) {
                        cluster.running.get(node).propose(ring, value.getBytes(UTF_8), NOWHERE);
                        proposedAt[0] = System.nanoTime();
                    }
                    return learner.has(value);
                });
    }

    /** Many at once; a machine so busy that the coordinator changes meanwhile may lose some. */
    private static void proposeBurst(Cluster cluster, int node, int count, String tail) {
        for (int i = 0; i < count; i++) {
            propose(cluster.running.get(node), 1, i + tail);
        }
        RecordingLearner learner = cluster.learner(node, 1);
        int[] before = {-1};
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> {
                    int stood = before[0];
                    before[0] = learner.count();
                    return learner.has(count - 1 + tail) || before[0] == stood;
                });
        for (int i = 0; i < count; i++) {
            proposeUntilDelivered(cluster, node, 1, i + tail);
        }
    }

    private static void awaitCount(Cluster cluster, int ring, int count) {
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    for (int node : cluster.running.keySet()) {
                        assertThat(cluster.learner(node, ring).count())
                                .as("node %s", node)
                                .isGreaterThanOrEqualTo(count);
                    }
                });
    }

    private static void assertSameOrder(Cluster cluster, int ring) {
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    List<String> first = null;
                    for (int node : cluster.running.keySet()) {
                        List<String> values = cluster.learner(node, ring).values();
                        first = first == null ? values : first;
                        assertThat(values).as("node %s", node).isEqualTo(first);
                    }
                });
    }

    /** A coordinator that takes over has given grants that the proposer knows nothing of. */
    @Test
    void whatIsProposedHereIsNotHandedOn() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int follower = coordinator % 3 + 1;
            await().atMost(Cluster.LONG)
                    .until(() ->
                            cluster.running
                                    .get(follower)
                                    .proposeHere(1, "nowhere".getBytes(UTF_8)));
            proposeUntilDelivered(cluster, follower, 1, "handed on");
            await().atMost(Cluster.LONG)
                    .until(() -> {
                        cluster.running
                                .get(cluster.awaitCoordinator(1))
                                .proposeHere(1, "led".getBytes(UTF_8));
                        return cluster.learner(follower, 1).has("led");
                    });
            assertThat(cluster.learner(follower, 1).has("nowhere")).isFalse();
        }
    }

    @Test
    void theLogTellsWhoCoordinates() throws Exception {
        Queue<String> told = new ConcurrentLinkedQueue<>();
        AppenderBase<ILoggingEvent> appender =
                new AppenderBase<>() {
                    @Override
                    protected void append(ILoggingEvent event) {
                        told.add(event.getFormattedMessage());
                    }
                };
        appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Ring.class);
        logger.setLevel(Level.INFO);
        logger.addAppender(appender);
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            int first = cluster.awaitCoordinator(1);
            await().atMost(Cluster.LONG)
                    .until(() -> told.contains("ring 1: replica " + first + " coordinates"));
            cluster.crash(first);
            int next = cluster.awaitCoordinator(1);
            await().atMost(Cluster.LONG)
                    .until(() -> told.contains("ring 1: replica " + next + " coordinates"));
        } finally {
            logger.detachAppender(appender);
        }
    }

    @Test
    void aReadIndexIsConfirmedByAMajorityOrGivenUp() throws Exception {
        try (Cluster cluster = new Cluster(folder, Map.of(1, List.of(1, 2, 3)))) {
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            MulticastNode node = cluster.running.get(coordinator);
            long before = node.status(1).decided();
            assertThat(node.readIndex(1).get(10, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(before);
            int follower = coordinator % 3 + 1;
            assertThat(cluster.running.get(follower).readIndex(1).get(10, TimeUnit.SECONDS))
                    .isEqualTo(Multicast.NONE);
            cluster.crash(follower);
            cluster.crash(6 - coordinator - follower);
            assertThat(node.readIndex(1).get(30, TimeUnit.SECONDS)).isEqualTo(Multicast.NONE);
        }
    }

    @Test
    void membersAgreeOnTheOrderOfConcurrentProposals() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            cluster.awaitCoordinator(1);
            List<Thread> proposers = new ArrayList<>();
            for (int node = 1; node <= 3; node++) {
                for (int thread = 0; thread < 2; thread++) {
                    String name = node + "." + thread + ".";
                    Multicast multicast = cluster.running.get(node);
                    proposers.add(
                            Thread.ofPlatform()
                                    .start(() -> {
                                        for (int i = 0; i < 200; i++) {
                                            propose(multicast, 1, name + i);
                                        }
                                    }));
                }
            }
            for (Thread proposer : proposers) {
                proposer.join();
            }
            // Proposals are lost when the coordinator changes, as it may while members still find
            // each other.
            for (int node = 1; node <= 3; node++) {
                for (int i = 0; i < 200; i++) {
                    proposeUntilDelivered(cluster, node, 1, node + ".0." + i);
                    proposeUntilDelivered(cluster, node, 1, node + ".1." + i);
                }
            }
            assertSameOrder(cluster, 1);
            assertThat(Set.copyOf(cluster.learner(1, 1).values())).hasSize(1200);
        }
    }

    @Test
    void valuesGoRoundTheRingWhateverHappensToIt() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.dissemination = Map.of(1, Dissemination.RING);
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int next = coordinator % 3 + 1;
            proposeBurst(cluster, coordinator, 2000, "-".repeat(5_000));
            awaitCount(cluster, 1, 2000);
            cluster.crash(next);
            for (int i = 0; i < 100; i++) {
                proposeUntilDelivered(cluster, coordinator, 1, "without the next " + i);
            }
            cluster.start(next);
            awaitCount(cluster, 1, 2100);
            cluster.crash(coordinator);
            int successor = cluster.awaitCoordinator(1);
            for (int i = 0; i < 100; i++) {
                proposeUntilDelivered(cluster, successor, 1, "without the former " + i);
            }
            cluster.start(coordinator);
            awaitCount(cluster, 1, 2200);
            assertSameOrder(cluster, 1);
        }
    }

    /** The two followers lose their connection: whichever is behind the other is served. */
    @Test
    void aLinkMissingInTheRingIsMadeUpFor() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.dissemination = Map.of(1, Dissemination.RING);
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int dialling = coordinator == 1 ? 2 : 1;
            int dialled = coordinator == 3 ? 2 : 3;
            InetSocketAddress address = cluster.addresses.get(dialled);
            try (ServerSocket nobody = new ServerSocket(0, 1, address.getAddress())) {
                cluster.crash(dialling);
                cluster.addresses.put(
                        dialled,
                        new InetSocketAddress(address.getAddress(), nobody.getLocalPort()));
                cluster.start(dialling);
                for (int i = 0; i < 200; i++) {
                    proposeUntilDelivered(cluster, coordinator, 1, "value " + i);
                }
                awaitCount(cluster, 1, 200);
                assertThat(cluster.running.get(dialling).status(1).connected())
                        .containsExactlyInAnyOrder(dialling, coordinator);
                assertSameOrder(cluster, 1);
            }
        }
    }

    @Test
    void restartedMemberCatchesUp() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int other = coordinator == 3 ? 2 : 3;
            propose(cluster.running.get(coordinator), 1, "before");
            awaitCount(cluster, 1, 1);
            cluster.crash(other);
            for (int i = 0; i < 3000; i++) {
                propose(cluster.running.get(coordinator), 1, "value " + i + "-".repeat(500));
            }
            awaitCount(cluster, 1, 3001);
            cluster.start(other);
            awaitCount(cluster, 1, 3001);
            assertSameOrder(cluster, 1);
        }
    }

    @Test
    void coordinatorCrashIsTakenOverInBoundedTime() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            List<String> acknowledged = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                int coordinator = cluster.awaitCoordinator(1);
                for (int i = 0; i < 50; i++) {
                    String value = "round " + round + " value " + i;
                    proposeUntilDelivered(cluster, coordinator, 1, value);
                    acknowledged.add(value);
                }
                cluster.crash(coordinator);
                long crashed = System.nanoTime();
                int next = cluster.awaitCoordinator(1);
                proposeUntilDelivered(cluster, next, 1, "take-over " + round);
                long tookMs = (System.nanoTime() - crashed) / 1_000_000;
                System.out.println("take-over took " + tookMs + " ms");
                assertThat(tookMs).isLessThan(5_000);
                cluster.start(coordinator);
                assertThat(cluster.learner(next, 1).values()).containsAll(acknowledged);
            }
            awaitCount(cluster, 1, acknowledged.size() + 3);
            assertSameOrder(cluster, 1);
        }
    }

    @Test
    void everythingDeliveredSurvivesACrashOfAll() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            for (int i = 0; i < 500; i++) {
                propose(cluster.running.get(coordinator), 1, "value " + i);
            }
            awaitCount(cluster, 1, 500);
            List<String> before = cluster.learner(1, 1).values();
            for (int node : List.of(1, 2, 3)) {
                cluster.crash(node);
                // The state is lost: everything comes back from the log.
                cluster.learners.get(node).put(1, new RecordingLearner());
            }
            cluster.startAll();
            awaitCount(cluster, 1, 500);
            assertThat(cluster.learner(2, 1).values().subList(0, 500)).isEqualTo(before);
            proposeUntilDelivered(cluster, cluster.awaitCoordinator(1), 1, "after");
            assertSameOrder(cluster, 1);
        }
    }

    @Test
    void slowLearnerReadsBackFromTheLog() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            CountDownLatch go = new CountDownLatch(1);
            cluster.learner(2, 1).onDelivered = (instance, entries) -> awaitLatch(go);
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int from = coordinator == 2 ? 1 : coordinator;
            for (int i = 0; i < 3000; i++) {
                proposeUntilDelivered(cluster, from, 1, "value " + i);
                if (i == 200) {
                    i = 2800; // few instances are slow, many pass below
                }
            }
            proposeBurst(cluster, from, 4000, " burst " + "-".repeat(10_000));
            go.countDown();
            awaitCount(cluster, 1, 4000 + 400);
            assertSameOrder(cluster, 1);
        }
    }

    @Test
    void aLearnerThatStandsStillHoldsNoLogBackThatIsToBeShort() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.retainedBytes = 0;
            CountDownLatch go = new CountDownLatch(1);
            cluster.learner(3, 1).onDelivered = (instance, entries) -> awaitLatch(go);
            try {
                cluster.startAll();
                int coordinator = cluster.awaitCoordinator(1);
                int from = coordinator == 3 ? 1 : coordinator;
                cluster.running.values().forEach(node -> node.keepLogShort(true));
                await().atMost(Cluster.LONG)
                        .pollInterval(Duration.ofMillis(20))
                        .until(() -> {
                            for (int i = 0; i < 20; i++) {
                                propose(cluster.running.get(from), 1, "-".repeat(20_000));
                            }
                            cluster.running.forEach((id, node) ->
                                    node.checkpointed(1, cluster.learner(id, 1).applied()));
                            return cluster.running.get(from).status(1).firstAvailable() > 100;
                        });
            } finally {
                go.countDown();
            }
            proposeUntilDelivered(cluster, cluster.awaitCoordinator(1), 1, "after");
            await().atMost(Cluster.LONG).until(() -> cluster.learner(3, 1).has("after"));
            assertSameOrder(cluster, 1);
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void memberBeyondEveryLogTakesOverACheckpoint() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.retainedBytes = 0;
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            int lagging = coordinator == 1 ? 2 : 1;
            cluster.crash(lagging);
            String filler = "-".repeat(20_000);
            for (int i = 0;
                    cluster.running.get(coordinator).status(1).firstAvailable() < 100;
                    i++) {
                propose(cluster.running.get(coordinator), 1, i + filler);
                cluster.running.forEach(
                        (id, node) -> node.checkpointed(1, cluster.learner(id, 1).applied()));
            }
            AtomicBoolean tookOver = new AtomicBoolean();
            cluster.learner(lagging, 1).onBehind =
                    first -> {
                        cluster.learner(lagging, 1).takeOver(cluster.learner(coordinator, 1));
                        tookOver.set(true);
                    };
            cluster.start(lagging);
            proposeUntilDelivered(cluster, coordinator, 1, "after");
            await().atMost(Cluster.LONG).until(() -> cluster.learner(lagging, 1).has("after"));
            assertThat(tookOver).isTrue();
            assertSameOrder(cluster, 1);
            cluster.crash(lagging);
            cluster.start(lagging);
            proposeUntilDelivered(cluster, coordinator, 1, "after restart");
            await().atMost(Cluster.LONG)
                    .until(() -> cluster.learner(lagging, 1).has("after restart"));
        }
    }

    @Test
    void globalInstancesAreImportedInOrderWithoutGaps() throws Exception {
        Map<Integer, List<Integer>> rings = Map.of(0, List.of(1, 2, 3), 1, List.of(1, 2, 3));
        try (Cluster cluster = new Cluster(folder, rings)) {
            for (int node = 1; node <= 3; node++) {
                State state = new State();
                cluster.imports.put(node, state);
                cluster.homeRings.put(node, 1);
                int self = node;
                cluster.learner(node, 0).onDelivered =
                        (instance, entries) -> {
                            state.executed(instance, entries);
                            Multicast multicast = cluster.running.get(self);
                            if (multicast != null) {
                                multicast.globalExecuted(instance);
                            }
                        };
                cluster.learner(node, 1).onDelivered = state::imported;
            }
            cluster.startAll();
            int global = cluster.awaitCoordinator(0);
            int home = cluster.awaitCoordinator(1);
            for (int i = 0; i < 300; i++) {
                String value = "global " + i;
                int[] to = i % 3 == 0 ? new int[] {0} : new int[] {0, 1};
                propose(cluster.running.get(global), 0, value, to);
                propose(cluster.running.get(home), 1, "local " + i);
            }
            awaitCount(cluster, 0, 300);
            assertImported(cluster);
            cluster.crash(home);
            int next = cluster.awaitCoordinator(1);
            int nextGlobal = cluster.awaitCoordinator(0);
            for (int i = 300; i < 350; i++) {
                String value = "global " + i;
                propose(cluster.running.get(nextGlobal), 0, value, 0, 1);
            }
            proposeUntilDelivered(cluster, nextGlobal, 0, "last");
            proposeUntilDelivered(cluster, next, 1, "local last");
            assertImported(cluster);
            cluster.start(home);
            assertImported(cluster);
            assertSameOrder(cluster, 1);
        }
    }

    private static void assertImported(Cluster cluster) {
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(10))
                .untilAsserted(() -> {
                    NavigableSet<Long> expected =
                            ((State)
                                            cluster.imports.get(
                                                    cluster.running.keySet().iterator().next()))
                                    .concerning;
                    for (int node : cluster.running.keySet()) {
                        State state = (State) cluster.imports.get(node);
                        assertThat(state.concerning).as("node %s", node).isEqualTo(expected);
                        assertThat(state.done).as("node %s", node).isEqualTo(List.copyOf(expected));
                    }
                });
    }

    /** What a replica's state knows of imports: takes only the one that comes next. */
    private static final class State implements ImportSource {
        final NavigableSet<Long> concerning = new ConcurrentSkipListSet<>();
        final List<Long> done = new CopyOnWriteArrayList<>();
        private volatile long importedThrough;

        void executed(long instance, List<Entry> entries) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Command command && command.destinations().length > 1) {
                    concerning.add(instance);
                }
            }
        }

        void imported(long instance, List<Entry> entries) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Import i) {
                    await().atMost(Cluster.LONG)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() ->
                                    !concerning.isEmpty() && concerning.last() >= i.instance());
                    Long expected = concerning.higher(importedThrough);
                    if (expected != null && expected == i.instance()) {
                        done.add(expected);
                        importedThrough = expected;
                    }
                }
            }
        }

        @Override
        public long nextConcerning(int partition, long after) {
            Long next = concerning.higher(after);
            return next == null ? -1 : next;
        }

        @Override
        public long importedThrough(int partition) {
            return importedThrough;
        }
    }

    @Test
    void failingLearnerStopsTheNodeWithAReason() throws Exception {
        Cluster cluster = new Cluster(folder, ONE_RING);
        cluster.learner(2, 1).onDelivered =
                (instance, entries) -> {
                    throw new IllegalStateException("cannot apply");
                };
        cluster.startAll();
        int coordinator = cluster.awaitCoordinator(1);
        cluster.running.get(coordinator).propose(1, new byte[] {1}, NOWHERE);
        await().atMost(Cluster.LONG).until(() -> !cluster.fatal.isEmpty());
        assertThat(cluster.fatal.get(0)).hasMessage("cannot apply");
        assertThat(cluster.running.get(2).propose(1, new byte[] {1}, NOWHERE)).isFalse();
        int survivor = coordinator == 1 ? 1 : 3;
        await().atMost(Cluster.LONG)
                .until(() -> !cluster.running.get(survivor).status(1).connected().contains(2));
        cluster.fatal.clear();
        cluster.close();
    }

    @Test
    void peersOfAnotherClusterAreRefused() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.start(1);
            RecordingLearner learner = new RecordingLearner();
            try (MulticastNode stranger =
                    MulticastNode.start(
                            new MulticastOptions(
                                    "other",
                                    2,
                                    cluster.addresses.get(2),
                                    cluster.addresses,
                                    ONE_RING,
                                    -1,
                                    folder.resolve("stranger"),
                                    true,
                                    4 << 20,
                                    0),
                            Map.of(1, learner),
                            null,
                            cluster.fatal::add)) {
                cluster.start(3);
                int coordinator = cluster.awaitCoordinator(1);
                proposeUntilDelivered(cluster, coordinator, 1, "without the stranger");
                assertThat(stranger.status(1).connected()).containsExactly(2);
            }
        }
    }

    @Test
    void busyPortIsNamed() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.start(1);
            InetSocketAddress busy = cluster.addresses.get(1);
            cluster.addresses.put(2, busy);
            assertThatThrownBy(() -> cluster.start(2))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "cannot listen on " + busy.getHostString() + ":" + busy.getPort());
        }
    }

    @Test
    void idleRingsCostLittle() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            cluster.awaitCoordinator(1);
            // Once the compiler is through with what ran before.
            await().atMost(Cluster.LONG).until(() -> cpuShareForASecond() < 0.3);
        }
    }

    private static double cpuShareForASecond() {
        long before = cpuNs();
        long start = System.nanoTime();
        await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
        double share = (double) (cpuNs() - before) / (System.nanoTime() - start);
        System.out.printf("three idle members use %.2f %% of a processor%n", share * 100);
        return share;
    }

    private static long cpuNs() {
        return ((com.sun.management.OperatingSystemMXBean)
                        java.lang.management.ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** What it grants meanwhile would never end, for those who wait for that. */
    @Test
    void aCoordinatorWhoseLeaseHasEndedHasNoneLeft() throws Exception {
        try (Cluster cluster = new Cluster(folder, ONE_RING)) {
            cluster.startAll();
            int coordinator = cluster.awaitCoordinator(1);
            MulticastNode node = cluster.running.get(coordinator);
            List.of(1, 2, 3).stream().filter(other -> other != coordinator).forEach(cluster::crash);
            long most = 0;
            // It goes on as coordinator for a while, in case the others were only slow.
            for (boolean leads = true; leads; leads = node.isCoordinator(1)) {
                most = Math.max(most, node.leaseRemainingMs(1));
            }
            assertThat(most).isBetween(1L, 60_000L);
            assertThat(node.leaseRemainingMs(1)).isZero();
        }
    }
}
