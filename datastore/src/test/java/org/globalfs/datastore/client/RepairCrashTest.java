package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.core.ConditionFactory;
import org.globalfs.datastore.node.FaultPoints;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes die between the steps of rebalancing and of rebuilding, and start again. */
@Timeout(300)
class RepairCrashTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final List<String> NODES = List.of("a1", "a2", "b1", "b2", "c1", "c2");

    @TempDir Path folder;
    private final Random random = new Random(4712);
    private final Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
    private final AtomicReference<Death> death = new AtomicReference<>();
    private StorageCluster cluster;
    private DistributedBlockStore store;

    /** Thrown in a node's own threads, which it ends; no catch of the product's stops it. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1;

        Died(String node, Step step) {
            super(node + " dies at " + step + ", as the test wants", null, false, false);
        }
    }

    /** The first node that gets to a step for the nth time stands still from then on. */
    private static final class Death {
        private final Step step;
        private final AtomicInteger left;
        private final AtomicReference<String> victim = new AtomicReference<>();

        /** The test's own thread, which closes what is left of it. */
        private final Thread closer = Thread.currentThread();

        Death(Step step, int times) {
            this.step = step;
            left = new AtomicInteger(times);
        }

        void reached(String node, Step other) {
            if (other == step && left.decrementAndGet() == 0) {
                victim.set(node);
            }
            if (node.equals(victim.get()) && !closer.equals(Thread.currentThread())) {
                throw new Died(node, step);
            }
        }

        String victim() {
            return victim.get();
        }
    }

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        cluster.repairs = new RepairOptions(1_000, Long.MAX_VALUE, 300);
        cluster.faults = this::faults;
        for (String node : NODES) {
            cluster.stop(node);
            cluster.start(node);
        }
        store = cluster.client();
        putBlocks(25);
    }

    private void putBlocks(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            byte[] content = new byte[65_536 + random.nextInt(200_000)];
            random.nextBytes(content);
            blocks.put(store.put(StorageCluster.REGION, ByteBuffer.wrap(content)), content);
        }
    }

    private FaultPoints faults(String node) {
        return (step, path) -> {
            Death planned = death.get();
            if (planned != null) {
                planned.reached(node, step);
            }
        };
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Step.class,
            names = {"MOVE_MARKED", "MOVE_ASKED", "MOVE_SENT", "RECORD_DEAD", "MOVE_ENDED"})
    void whoGivesAChunkAwayDies(Step step) throws IOException {
        death.set(new Death(step, 3));
        cluster.start("a3");
        dieAndStartAgain();
        eventually().until(this::areHome);
        readAll();
        deleteAll();
    }

    /** The new node, most likely: it gets the others' chunks. */
    @ParameterizedTest
    @EnumSource(
            value = Step.class,
            names = {"RECORD_BEGUN", "RECORD_WRITTEN", "RECORD_ENTERED", "SYNCED"})
    void whoGetsAChunkDies(Step step) throws IOException {
        death.set(new Death(step, 4));
        cluster.start("b3");
        dieAndStartAgain();
        eventually().until(this::areHome);
        readAll();
        deleteAll();
    }

    @ParameterizedTest
    @EnumSource(
            value = Step.class,
            names = {"CHUNK_MADE", "CHUNK_KEPT"})
    void whoMakesAChunkAnewDies(Step step) throws IOException {
        death.set(new Death(step, 2));
        cluster.stop("c1");
        dieAndStartAgain();
        eventually().until(() -> held().size() == chunks());
        readAll();
        cluster.start("c1");
        eventually().until(this::areHome);
        readAll();
        deleteAll();
    }

    @Test
    void aHomeThatComesBackAndDiesAsItGetsItsChunksHasThemLater() throws IOException {
        cluster.stop("c2");
        putBlocks(10);
        eventually().until(() -> held().size() == chunks());
        death.set(new Death(Step.MOVE_SENT, 2));
        cluster.start("c2");
        dieAndStartAgain();
        eventually().until(this::areHome);
        readAll();
        deleteAll();
    }

    private void dieAndStartAgain() throws IOException {
        Death planned = death.get();
        eventually().until(() -> planned.victim() != null);
        readAll();
        String victim = planned.victim();
        cluster.stop(victim);
        death.set(null);
        readAll();
        cluster.start(victim);
    }

    /** Without taking a death for a failure of the test. */
    private static ConditionFactory eventually() {
        return await().dontCatchUncaughtExceptions().atMost(LIMIT);
    }

    private void readAll() throws IOException {
        for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
            byte[] content = entry.getValue();
            assertThat(store.get(entry.getKey(), 0, content.length).array()).isEqualTo(content);
        }
    }

    private int chunks() {
        return blocks.keySet().stream()
                .mapToInt(ref -> ref.getDataChunks() + ref.getParityChunks())
                .sum();
    }

    /** Node and chunk. */
    private List<Map.Entry<String, ChunkKey>> held() throws IOException {
        List<Map.Entry<String, ChunkKey>> held = new ArrayList<>();
        for (StorageNode node : cluster.running()) {
            try (StorageConnection connection =
                    new StorageConnection(
                            cluster.address(node.id()),
                            StorageCluster.CLUSTER,
                            node.id(),
                            10_000)) {
                connection
                        .list(null, 10_000)
                        .forEach(chunk -> held.add(Map.entry(node.id(), chunk.key())));
            }
        }
        return held;
    }

    /** Whether every chunk is where the newest placement epoch wants it, and nowhere else. */
    private boolean areHome() throws IOException {
        Set<Map.Entry<String, ChunkKey>> homes = new HashSet<>();
        for (BlockRef ref : blocks.keySet()) {
            List<StorageSite> sites = store.homes(ref);
            for (int i = 0; i < sites.size(); i++) {
                homes.add(
                        Map.entry(
                                sites.get(i).id(),
                                new ChunkKey(ref.getIdHigh(), ref.getIdLow(), i)));
            }
        }
        List<Map.Entry<String, ChunkKey>> held = held();
        return held.size() == homes.size() && homes.containsAll(held);
    }

    /** Nothing of them is left anywhere. */
    private void deleteAll() throws IOException {
        eventually().until(() -> store.deleteAll(blocks.keySet()).size() == blocks.size());
        assertThat(held()).isEmpty();
    }
}
