package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.log.LogException;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members whose log is damaged or gone, with real logs and sockets. */
@Timeout(120)
class LostLogTest {
    private static final int RING = 1;

    /** Into the records of the first segment, far before what was synced later. */
    private static final int DAMAGED_BYTE = 4096 + 40;

    @TempDir Path folder;
    private final List<String> proposed = new ArrayList<>();

    private Cluster cluster() throws IOException {
        return new Cluster(folder, Map.of(RING, List.of(1, 2, 3)));
    }

    private void propose(Cluster cluster, int count, int... deliverTo) {
        for (int i = 0; i < count; i++) {
            String value = "value" + proposed.size();
            proposed.add(value);
            await().atMost(Cluster.LONG)
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> {
                        cluster.running
                                .get(cluster.awaitCoordinator(RING))
                                .propose(RING, value.getBytes(UTF_8), new int[0]);
                        return has(cluster, value, deliverTo);
                    });
        }
    }

    private static boolean has(Cluster cluster, String value, int... nodes) {
        for (int node : nodes) {
            if (!cluster.learner(node, RING).has(value)) {
                return false;
            }
        }
        return true;
    }

    private static void awaitRejoined(Cluster cluster, int node) {
        await().atMost(Cluster.LONG)
                .until(() -> !cluster.running.get(node).status(RING).rejoining());
    }

    private void assertAllDelivered(Cluster cluster, int node) {
        assertThat(cluster.learner(node, RING).values()).containsAll(proposed);
    }

    @Test
    void aDamagedLogIsSetAsideAndReplaced() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 20, 1, 2, 3);
            cluster.crash(2);
            try (RandomAccessFile file =
                    new RandomAccessFile(
                            cluster.logOf(2).resolve("segment-000000000001.log").toFile(), "rw")) {
                file.seek(DAMAGED_BYTE);
                int before = file.read();
                file.seek(DAMAGED_BYTE);
                file.write(before ^ 0x40);
            }
            cluster.start(2);
            assertThat(folder.resolve("node2.damaged-1")).isDirectory();
            awaitRejoined(cluster, 2);
            cluster.crash(1);
            propose(cluster, 5, 2, 3);
            assertAllDelivered(cluster, 2);
        }
    }

    @Test
    void aLogThatIsGoneIsNotTakenForANewOne() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 10, 1, 2, 3);
            cluster.crash(3);
            propose(cluster, 5, 1, 2);
            cluster.crash(2);
            cluster.crash(1);
            Folders.delete(cluster.logOf(2));
            RecordingLearner third = cluster.learner(3, RING);
            third.onBehind = first -> third.takeOver(cluster.learner(2, RING));
            cluster.start(2);
            cluster.start(3);
            // Values that only 1 and the old 2 voted for must not get lost.
            await().during(Duration.ofSeconds(3))
                    .atMost(Duration.ofSeconds(10))
                    .until(() ->
                            cluster.running.get(2).status(RING).rejoining()
                                    && cluster.running.values().stream()
                                            .noneMatch(node -> node.isCoordinator(RING)));
            cluster.start(1);
            awaitRejoined(cluster, 2);
            propose(cluster, 3, 1, 2, 3);
            for (int node = 1; node <= 3; node++) {
                assertAllDelivered(cluster, node);
            }
            cluster.crash(1);
            propose(cluster, 3, 2, 3);
        }
    }

    @Test
    void anEmptyDiskOfAMemberThatOnceTookPartIsALossToo() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 10, 1, 2, 3);
            cluster.crash(1);
            Folders.delete(cluster.logOf(1));
            Files.delete(folder.resolve("node1.begun"));
            cluster.learners.get(1).put(RING, new RecordingLearner());
            LogFolder.expectLog(cluster.logOf(1));
            cluster.start(1);
            awaitRejoined(cluster, 1);
            cluster.crash(2);
            propose(cluster, 3, 1, 3);
            assertAllDelivered(cluster, 1);
        }
    }

    @Test
    void aReplacementThatACrashInterruptedIsMadeAgain() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 5, 1, 2, 3);
            cluster.crash(2);
            Folders.delete(cluster.logOf(2));
            Files.createDirectories(folder.resolve("node2.new"));
            Files.writeString(folder.resolve("node2.new/segment-000000000001.log.tmp"), "half");
            cluster.start(2);
            awaitRejoined(cluster, 2);
            assertThat(folder.resolve("node2.new")).doesNotExist();
            cluster.crash(3);
            propose(cluster, 3, 1, 2);
        }
    }

    /** The damaged log is aside already, the new one is complete but has not its name yet. */
    @Test
    void aCrashBetweenTheTwoRenamingsIsNoFreshStart() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 5, 1, 2, 3);
            cluster.crash(2);
            cluster.crash(1);
            Files.move(cluster.logOf(2), folder.resolve("node2.damaged-1"));
            cluster.start(2);
            assertThat(cluster.running.get(2).status(RING).rejoining()).isTrue();
            cluster.start(1);
            awaitRejoined(cluster, 2);
            propose(cluster, 3, 1, 2, 3);
        }
    }

    @Test
    void aMemberThatStopsBeforeItTookPartAgainStillWaits() throws IOException {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, 5, 1, 2, 3);
            cluster.crash(1);
            cluster.crash(2);
            Folders.delete(cluster.logOf(2));
            for (int round = 0; round < 3; round++) {
                cluster.start(2);
                assertThat(cluster.running.get(2).status(RING).rejoining()).isTrue();
                cluster.crash(2);
            }
            cluster.start(2);
            cluster.start(1);
            awaitRejoined(cluster, 2);
            propose(cluster, 3, 1, 2, 3);
        }
    }

    @Test
    void aRingWithoutOthersToAskKeepsItsDamage() throws IOException {
        try (Cluster cluster = new Cluster(folder, Map.of(RING, List.of(1)))) {
            cluster.startAll();
            propose(cluster, 3, 1);
            cluster.crash(1);
            Folders.delete(cluster.logOf(1));
            assertThatThrownBy(() -> cluster.start(1))
                    .isInstanceOf(LogException.class)
                    .hasMessageContaining("is gone")
                    .hasMessageContaining("restore the folder");
        }
    }
}
