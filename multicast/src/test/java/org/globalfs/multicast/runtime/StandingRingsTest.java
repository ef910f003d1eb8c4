package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A ring without a majority leaves the disk to its process's other rings, and loses nothing. */
@Timeout(180)
class StandingRingsTest {
    private static final int NEAR = 0;
    private static final int FAR = 1;
    private static final int BOTH = 1;
    private static final long MOST_LOG_BYTES = 32 << 20;

    @TempDir Path folder;

    @Test
    void logStaysShortAndKeepsWhatTheStandingRingDecidedAndVotedFor() throws Exception {
        try (Cluster cluster =
                new Cluster(folder, Map.of(NEAR, List.of(BOTH, 2, 3), FAR, List.of(BOTH, 4, 5)))) {
            cluster.retainedBytes = 0;
            cluster.startAll();
            letCoordinateFar(cluster);
            List<String> decided = propose(cluster, "decided", 100);
            await().atMost(Cluster.LONG).until(() -> hasAll(cluster, BOTH, decided));
            long applied = cluster.learner(BOTH, FAR).applied();
            cluster.crash(4);
            cluster.crash(5);
            List<String> voted = propose(cluster, "voted", 20);

            fillNear(cluster, 3 * MOST_LOG_BYTES);
            assertThat(logBytes(cluster)).isLessThan(MOST_LOG_BYTES);
            assertThat(cluster.running.get(BOTH).status(FAR).firstAvailable()).isEqualTo(1);
            assertThat(cluster.learner(BOTH, FAR).applied()).isEqualTo(applied);

            cluster.crash(BOTH);
            cluster.learners.get(BOTH).put(FAR, new RecordingLearner());
            cluster.start(BOTH);
            await().atMost(Cluster.LONG).until(() -> hasAll(cluster, BOTH, decided));
            // Of a majority of two both members' votes count.
            cluster.start(4);
            await().atMost(Cluster.LONG)
                    .until(() -> hasAll(cluster, BOTH, voted) && hasAll(cluster, 4, voted));
        }
    }

    /** Whoever coordinates has voted for what it proposed. */
    private static void letCoordinateFar(Cluster cluster) throws IOException {
        int coordinator = cluster.awaitCoordinator(FAR);
        while (coordinator != BOTH) {
            int other = coordinator;
            cluster.crash(other);
            coordinator = cluster.awaitCoordinator(FAR);
            cluster.start(other);
        }
    }

    private static List<String> propose(Cluster cluster, String name, int count) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String value = name + i;
            await().atMost(Cluster.LONG)
                    .pollInterval(Duration.ofMillis(2))
                    .until(() ->
                            cluster.running
                                    .get(BOTH)
                                    .propose(FAR, value.getBytes(UTF_8), new int[0]));
            values.add(value);
        }
        return values;
    }

    private static boolean hasAll(Cluster cluster, int node, List<String> values) {
        return cluster.learner(node, FAR).values().containsAll(values);
    }

    private static void fillNear(Cluster cluster, long bytes) {
        byte[] value = new byte[50_000];
        for (long done = 0; done < bytes; done += value.length) {
            await().atMost(Cluster.LONG)
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> cluster.running.get(BOTH).propose(NEAR, value, new int[0]));
            cluster.running.forEach((id, node) -> {
                if (node.inRing(NEAR)) {
                    node.checkpointed(NEAR, cluster.learner(id, NEAR).applied());
                }
            });
        }
    }

    private static long logBytes(Cluster cluster) throws IOException {
        try (Stream<Path> files = Files.list(cluster.logOf(BOTH))) {
            return files.filter(file -> file.getFileName().toString().startsWith("segment-"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }
}
