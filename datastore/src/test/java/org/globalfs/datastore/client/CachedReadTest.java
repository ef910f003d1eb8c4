package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.node.FaultPoints;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Blocks that are far away, read through the cache of the own region. Whoever says how far nodes
 * are says so to the client alone: for the cache all are near, which is why it is told how much to
 * keep.
 */
@Timeout(180)
class CachedReadTest {
    private static final int GLOBAL = 0;
    private static final int EAST = 2;
    private static final int WHOLE = 32;
    private static final long REQUEST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(15);
    private static final Map<String, Long> MS = Map.of("west", 0L, "east", 70L, "south", 140L);

    @TempDir Path folder;
    private final Random random = new Random(815);
    private StorageCluster cluster;
    private DistributedBlockStore store;
    private DistributedBlockStore source;
    private @Nullable CacheNode cache;

    @BeforeEach
    void start() throws IOException {
        cluster = StorageCluster.ofThreeRegions(folder);
        cluster.epochs.change(epoch -> epoch.coded(new BlockCode(2, 1), epoch.global()));
        source = cluster.client(2_000);
        store = farClient();
    }

    private DistributedBlockStore farClient() {
        return new DistributedBlockStore(
                StorageCluster.CLUSTER,
                "west",
                cluster.discovery,
                cluster.epochs,
                new BlockClientContext.Options(REQUEST_TIMEOUT_NS, TimeUnit.SECONDS.toNanos(30), 8),
                site -> TimeUnit.MILLISECONDS.toNanos(MS.getOrDefault(site.region(), 0L)));
    }

    @AfterEach
    void stop() throws IOException {
        stopCache();
        store.close();
        source.close();
        cluster.close();
    }

    private void startCache(int port, int chunks, long capacityBytes) throws IOException {
        startCache(CachePolicyKind.LRU, port, chunks, capacityBytes);
    }

    private void startCache(CachePolicyKind policy, int port, int chunks, long capacityBytes)
            throws IOException {
        cache =
                CacheNode.start(
                        new CacheOptions(
                                StorageCluster.CLUSTER,
                                "c1",
                                "west",
                                1,
                                "a",
                                new HostPort("127.0.0.1", port),
                                "127.0.0.1",
                                folder.resolve("cache"),
                                capacityBytes,
                                DiskReserve.exactly(0),
                                policy,
                                chunks,
                                200,
                                1L << 30),
                        cluster.discovery,
                        source);
    }

    private void stopCache() throws IOException {
        if (cache != null) {
            cluster.discovery.remove(Role.CACHE, "c1");
            cache.close();
            cache = null;
        }
    }

    private CacheStatistics statistics() {
        assertThat(cache).isNotNull();
        return cache.statistics();
    }

    private Map<BlockRef, byte[]> putSome(int region) throws IOException {
        return SomeBlocks.put(store, region, random, 3, 1, 5_000, 70_000, 300_001, 1_000_000);
    }

    private void readAll(Map<BlockRef, byte[]> blocks) throws IOException {
        SomeBlocks.readAll(store, blocks, random, 5);
    }

