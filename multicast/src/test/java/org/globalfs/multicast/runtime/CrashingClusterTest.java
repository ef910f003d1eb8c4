package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.Dissemination;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes crash and come back at random while values are proposed: what a learner was told once
 * stays, for everyone.
 */
@Timeout(180)
class CrashingClusterTest {
    private static final long RUN_MS = Long.getLong("globalfs.crashing.ms", 12_000);
    private static final Map<Integer, List<Integer>> RINGS =
            Map.of(0, List.of(1, 2, 3, 4, 5), 1, List.of(1, 2, 3));

    @TempDir Path folder;

    /**
     * What learners were told, by ring: instance to values. Two that differ are a lost agreement.
     */
    private final Map<Integer, Map<Long, String>> told = new ConcurrentHashMap<>();

    private final List<String> disagreements = new java.util.concurrent.CopyOnWriteArrayList<>();

    @Test
    void agreementAndDurabilityHold() throws Exception {
        long seed = Long.getLong("globalfs.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (Cluster cluster = new Cluster(folder, RINGS)) {
            // Learners that lose their state replay the whole log, if their process has it all.
            cluster.retainedBytes = Long.MAX_VALUE;
            cluster.dissemination = Map.of(0, Dissemination.RING);
            cluster.learners.forEach(
                    (node, own) -> own.forEach((ring, learner) -> watch(cluster, ring, learner)));
            cluster.startAll();
            AtomicBoolean stop = new AtomicBoolean();
            List<Thread> proposers = new ArrayList<>();
            for (int ring : RINGS.keySet()) {
                proposers.add(Thread.ofPlatform().start(() -> propose(cluster, ring, stop)));
            }
            crashAndRestart(cluster, random);
            stop.set(true);
            for (Thread proposer : proposers) {
                proposer.join();
            }
            for (int ring : RINGS.keySet()) {
                converge(cluster, ring);
            }
            assertThat(disagreements).as("seed %s", seed).isEmpty();
        }
    }

    private void watch(Cluster cluster, int ring, RecordingLearner learner) {
        // A learner without its state, in a process that lost its log before.
        learner.onBehind =
                first ->
                        cluster.learners.values().stream()
                                .map(own -> own.get(ring))
                                .filter(peer -> peer != null && peer.applied() >= first - 1)
                                .findFirst()
                                .ifPresent(learner::takeOver);
        Map<Long, String> ofRing = told.computeIfAbsent(ring, r -> new ConcurrentHashMap<>());
        learner.onDelivered =
                (instance, entries) -> {
                    String content =
                            entries.stream().map(CrashingClusterTest::text).toList().toString();
                    String before = ofRing.putIfAbsent(instance, content);
                    if (before != null && !before.equals(content)) {
                        disagreements.add(
                                "ring "
                                        + ring
                                        + " instance "
                                        + instance
                                        + ": "
                                        + before
                                        + " and "
                                        + content);
                    }
                };
    }

    private static String text(org.globalfs.multicast.Entry entry) {
        return entry instanceof org.globalfs.multicast.Entry.Command c
                ? c.timestamp() + ":" + new String(c.value(), UTF_8)
                : entry.toString();
    }

    private static void propose(Cluster cluster, int ring, AtomicBoolean stop) {
        Random random = new Random(ring);
        for (int i = 0; !stop.get(); i++) {
            List<MulticastNode> nodes = List.copyOf(cluster.running.values());
            MulticastNode node = nodes.get(random.nextInt(nodes.size()));
            String value = "v" + i + "-".repeat(random.nextInt(500));
            if (node.inRing(ring)) {
                node.propose(ring, value.getBytes(UTF_8), new int[0]);
            }
            if (i % 20 == 0) {
                await().pollDelay(Duration.ofMillis(2)).until(() -> true);
            }
        }
    }

    private void crashAndRestart(Cluster cluster, Random random) throws Exception {
        long end = System.nanoTime() + RUN_MS * 1_000_000;
        while (System.nanoTime() < end) {
            pause(random.nextInt(1200));
            Set<Integer> down = new HashSet<>();
            for (int i = random.nextInt(2) + 1; i > 0; i--) {
                // At most one of the region's three, and two of the five.
                int node = down.isEmpty() ? random.nextInt(5) + 1 : random.nextInt(2) + 4;
                if (down.add(node)) {
                    cluster.crash(node);
                }
            }
            pause(random.nextInt(1500));
            for (int node : down) {
                if (down.size() == 1 && random.nextInt(4) == 0 && allTakePart(cluster)) {
                    Folders.delete(cluster.logOf(node));
                }
                if (random.nextInt(4) == 0) {
                    cluster.learners
                            .get(node)
                            .replaceAll((ring, learner) -> {
                                RecordingLearner fresh = new RecordingLearner();
                                watch(cluster, ring, fresh);
                                return fresh;
                            });
                }
                cluster.start(node);
            }
        }
    }

    /** Of those that run: a second one without its log would be one too many. */
    private static boolean allTakePart(Cluster cluster) {
        return cluster.running.values().stream()
                .allMatch(node ->
                        RINGS.keySet().stream()
                                .noneMatch(ring ->
                                        node.inRing(ring) && node.status(ring).rejoining()));
    }

    private static void pause(int ms) {
        await().pollDelay(Duration.ofMillis(ms))
                .timeout(Duration.ofMillis(ms + 60_000L))
                .until(() -> true);
    }

    private void converge(Cluster cluster, int ring) {
        int[] sent = {0};
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    int coordinator = cluster.awaitCoordinator(ring);
                    cluster.running
                            .get(coordinator)
                            .propose(ring, ("end" + sent[0]++).getBytes(UTF_8), new int[0]);
                    return RINGS.get(ring).stream()
                            .allMatch(n -> cluster.learner(n, ring).has("end0"));
                });
        long highest = told.get(ring).keySet().stream().mapToLong(Long::longValue).max().orElse(0);
        await().atMost(Duration.ofSeconds(60))
                .until(() ->
                        RINGS.get(ring).stream()
                                .allMatch(n -> cluster.learner(n, ring).applied() >= highest));
        assertThat(told.get(ring)).hasSizeGreaterThanOrEqualTo((int) highest);
        System.out.println("ring " + ring + ": " + highest + " instances");
    }
}
