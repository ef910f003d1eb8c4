package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreContract;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.client.FetchedChunk;
import org.globalfs.datastore.client.SomeBlocks;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Blocks in buckets, read by a client in region1 through that region's cache. All buckets are on
 * one server, which the client reaches through a link that counts its requests, and the cache as it
 * is: all are near, which is why the cache is told how much to keep.
 */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class S3CachedReadTest {
    private static final String CLUSTER = "test-cluster";
    private static final int GLOBAL = 0;
    private static final int OWN = 1;
    private static final int OTHER = 2;
    private static final int ALL_CHUNKS = 32;

    private final Random random = new Random(4711);
    private final AtomicInteger reads = new AtomicInteger();
    private Path folder;
    private S3Cluster s3;
    private FaultyLink link;
    private InMemoryDiscovery discovery;
    private S3BlockStore origin;
    private S3BlockStore store;
    private @Nullable CacheNode cache;

    @BeforeAll
    void start(@TempDir Path buckets) throws IOException {
        s3 = new S3Cluster(buckets);
        link = new FaultyLink(s3.endpoint());
        link.delay(head -> {
            if (head.startsWith("GET")) {
                reads.incrementAndGet();
            }
        });
    }

    @AfterAll
    void stop() throws IOException {
        link.close();
        s3.close();
    }

    @BeforeEach
    void open(@TempDir Path own) {
        folder = own;
        discovery = new InMemoryDiscovery();
        origin = s3.open(CLUSTER);
        store = s3.openThroughCaches(CLUSTER, "region1", discovery, link.endpoint());
    }

    @AfterEach
    void close() throws IOException {
        stopCache();
        store.close();
        origin.close();
    }

    private void startCache(int chunks) throws IOException {
        cache =
                CacheNode.start(
                        new CacheOptions(
                                CLUSTER,
                                "c1",
                                "region1",
                                OWN,
                                "a",
                                new HostPort("127.0.0.1", 0),
                                "127.0.0.1",
                                folder.resolve("cache"),
                                1L << 30,
                                DiskReserve.exactly(0),
                                CachePolicyKind.LRU,
                                chunks,
                                200,
                                1L << 30),
                        discovery,
                        origin);
    }

    private void stopCache() throws IOException {
        if (cache != null) {
            discovery.remove(Role.CACHE, "c1");
            cache.close();
            cache = null;
        }
    }

    private CacheStatistics statistics() {
        assertThat(cache).isNotNull();
        return cache.statistics();
    }

    private Map<BlockRef, byte[]> putSome(int region) throws IOException {
        return SomeBlocks.put(store, region, random, 2, 1, 5_000, 300_001, 1_000_000);
    }

    private void readAll(Map<BlockRef, byte[]> blocks) throws IOException {
        SomeBlocks.readAll(store, blocks, random, 4);
    }

    /** Reads until that makes no request to a bucket any more. */
    private void warmUp(Map<BlockRef, byte[]> blocks) {
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    int before = reads.get();
                    readAll(blocks);
                    return reads.get() == before;
                });
    }

    @Test
    void whatIsInTheCacheIsReadFromNoBucket() throws IOException {
        startCache(ALL_CHUNKS);
        Map<BlockRef, byte[]> blocks = putSome(OTHER);
        blocks.putAll(putSome(GLOBAL));
        warmUp(blocks);
        assertThat(statistics().wholeHits()).isPositive();
        assertThat(statistics().fetchedBytes()).isPositive();
        link.breakWhere(head -> true);
        try {
            readAll(blocks);
        } finally {
            link.breakWhere(head -> false);
        }
    }

    /** Six chunks are needed of nine, three in each region. */
    @Test
    void theRestOfABlockComesFromBuckets() throws IOException {
        startCache(3);
        byte[] content = S3Cluster.bytes(600_000, 5);
        BlockRef ref = store.put(GLOBAL, ByteBuffer.wrap(content));
        assertThat(ref.getDataChunks()).isEqualTo((byte) 6);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    int before = reads.get();
                    assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
                    return reads.get() - before <= 3;
                });
        assertThat(statistics().partHits()).isPositive();
    }

    /** The other two have as many chunks as are needed. */
    @Test
    void aBucketThatIsFartherIsNotRead() throws IOException {
        AtomicInteger far = new AtomicInteger();
        try (FaultyLink slow = new FaultyLink(s3.endpoint());
                S3BlockStore reader =
                        s3.openThroughCaches(CLUSTER, "region1", discovery, slow.endpoint())) {
            slow.delay(head -> {
                if (head.startsWith("GET /care-b3/")) {
                    far.incrementAndGet();
                    takeLong();
                }
            });
            byte[] content = S3Cluster.bytes(600_000, 7);
            BlockRef ref = store.put(GLOBAL, ByteBuffer.wrap(content));
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> {
                        int before = far.get();
                        assertThat(reader.get(ref, 0, content.length).array()).isEqualTo(content);
                        assertThat(far.get()).isPositive();
                        return far.get() == before;
                    });
        }
    }

    private static void takeLong() {
        try {
            assertThat(new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS)).isFalse();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theOwnRegionsBlocksAreNotAskedOfTheCache() throws IOException {
        startCache(ALL_CHUNKS);
        Map<BlockRef, byte[]> blocks = putSome(OWN);
        readAll(blocks);
        assertThat(statistics().requests()).isZero();
        Map<BlockRef, byte[]> others = putSome(OTHER);
        readAll(others);
        await().atMost(60, TimeUnit.SECONDS).until(() -> statistics().requests() > 0);
    }

    @Test
    void aCacheThatIsAwayIsDoneWithout() throws IOException {
        startCache(ALL_CHUNKS);
        Map<BlockRef, byte[]> blocks = putSome(OTHER);
        blocks.putAll(putSome(GLOBAL));
        warmUp(blocks);
        cache.close(); // it is announced all the same
        cache = null;
        readAll(blocks);
        discovery.remove(Role.CACHE, "c1");
        readAll(blocks);
        startCache(ALL_CHUNKS); // with what it had
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    readAll(blocks);
                    return statistics().wholeHits() > 0;
                });
        warmUp(blocks);
    }

    @Test
    void aCacheThatIsSilentCostsLittleTime() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(OTHER);
        readAll(blocks);
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HostPort address = new HostPort("127.0.0.1", silent.getLocalPort());
            discovery.register(
                    new Member(Role.CACHE, "c1", "region1", OWN, "a", address, Map.of()));
            // Three waits of 400 ms at most, until it is suspect; hundreds else.
            assertTimeoutPreemptively(
                    Duration.ofSeconds(100),
                    () -> {
                        for (int i = 0; i < 10; i++) {
                            readAll(blocks);
                        }
                    });
        }
    }

    @Test
    void damageInTheCacheIsNotServedAndGoesAway() throws IOException {
        startCache(ALL_CHUNKS);
        Map<BlockRef, byte[]> blocks = putSome(OTHER);
        blocks.putAll(putSome(GLOBAL));
        warmUp(blocks);
        flipBytes();
        readAll(blocks);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> {
                    readAll(blocks);
                    return statistics().damaged() > 0;
                });
        warmUp(blocks);
    }

    private void flipBytes() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("cache"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".chunks")).toList()) {
                try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
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
    void whetherABlockIsReadableOnlyItsBucketsSay() throws IOException {
        startCache(ALL_CHUNKS);
        Map<BlockRef, byte[]> blocks = putSome(OTHER);
        blocks.putAll(putSome(GLOBAL));
        warmUp(blocks);
        BlockRef gone = blocks.keySet().iterator().next();
        origin.delete(gone);
        readAll(blocks);
        assertThat(store.isReadable(gone)).isFalse();
    }

    @Test
    void aCacheIsToldWhichBucketsDidNotAnswer() throws IOException {
        byte[] content = S3Cluster.bytes(60_000, 6);
        BlockRef ref = store.put(GLOBAL, ByteBuffer.wrap(content));
        List<Integer> regions = origin.regions(ref);
        assertThat(regions).hasSize(9).containsOnly(1, 2, 3);
        long all = (1L << 9) - 1;
        Fetched whole = origin.fetch(ref, all);
        assertThat(whole.unanswered()).isZero();
        assertThat(whole.chunks()).hasSize(9);
        for (FetchedChunk chunk : whole.chunks()) {
            assertThat(chunk.region()).isEqualTo(regions.get(chunk.index()));
            assertThat(chunk.bytes()).hasSize(10_048);
        }
        Files.delete(s3.objects(ref).get(4));
        int away = regions.get(0) == 3 ? 1 : 3;
        s3.takeAway(away - 1);
        try {
            Fetched less = origin.fetch(ref, all);
            long expected = 0;
            for (int chunk = 0; chunk < 9; chunk++) {
                expected |= regions.get(chunk) == away ? 1L << chunk : 0;
            }
            assertThat(less.unanswered()).isEqualTo(expected);
            assertThat(less.chunks()).hasSize(regions.get(4) == away ? 6 : 5);
        } finally {
            s3.bringBack(away - 1);
        }
        assertThat(origin.regions(new BlockRef(ref).setEpoch(4))).isEmpty();
        assertThat(origin.regions(new BlockRef(1, 2, 10, 9, (byte) 1, (byte) 0, 3))).isEmpty();
    }

    /** The store behind a cache that keeps all that is read. */
    private abstract class Contract extends BlockStoreContract {
        private final int region;

        Contract(int region) {
            this.region = region;
        }

        @BeforeEach
        void startOne() throws IOException {
            startCache(ALL_CHUNKS);
            store.close();
            store = s3.openThroughCaches(CLUSTER, "region1", discovery, s3.endpoint());
        }

        @Override
        protected BlockStore store() {
            return store;
        }

        @Override
        protected int region() {
            return region;
        }
    }

    @Nested
    class BlocksOfAnotherRegion extends Contract {
        BlocksOfAnotherRegion() {
            super(OTHER);
        }

        @Test
        void aDamagedOneIsLostAsLongAsNoCacheHasIt() throws IOException {
            BlockRef ref = store.put(OTHER, ByteBuffer.wrap(bytes(100_000)));
            S3Cluster.flip(s3.objects(ref).get(0), 70_000);
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 0, 100_000));
        }
    }

    @Nested
    class BlocksOfAllRegions extends Contract {
        BlocksOfAllRegions() {
            super(GLOBAL);
        }
    }
}