    /** Reads until everything is in the cache. */
    private void warmUp(Map<BlockRef, byte[]> blocks) {
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    CacheStatistics before = statistics();
                    readAll(blocks);
                    CacheStatistics after = statistics();
                    return after.requests() > before.requests()
                            && after.wholeHits() - before.wholeHits()
                                    == after.requests() - before.requests();
                });
    }

    /** Small blocks have copies in each region, which nobody asks the cache for. */
    private void stopFarNodes() throws IOException {
        List<String> ids = new ArrayList<>();
        cluster.running().forEach(node -> ids.add(node.id()));
        ids.removeIf(id -> id.startsWith("west"));
        assertThat(ids).hasSize(6);
        cluster.stop(ids.toArray(String[]::new));
    }

    /** Nodes of other regions answer late, also the cache, which counts each time that they do. */
    private FaultPoints far(String id, AtomicInteger reads) {
        long ns = TimeUnit.MILLISECONDS.toNanos(id.startsWith("south") ? 60 : 25);
        return new FaultPoints() {
            @Override
            public void reached(Step step, Path path) {}

            @Override
            public void reading(Path path, long offset) {
                reads.incrementAndGet();
                LockSupport.parkNanos(ns);
            }
        };
    }

    /** The policy that caches have unless told otherwise measures what is far by itself. */
    @Test
    void agarKeepsWhatItFindsToBeFar() throws IOException {
        AtomicInteger reads = new AtomicInteger();
        for (String id : List.of("east-a", "east-b", "east-c", "south-a", "south-b", "south-c")) {
            cluster.stop(id);
            cluster.faults = node -> far(node, reads);
            cluster.start(id);
        }
        startCache(CachePolicyKind.AGAR, 0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = SomeBlocks.put(store, GLOBAL, random, 2, 300_001, 1_000_000);
        await().atMost(90, TimeUnit.SECONDS)
                .until(() -> {
                    int before = reads.get();
                    readAll(blocks);
                    return reads.get() == before && statistics().planned() == blocks.size();
                });
        stopFarNodes();
        readAll(blocks);
    }

    @Test
    void whatIsInTheCacheIsReadFromNowhereElse() throws IOException {
        startCache(0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        blocks.putAll(putSome(EAST));
        warmUp(blocks);
        stopFarNodes();
        readAll(blocks);
        assertThat(statistics().missed()).isZero();
        try (StorageConnection connection =
                new StorageConnection(
                        cache.address(), StorageCluster.CLUSTER, "cache/c1", 10_000)) {
            assertThat(connection.cacheStatistics()).isEqualTo(statistics());
        }
    }

    @Test
    void theRestOfABlockComesFromItsNodes() throws IOException {
        startCache(0, 3, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    CacheStatistics before = statistics();
                    readAll(blocks);
                    CacheStatistics after = statistics();
                    long asked = after.requests() - before.requests();
                    return asked > 0 && after.partHits() - before.partHits() == asked;
                });
        assertThat(statistics().wholeHits()).isLessThan(statistics().partHits());
        cluster.stop("east-a", "south-b");
        readAll(blocks);
    }

    @Test
    void blocksThatAreNearAreNotAskedFor() throws IOException {
        startCache(0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(1);
        readAll(blocks);
        assertThat(statistics().requests()).isZero();
    }

    @Test
    void theCacheMayGoAndComeBackWithWhatItHad() throws IOException {
        startCache(0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        warmUp(blocks);
        final long chunks = statistics().chunks();
        final int port = cache.address().port();
        cache.close(); // it is announced all the same
        cache = null;
        readAll(blocks);
        assertThat(store.isSuspect("cache/c1")).isTrue();
        cluster.discovery.remove(Role.CACHE, "c1");
        readAll(blocks);
        startCache(port, WHOLE, 1L << 30);
        assertThat(statistics().chunks()).isEqualTo(chunks);
        assertThat(statistics().usedBytes()).isPositive();
        await().until(() -> !store.isSuspect("cache/c1"));
        stopFarNodes();
        readAll(blocks);
    }

    @Test
    void aCacheThatIsSilentIsDoneWithout() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            cluster.discovery.register(
                    new Member(
                            Role.CACHE,
                            "c1",
                            "west",
                            1,
                            "a",
                            new HostPort("127.0.0.1", silent.getLocalPort()),
                            Map.of()));
            Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
            readAll(blocks);
            assertThat(store.isSuspect("cache/c1")).isTrue();
        }
    }

    /** A cache whose connections end, or go silent, in the midst of a reply. */
    private static final class Cut implements AutoCloseable {
        final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        final HostPort target;
        final boolean silent;

        /** Of what the cache sends on a connection; all to begin with. */
        volatile long mostBytes = Long.MAX_VALUE;

        final AtomicInteger cuts = new AtomicInteger();

        Cut(HostPort target, boolean silent) throws IOException {
            this.target = target;
            this.silent = silent;
            Thread.ofVirtual().start(this::accept);
        }

        private void accept() {
            try {
                while (true) {
                    Socket client = listening.accept();
                    Socket cache = new Socket(target.host(), target.port());
                    Thread.ofVirtual().start(() -> pass(client, cache, () -> Long.MAX_VALUE));
                    Thread.ofVirtual().start(() -> pass(cache, client, () -> mostBytes));
                }
            } catch (IOException e) {
                // the test is over
            }
        }

        private void pass(Socket from, Socket to, LongSupplier most) {
            byte[] buffer = new byte[4_096];
            long passed = 0;
            try {
                while (true) {
                    int n = from.getInputStream().read(buffer);
                    if (n < 0) {
                        break;
                    }
                    int may = Math.clamp(most.getAsLong() - passed, 0, n);
                    to.getOutputStream().write(buffer, 0, may);
                    passed += n;
                    if (may < n) {
                        cuts.incrementAndGet();
                        if (silent) {
                            return;
                        }
                        break;
                    }
                }
                to.setSoLinger(true, 0); // a reset
                to.close();
                from.close();
            } catch (IOException e) {
                // the other side has ended it
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReplyThatIsCutShortIsDoneWithout(boolean silent) throws IOException {
        startCache(0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        warmUp(blocks);
        List<BlockRef> large =
                blocks.keySet().stream().filter(ref -> ref.getLength() == 1_000_000).toList();
        // Each silence is waited for.
        int[] cuts = silent ? new int[] {500_000} : new int[] {200, 30_000, 500_000, 990_000};
        for (int most : cuts) {
            try (Cut cut = new Cut(cache.address(), silent);
                    DistributedBlockStore client = farClient()) {
                cluster.discovery.register(
                        new Member(
                                Role.CACHE,
                                "c1",
                                "west",
                                1,
                                "a",
                                new HostPort("127.0.0.1", cut.listening.getLocalPort()),
                                Map.of()));
                cut.mostBytes = most;
                for (BlockRef ref : large) {
                    long startNs = System.nanoTime();
                    assertThat(client.get(ref, 0, ref.getLength()).array())
                            .as("%d bytes of the cache's", most)
                            .isEqualTo(blocks.get(ref));
                    assertThat(System.nanoTime() - startNs)
                            .as("it is not waited for until the time is over")
                            .isLessThan(REQUEST_TIMEOUT_NS / 2);
                }
                assertThat(cut.cuts.get()).isPositive();
            }
        }
    }

    @Test
    void oneThatIsSilentIsFoundOutBesideOneThatAnswers() throws IOException {
        startCache(0, WHOLE, 1L << 30);
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            cluster.discovery.register(
                    new Member(
                            Role.CACHE,
                            "c2",
                            "west",
                            1,
                            "a",
                            new HostPort("127.0.0.1", silent.getLocalPort()),
                            Map.of()));
            BlockRef ofTheFirst = putFor("cache/c1", "cache/c2");
            BlockRef ofTheSilent = putFor("cache/c2", "cache/c1");
            for (int i = 0; i < 6; i++) {
                store.get(ofTheSilent, 0, ofTheSilent.getLength());
                store.get(ofTheFirst, 0, ofTheFirst.getLength());
            }
            assertThat(store.isSuspect("cache/c2")).isTrue();
        }
    }

    /** A block that one of two caches keeps. */
    private BlockRef putFor(String its, String other) throws IOException {
        while (true) {
            BlockRef ref = store.put(GLOBAL, ByteBuffer.allocate(300_001));
            long high = ref.getIdHigh();
            long low = ref.getIdLow();
            if (CacheNodes.draw(its, high, low) > CacheNodes.draw(other, high, low)) {
                return ref;
            }
        }
    }

    @Test
    void damageIsNeverServedAndGoesAway() throws IOException {
        startCache(0, WHOLE, 1L << 30);
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        warmUp(blocks);
        final long chunks = statistics().chunks();
        flipBytes();
        readAll(blocks);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    readAll(blocks);
                    return statistics().damaged() > 0 && statistics().chunks() >= chunks;
                });
        warmUp(blocks);
    }

    private void flipBytes() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("cache"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".chunks")).toList()) {
                try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                    // Behind the first records, so that small chunks are not all that is hit.
                    for (long at = 200_000; at < bytes.length(); at += 150_001) {
                        bytes.seek(at);
                        int old = bytes.read();
                        bytes.seek(at);
                        bytes.write(old ^ 0x20);
                    }
                }
            }
        }
    }

    @Test
    void noMoreIsKeptThanMayBe() throws IOException {
        long capacity = 2_500_000;
        startCache(0, WHOLE, capacity);
        Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
        for (int round = 0; round < 4; round++) {
            blocks.putAll(putSome(GLOBAL));
        }
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    readAll(blocks);
                    return statistics().fetchedBytes() > 2 * capacity; // much came and went
                });
        await().untilAsserted(() -> assertThat(statistics().usedBytes()).isBetween(1L, capacity));
    }

    @Test
    void aCacheOfAnotherClusterIsNotBelieved() throws IOException {
        StorageNode stranger = cluster.node("east-a"); // answers, but to another name
        cluster.discovery.register(
                new Member(Role.CACHE, "c1", "west", 1, "a", stranger.address(), Map.of()));
        Map<BlockRef, byte[]> blocks = putSome(GLOBAL);
        readAll(blocks);
        assertThat(store.isSuspect("cache/c1")).isTrue();
    }
}
