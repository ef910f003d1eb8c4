package org.globalfs.datastore.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.globalfs.datastore.cache.policy.AgarPolicy;
import org.globalfs.datastore.cache.policy.BlockKey;
import org.globalfs.datastore.cache.policy.CachePolicy;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.cache.policy.HullPlanner;
import org.globalfs.datastore.cache.policy.RegionLatencies;
import org.globalfs.datastore.cache.policy.RequestMonitor;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.FailedDisk;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.node.UnreadableIndex;
import org.globalfs.datastore.wire.CachedRequest;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CacheKeeperTest {
    private static final String CLUSTER = "c";
    private static final int REGION = 1;
    private static final int BLOCK_BYTES = 200_000;
    private static final long PERIOD_MS = 100;
    private static final long LONG_MS = 3_600_000;
    private static final SegmentStore.Options ROOMY =
            new SegmentStore.Options(CLUSTER, "cache/c1", Long.MAX_VALUE, 0, 8 << 20, true);

    @TempDir Path folder;
    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    private final DistributedBlockStore blocks =
            new DistributedBlockStore(CLUSTER, "west", discovery, epochs, 15_000, 60_000);
    private final List<StorageNode> nodes = new ArrayList<>();
    private final RegionLatencies latencies = new RegionLatencies(CacheKeeper.AWAY_MS);
    private final CacheCounters counters = new CacheCounters();

    /** Wants all chunks of every block, and says what its keeper's thread sees. */
    private final class Eager implements CachePolicy {
        final BlockingQueue<Long> periodsEndNs = new LinkedBlockingQueue<>();
        volatile double ms = CacheKeeper.AWAY_MS;
        volatile boolean keen = true;
        final AtomicLong seen = new AtomicLong();

        /** Leaves for what comes next. */
        final AtomicReference<Map<BlockKey, Long>> leaving = new AtomicReference<>(Map.of());

        @Override
        public long cached(BlockKey key) {
            return 0;
        }

        @Override
        public void asked(BlockKey key, ChunkLayout layout) {
            ms = latencies.ms(REGION);
            seen.incrementAndGet();
        }

        @Override
        public long wanted(BlockKey key, ChunkLayout layout) {
            return keen ? (1L << layout.regions().size()) - 1 : 0;
        }

        @Override
        public Map<BlockKey, Long> add(BlockKey key, ChunkLayout layout, long chunks) {
            return leaving.getAndSet(Map.of());
        }

        @Override
        public void remove(BlockKey key, long chunks) {}

        @Override
        public void endPeriod() {
            periodsEndNs.add(System.nanoTime());
        }
    }

    private final Eager policy = new Eager();

    @AfterEach
    void stop() throws IOException {
        blocks.close();
        for (StorageNode node : nodes) {
            node.close();
        }
    }

    private void startNodes() throws IOException {
        for (String datacenter : List.of("a", "b", "c")) {
            nodes.add(
                    StorageNode.start(
                            new StorageNode.Options(
                                    CLUSTER,
                                    datacenter,
                                    "west",
                                    REGION,
                                    datacenter,
                                    new HostPort("127.0.0.1", 0),
                                    "127.0.0.1",
                                    folder.resolve(datacenter),
                                    1L << 30,
                                    DiskReserve.exactly(0),
                                    1,
                                    1L << 30,
                                    64L << 20),
                            discovery,
                            epochs,
                            new ScrubOptions(0, Long.MAX_VALUE),
                            RepairOptions.NEVER,
                            (key, shape) -> {
                                throw new IOException("nothing is repaired");
                            }));
        }
        epochs.change(epoch -> epoch.coded(new BlockCode(2, 1), epoch.global()));
    }

    private CacheKeeper keeper(SegmentStore store, long periodMs) {
        return keeper(store, policy, periodMs);
    }

    private CacheKeeper keeper(SegmentStore store, CachePolicy policy, long periodMs) {
        return new CacheKeeper(
                "cache", store, blocks, policy, latencies, () -> 0, 1L << 30, periodMs, 1L << 40,
                counters);
    }

    private BlockRef put() throws IOException {
        return blocks.put(REGION, ByteBuffer.allocate(BLOCK_BYTES));
    }

    private static CachedRequest request(BlockRef ref) {
        ChunkShape shape =
                new ChunkShape(
                        ref.getLength(),
                        ref.getRegion(),
                        ref.getDataChunks(),
                        ref.getParityChunks(),
                        ref.getEpoch());
        return new CachedRequest(ref.getIdHigh(), ref.getIdLow(), shape, 1, 0, 1);
    }

    /** A first request finds out how far the region is. */
    private void learnDistances(CacheKeeper keeper, BlockRef ref) {
        await().until(() -> {
            keeper.asked(request(ref));
            return policy.ms < CacheKeeper.AWAY_MS / 2;
        });
    }

    @Test
    void aDiskThatFailsIsNoReasonToEndOnePeriodAfterTheOther() throws Exception {
        try (SegmentStore store = FailedDisk.open(folder, ROOMY);
                CacheKeeper keeper = keeper(store, PERIOD_MS)) {
            ChunkShape shape = new ChunkShape(1, REGION, 1, 1, 1);
            assertThat(store.put(new ChunkKey(1, 2, 0), shape, new byte[1]))
                    .isEqualTo(ChunkStatus.OK);
            keeper.start();
            long first = policy.periodsEndNs.take();
            for (int i = 0; i < 4; i++) {
                long next = policy.periodsEndNs.take();
                assertThat(next - first).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(PERIOD_MS));
                first = next;
            }
        }
    }

    @Test
    void aBlockThatWasDeletedDoesNotPutItsRegionAway() throws IOException {
        startNodes();
        policy.keen = false;
        try (SegmentStore store =
                        SegmentStore.open(Files.createDirectory(folder.resolve("cache")), ROOMY);
                CacheKeeper keeper = keeper(store, LONG_MS)) {
            keeper.start();
            BlockRef ref = put();
            learnDistances(keeper, ref);
            blocks.deleteAll(List.of(ref));
            policy.keen = true;
            keeper.asked(request(ref));
            BlockRef other = put();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> {
                        keeper.asked(request(other));
                        return store.has(new ChunkKey(other.getIdHigh(), other.getIdLow(), 0));
                    });
            keeper.asked(request(other));
            assertThat(policy.ms).isLessThan(CacheKeeper.AWAY_MS / 10);
        }
    }

    /** It would stay beyond the cache's capacity. */
    @Test
    void whatCouldNotBeDiscardedIsDiscardedOnceItCan() throws IOException {
        startNodes();
        AtomicReference<ChunkKey> unread = new AtomicReference<>();
        try (SegmentStore store =
                        UnreadableIndex.open(
                                Files.createDirectory(folder.resolve("cache")),
                                ROOMY,
                                key -> key.equals(unread.get()));
                CacheKeeper keeper = keeper(store, PERIOD_MS)) {
            keeper.start();
            policy.keen = false;
            learnDistances(keeper, put());
            policy.keen = true;
            BlockRef ref = put();
            List<ChunkKey> keys =
                    IntStream.range(0, 3)
                            .mapToObj(i -> new ChunkKey(ref.getIdHigh(), ref.getIdLow(), i))
                            .toList();
            askOnce(keeper, ref, () -> keys.stream().allMatch(store::has));
            unread.set(keys.getFirst());
            policy.leaving.set(Map.of(new BlockKey(ref.getIdHigh(), ref.getIdLow()), 0b111L));
            BlockRef other = put();
            askOnce(keeper, other, () -> policy.leaving.get().isEmpty());
            await().until(() -> !store.has(keys.get(1)) && !store.has(keys.get(2)));
            unread.set(null);
            await().until(() -> !store.has(keys.getFirst()));
            ChunkKey its = new ChunkKey(other.getIdHigh(), other.getIdLow(), 0);
            await().until(() -> store.has(its));
        }
    }

    /** What is asked for twice may be on its way when it is discarded, and come afterwards. */
    private void askOnce(CacheKeeper keeper, BlockRef ref, BooleanSupplier there) {
        keeper.asked(request(ref));
        await().atMost(Duration.ofSeconds(60)).until(there::getAsBoolean);
    }

    @Test
    void whatTheDiskHasNoRoomForIsNotFetchedAgainAndAgain() throws IOException {
        startNodes();
        SegmentStore.Options full =
                new SegmentStore.Options(
                        CLUSTER, "cache/c1", Long.MAX_VALUE, Long.MAX_VALUE, 8 << 20, true);
        try (SegmentStore store =
                        SegmentStore.open(Files.createDirectory(folder.resolve("cache")), full);
                CacheKeeper keeper = keeper(store, LONG_MS)) {
            keeper.start();
            BlockRef ref = put();
            learnDistances(keeper, ref);
            await().until(() -> {
                keeper.asked(request(ref));
                return counters.fetchedBytes.sum() > BLOCK_BYTES;
            });
            for (int i = 0; i < 30; i++) {
                long seen = policy.seen.get();
                keeper.asked(request(ref));
                await().pollDelay(Duration.ofMillis(20)).until(() -> policy.seen.get() > seen);
            }
            assertThat(counters.fetchedBytes.sum()).isLessThan(10 * BLOCK_BYTES);
        }
    }

    /** An earlier process may have had a larger heap. */
    @Test
    void ofWhatAnEarlierProcessLeftSoMuchStaysAsItsHeapCanName() throws IOException {
        ChunkShape shape = new ChunkShape(1, REGION, 1, 1, 1);
        IntFunction<CachePolicy> agar =
                most ->
                        new AgarPolicy(
                                new RequestMonitor(1 << 10, 10),
                                new HullPlanner(),
                                latencies,
                                1,
                                1L << 30,
                                most);
        try (SegmentStore store = SegmentStore.open(folder, ROOMY)) {
            for (int i = 0; i < 100; i++) {
                assertThat(store.put(new ChunkKey(i, i, 0), shape, new byte[1]))
                        .isEqualTo(ChunkStatus.OK);
            }
            try (CacheKeeper keeper = keeper(store, agar.apply(100), LONG_MS)) {
                keeper.start();
                assertThat(store.chunks()).isEqualTo(100);
            }
            try (CacheKeeper keeper = keeper(store, agar.apply(30), LONG_MS)) {
                keeper.start();
                assertThat(store.chunks()).isEqualTo(30);
            }
        }
    }

    @Test
    void aMillionBlocksInAGibibyteOfHeap() {
        assertThat(CacheNode.mostBlocks(1L << 30)).isEqualTo(1 << 20);
        assertThat(CacheNode.mostBlocks(1L << 60)).isEqualTo(Integer.MAX_VALUE);
    }
}
