package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreContract;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Bucket;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The block store on a real S3 server: its contract, and what faults do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class S3BlockStoreTest {
    private static final String[] BUCKETS = {
        "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11", "b12"
    };

    private Path folder;
    private S3Server server;

    @BeforeAll
    void start(@TempDir Path temporary) throws IOException {
        folder = temporary;
        System.setProperty("aws.accessKeyId", S3Server.ACCESS_KEY);
        System.setProperty("aws.secretAccessKey", S3Server.SECRET_KEY);
        String[] names = new String[BUCKETS.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = name(i);
        }
        server = new S3Server(folder, names);
    }

    @AfterAll
    void stop() {
        server.close();
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    private static String name(int index) {
        return "globalfs-" + BUCKETS[index];
    }

    private S3BlockStore open(int regions) {
        return open(regions, S3BlockStore.Options.defaults());
    }

    private S3BlockStore open(int regions, S3BlockStore.Options options) {
        return open(server.endpoint(), regions, options);
    }

    /** With the last region elsewhere. */
    private S3BlockStore open(int regions, String last) {
        return open(server.endpoint(), last, regions, S3BlockStore.Options.defaults());
    }

    private static S3BlockStore open(String endpoint, int regions, S3BlockStore.Options options) {
        return open(endpoint, endpoint, regions, options);
    }

    private static S3BlockStore open(
            String endpoint, String last, int regions, S3BlockStore.Options options) {
        List<S3Bucket> places = new ArrayList<>();
        List<RecordedStore.Bucket> recorded = new ArrayList<>();
        for (int i = 0; i < regions; i++) {
            String region = "region" + (i + 1);
            places.add(
                    new S3Bucket(
                            region,
                            name(i),
                            "us-east-1",
                            Optional.of(URI.create(i < regions - 1 ? endpoint : last)),
                            true));
            recorded.add(new RecordedStore.Bucket(region, i + 1, name(i)));
        }
        return new S3BlockStore(
                "test-cluster",
                new RecordedStore(StoreKind.S3, recorded),
                new BlockStorage(StoreKind.S3, places),
                options);
    }

    /** A store for each test. */
    private abstract class Opened extends BlockStoreContract {
        private final int region;
        S3BlockStore store;

        Opened(int region) {
            this.region = region;
        }

        @BeforeEach
        void open() {
            store = S3BlockStoreTest.this.open(3);
        }

        @AfterEach
        void close() {
            store.close();
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
    class BlocksOfARegion extends Opened {
        BlocksOfARegion() {
            super(2);
        }

        @Test
        void areWholeObjectsInItsBucket() throws IOException {
            BlockRef ref = store.put(2, ByteBuffer.wrap(bytes(100_000)));
            assertThat(code(ref)).isEqualTo("1+0");
            assertThat(objectsOf(ref)).hasSize(1).allMatch(p -> p.startsWith(bucket(1)));
        }

        @Test
        void aDamagedOneIsNeverServed() throws IOException {
            byte[] content = bytes(200_000);
            BlockRef ref = store.put(2, ByteBuffer.wrap(content));
            flip(objectsOf(ref).getFirst(), ObjectFormat.HEADER_BYTES + 70_000);
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 0, content.length));
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 65_536, 1));
            assertThat(store.get(ref, 0, 65_536).array()).isEqualTo(Arrays.copyOf(content, 65_536));
        }

        @Test
        void aCutOneIsNeverServed() throws IOException {
            BlockRef ref = store.put(2, ByteBuffer.wrap(bytes(200_000)));
            Path object = objectsOf(ref).getFirst();
            byte[] half = Arrays.copyOf(Files.readAllBytes(object), 100_000);
            replace(object, half);
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 0, 200_000));
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 150_000, 10));
            replace(object, new byte[0]);
            assertFails(Reason.LOST, "is damaged", () -> store.get(ref, 0, 1));
        }

        @Test
        void oneInTheOthersPlaceIsNeverServed() throws IOException {
            BlockRef one = store.put(2, ByteBuffer.wrap(bytes(5_000)));
            BlockRef other = store.put(2, ByteBuffer.wrap(bytes(5_000)));
            replace(objectsOf(one).getFirst(), Files.readAllBytes(objectsOf(other).getFirst()));
            assertFails(Reason.LOST, "is damaged", () -> store.get(one, 0, 1));
        }

        @Test
        void oneOfANewerProgramIsRefused() throws IOException {
            BlockRef ref = store.put(2, ByteBuffer.wrap(bytes(5_000)));
            byte[] object = Files.readAllBytes(objectsOf(ref).getFirst());
            ByteBuffer header = ByteBuffer.wrap(object).putShort(8, (short) 2);
            CRC32C crc = new CRC32C();
            crc.update(object, 0, 60);
            header.putInt(60, (int) crc.getValue()).putInt(64, 0);
            replace(objectsOf(ref).getFirst(), object);
            assertFails(Reason.UNREACHABLE, "upgrade it", () -> store.get(ref, 0, 1));
        }

        @Test
        void anUnknownRegionIsRefused() {
            assertFails(
                    Reason.UNPLACEABLE,
                    "'blocks.s3'",
                    () -> store.put(4, ByteBuffer.wrap(bytes(10))));
        }

        @Test
        void moreThanARequestTakesAreDeleted() throws IOException {
            List<BlockRef> refs = new ArrayList<>();
            BlockRef ref = store.put(2, ByteBuffer.wrap(bytes(10)));
            for (int i = 0; i < 2_500; i++) {
                BlockRef absent = new BlockRef(ref);
                absent.setIdHigh(ref.getIdHigh() + 1 + i);
                refs.add(absent);
            }
            refs.add(ref);
            assertThat(store.deleteAll(refs)).hasSize(2_501);
            assertThat(objectsOf(ref)).isEmpty();
        }
    }

    @Nested
    class BlocksOfAllRegions extends Opened {
        BlocksOfAllRegions() {
            super(0);
        }

        @Test
        void areSpreadOverTheBuckets() throws IOException {
            BlockRef ref = store.put(0, ByteBuffer.wrap(bytes(100_000)));
            assertThat(code(ref)).isEqualTo("6+3");
            for (int i = 0; i < 3; i++) {
                Path bucket = bucket(i);
                assertThat(objectsOf(ref)).filteredOn(p -> p.startsWith(bucket)).hasSize(3);
            }
            store.delete(ref);
            assertThat(objectsOf(ref)).isEmpty();
        }

        @Test
        void surviveTheLossOfAnyBucketAlsoThoseWrittenMeanwhile() throws IOException {
            Map<BlockRef, byte[]> blocks = putSome(6, 300_000);
            for (int i = 0; i < 3; i++) {
                int bucket = i;
                without(
                        () -> {
                            assertReadable(blocks);
                            Map<BlockRef, byte[]> written = putSome(2, 300_000);
                            assertThat(written.keySet()).allMatch(ref -> code(ref).equals("1+2"));
                            blocks.putAll(written);
                        },
                        bucket);
                blocks.putAll(putSome(1, 300_000));
            }
            for (int i = 0; i < 3; i++) {
                without(() -> assertReadable(blocks), i);
            }
        }

        @Test
        void areRefusedWhileTwoBucketsAreAway() throws IOException {
            without(
                    () ->
                            assertFails(
                                    Reason.UNREACHABLE,
                                    "create it, or correct the key 'blocks.s3'",
                                    () -> store.put(0, ByteBuffer.wrap(bytes(1_000)))),
                    0,
                    2);
            assertReadable(putSome(1, 1_000));
        }

        private void without(ThrowingCallable what, int... away) throws IOException {
            for (int i : away) {
                Files.move(bucket(i), aside(i), StandardCopyOption.ATOMIC_MOVE);
            }
            try {
                assertThatCode(what).doesNotThrowAnyException();
            } finally {
                for (int i : away) {
                    Files.move(aside(i), bucket(i), StandardCopyOption.ATOMIC_MOVE);
                }
            }
        }

        private Path aside(int i) {
            return bucket(i).resolveSibling("away-" + i);
        }

        @Test
        void areRebuiltWithoutDamagedOrMissingChunks() throws IOException {
            byte[] content = bytes(500_000);
            BlockRef ref = store.put(0, ByteBuffer.wrap(content));
            List<Path> objects = objectsOf(ref);
            Path first = chunk(objects, 0);
            Path second = chunk(objects, 1);
            flip(first, 100);
            Files.delete(second);
            assertWhole(ref, content);
            flip(chunk(objects, 7), ObjectFormat.HEADER_BYTES + 4);
            assertWhole(ref, content);
            Files.delete(chunk(objects, 8));
            assertFails(
                    Reason.LOST,
                    "only 5 of 9 chunks can be read, 6 are needed",
                    () -> store.get(ref, 0, content.length));
            int last = content.length - 1;
            assertThat(store.get(ref, last, 1).get(0)).isEqualTo(content[last]);
        }

        @Test
        void areCountedAsFarAsBucketsAnswer() throws IOException {
            BlockRef ref = store.put(0, ByteBuffer.wrap(bytes(50_000)));
            Files.delete(chunk(objectsOf(ref), 4));
            assertThat(store.count(0, List.of(ref)).chunks()).containsExactly(8);
            Path away = bucket(1).resolveSibling("away");
            Files.move(bucket(1), away, StandardCopyOption.ATOMIC_MOVE);
            try {
                BlockStore.Census census = store.count(0, List.of(ref));
                assertThat(census.chunks()[0]).isBetween(5, 6);
                assertThat(census.silent()).singleElement().asString().contains(name(1));
            } finally {
                Files.move(away, bucket(1), StandardCopyOption.ATOMIC_MOVE);
            }
            try (S3BlockStore two = S3BlockStoreTest.this.open(2)) {
                assertThat(two.count(0, List.of(ref)).silent())
                        .singleElement()
                        .asString()
                        .contains("blocks.s3");
            }
        }

        /** One that is far away keeps no other waiting. */
        @Test
        void areCountedInAllBucketsAtOnce() throws IOException {
            BlockRef ref = store.put(0, ByteBuffer.wrap(bytes(50_000)));
            Map<String, CountDownLatch> asked = new ConcurrentHashMap<>();
            for (int i = 0; i < 3; i++) {
                asked.put(name(i), new CountDownLatch(1));
            }
            AtomicBoolean alone = new AtomicBoolean();
            try (FaultyLink link = new FaultyLink(server.endpoint());
                    S3BlockStore far =
                            S3BlockStoreTest.open(
                                    link.endpoint(), 3, S3BlockStore.Options.defaults())) {
                link.delay(head -> {
                    asked.forEach((bucket, latch) -> {
                        if (head.startsWith("GET /" + bucket + "/")) {
                            latch.countDown();
                        }
                    });
                    for (CountDownLatch each : asked.values()) {
                        try {
                            if (!each.await(5, TimeUnit.SECONDS)) {
                                alone.set(true);
                            }
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    }
                });
                assertThat(far.count(0, List.of(ref)).chunks()).containsExactly(9);
            }
            assertThat(alone).as("a request was answered before other buckets had one").isFalse();
        }

        @Test
        void needTwoRegions() {
            try (S3BlockStore alone = S3BlockStoreTest.this.open(1)) {
                assertFails(
                        Reason.UNPLACEABLE,
                        "add a region",
                        () -> alone.put(0, ByteBuffer.wrap(bytes(10))));
            }
        }

        @Test
        void areReadAfterARegionWasAdded() throws IOException {
            Map<BlockRef, byte[]> blocks;
            try (S3BlockStore two = S3BlockStoreTest.this.open(2)) {
                byte[] content = bytes(100_000);
                BlockRef ref = two.put(0, ByteBuffer.wrap(content));
                blocks = Map.of(ref, content);
                BlockRef ofThree = store.put(0, ByteBuffer.wrap(content));
                assertFails(Reason.UNPLACEABLE, "start it again", () -> two.get(ofThree, 0, 1));
                assertThat(two.deleteAll(List.of(ofThree))).isEmpty();
            }
            assertReadable(blocks);
        }

        @Test
        void areWrittenWithoutABucketWhereAnyOtherMayStillBeLost() throws IOException {
            byte[] content = bytes(50_000);
            try (S3BlockStore twelve = S3BlockStoreTest.this.open(12)) {
                Path away = bucket(11).resolveSibling("away");
                Files.move(bucket(11), away, StandardCopyOption.ATOMIC_MOVE);
                BlockRef ref;
                try {
                    ref = twelve.put(0, ByteBuffer.wrap(content));
                    assertThat(code(ref)).isEqualTo("9+3");
                } finally {
                    Files.move(away, bucket(11), StandardCopyOption.ATOMIC_MOVE);
                }
                assertThat(objectsOf(ref)).hasSize(11);
                assertThat(twelve.get(ref, 0, content.length).array()).isEqualTo(content);
            }
        }
    }

    @Test
    void aKilledServerIsAClearErrorAndWorksAgainOnceItRuns() throws Exception {
        byte[] content = new byte[1 << 20];
        try (S3Server own = new S3Server(Files.createDirectory(folder.resolve("own")), name(0));
                S3BlockStore store =
                        open(own.endpoint(), 1, new S3BlockStore.Options(2_000, 10_000, 3, 64));
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            BlockRef before = store.put(1, ByteBuffer.wrap(content));
            List<BlockRef> written = Collections.synchronizedList(new ArrayList<>());
            List<Future<BlockStoreException>> writers = new ArrayList<>();
            List<Future<BlockStoreException>> readers = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                writers.add(
                        threads.submit(() ->
                                failure(() ->
                                        written.add(store.put(1, ByteBuffer.wrap(content))))));
                readers.add(
                        threads.submit(() -> failure(() -> store.get(before, 0, content.length))));
            }
            Awaitility.await().until(() -> written.size() > 4);
            own.kill();
            for (Future<BlockStoreException> writer : writers) {
                assertThat(writer.get().reason()).isEqualTo(Reason.UNREACHABLE);
                assertThat(writer.get()).hasMessageContaining("writing bucket 'globalfs-b1'");
            }
            for (Future<BlockStoreException> reader : readers) {
                assertThat(reader.get().reason()).isEqualTo(Reason.UNREACHABLE);
                assertThat(reader.get()).hasMessageContaining("reading bucket 'globalfs-b1'");
            }
            assertThat(store.deleteAll(List.of(before))).isEmpty();
            own.start();
            written.add(store.put(1, ByteBuffer.wrap(content)));
            for (BlockRef ref : written) {
                assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
            }
            assertThat(store.deleteAll(List.of(before))).containsExactly(before);
        }
    }

    /** What the work fails with, done again and again. */
    private static BlockStoreException failure(BlockStoreContract.Work work) throws IOException {
        while (true) {
            try {
                work.run();
            } catch (BlockStoreException e) {
                return e;
            }
        }
    }

    @Test
    void requestsThatServiceOrNetworkFailAreSentAgain() throws IOException {
        byte[] content = S3Cluster.bytes(300_000, 2);
        try (FaultyLink link = new FaultyLink(server.endpoint());
                S3BlockStore store = open(link.endpoint(), 1, S3BlockStore.Options.defaults())) {
            BlockRef ref = store.put(1, ByteBuffer.wrap(content));
            for (FaultyLink.Fault fault : EnumSet.complementOf(EnumSet.of(FaultyLink.Fault.NONE))) {
                link.inject(fault, 2);
                assertThat(store.get(ref, 0, content.length).array())
                        .as("%s", fault)
                        .isEqualTo(content);
                assertThat(link.left()).isZero();
                if (fault != FaultyLink.Fault.CUT_CONTENT) {
                    link.inject(fault, 2);
                    BlockRef other = store.put(1, ByteBuffer.wrap(content));
                    assertThat(link.left()).isZero();
                    assertThat(objectsOf(other)).as("%s", fault).hasSize(1);
                    link.inject(fault, 2);
                    assertThat(store.deleteAll(List.of(other))).containsExactly(other);
                    assertThat(link.left()).isZero();
                    assertThat(objectsOf(other)).isEmpty();
                }
            }
        }
    }

    @Test
    void aRangeOfABlockOfAllRegionsCostsNoWholeChunks() throws IOException {
        byte[] content = S3Cluster.bytes(6 * 400_000, 4);
        int pages = 2 * ObjectFormat.PAGE_BYTES + 100;
        try (FaultyLink link = new FaultyLink(server.endpoint());
                S3BlockStore store = open(link.endpoint(), 3, S3BlockStore.Options.defaults())) {
            BlockRef ref = store.put(0, ByteBuffer.wrap(content));
            assertThat(code(ref)).isEqualTo("6+3");
            assertRange(store, ref, content, 810_000, 5_000);
            assertThat(link.answeredBytes()).isBetween(5_000L, (long) pages);
            Files.delete(chunk(objectsOf(ref), 2));
            long before = link.answeredBytes();
            assertRange(store, ref, content, 930_000, 70_000);
            assertThat(link.answeredBytes() - before).isBetween(6 * 70_000L, 8L * 2 * pages);
            assertRange(store, ref, content, 1_150_000, 100_000);
            assertRange(store, ref, content, 0, content.length);
        }
    }

    private static void assertRange(
            S3BlockStore store, BlockRef ref, byte[] content, int offset, int length)
            throws IOException {
        assertThat(store.get(ref, offset, length).array())
                .isEqualTo(Arrays.copyOfRange(content, offset, offset + length));
    }

    @Test
    void whatFailsAgainAndAgainIsNoLoss() throws IOException {
        byte[] content = S3Cluster.bytes(300_000, 3);
        try (FaultyLink link = new FaultyLink(server.endpoint());
                S3BlockStore store = open(link.endpoint(), 1, S3BlockStore.Options.defaults())) {
            BlockRef ref = store.put(1, ByteBuffer.wrap(content));
            Map<FaultyLink.Fault, String> says =
                    Map.of(
                            FaultyLink.Fault.BUSY,
                            "SlowDown (HTTP 503)",
                            FaultyLink.Fault.BROKEN,
                            "InternalError (HTTP 500)",
                            FaultyLink.Fault.CUT_CONTENT,
                            "broke off",
                            FaultyLink.Fault.NO_ANSWER,
                            "reading bucket");
            says.forEach((fault, message) -> {
                link.inject(fault, Integer.MAX_VALUE);
                BlockStoreContract.assertFails(
                        Reason.UNREACHABLE, message, () -> store.get(ref, 0, content.length));
            });
            link.inject(FaultyLink.Fault.NONE, 0);
            assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
        }
    }

    @Test
    void aServerThatHangsCostsTheDeadline() throws Exception {
        try (S3Server own = new S3Server(Files.createDirectory(folder.resolve("hung")), name(0));
                S3BlockStore store =
                        open(own.endpoint(), 1, new S3BlockStore.Options(60_000, 1_500, 3, 64))) {
            BlockRef ref = store.put(1, ByteBuffer.allocate(1_000));
            own.signal("STOP");
            long start = System.nanoTime();
            BlockStoreContract.assertFails(Reason.UNREACHABLE, "", () -> store.get(ref, 0, 10));
            BlockStoreContract.assertFails(
                    Reason.UNREACHABLE, "", () -> store.put(1, ByteBuffer.allocate(1_000)));
            assertThat(store.deleteAll(List.of(ref))).isEmpty();
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(Duration.ofSeconds(15));
            own.signal("CONT");
            Awaitility.await()
                    .ignoreException(BlockStoreException.class)
                    .until(() -> store.deleteAll(List.of(ref)).contains(ref));
        }
    }

    @Test
    void aHungRegionDelaysOneReadOfBlocksOfAllRegions() throws Exception {
        byte[] content = new byte[200_000];
        try (S3Server hung = new S3Server(Files.createDirectory(folder.resolve("slow")), name(2));
                S3BlockStore store = open(3, hung.endpoint())) {
            BlockRef ref = store.put(0, ByteBuffer.wrap(content));
            hung.signal("STOP");
            long start = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("20 reads, one wait")
                    .isLessThan(Duration.ofSeconds(15));
        }
    }

    @Test
    void aHungRegionLeavesRoomForRequestsToOthers() throws Exception {
        try (S3Server hung = new S3Server(Files.createDirectory(folder.resolve("stuck")), name(1));
                S3BlockStore store =
                        open(
                                server.endpoint(),
                                hung.endpoint(),
                                2,
                                new S3BlockStore.Options(60_000, 20_000, 1, 4));
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            byte[] content = S3Cluster.bytes(1_000, 1);
            BlockRef near = store.put(1, ByteBuffer.wrap(content));
            BlockRef far = store.put(2, ByteBuffer.wrap(content));
            hung.signal("STOP");
            CountDownLatch begun = new CountDownLatch(8);
            for (int i = 0; i < 8; i++) {
                var _ =
                        threads.submit(() -> {
                            begun.countDown();
                            return store.get(far, 0, 1_000);
                        });
            }
            begun.await();
            long start = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                assertThat(store.get(near, 0, 1_000).array()).isEqualTo(content);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(Duration.ofSeconds(10));
            hung.signal("CONT");
        }
    }

    @Test
    void wrongCredentialsAreNamed() {
        System.setProperty("aws.secretAccessKey", "wrong");
        try (S3BlockStore store = open(1)) {
            BlockStoreContract.assertFails(
                    Reason.UNREACHABLE,
                    "(HTTP 403): use credentials",
                    () -> store.put(1, ByteBuffer.allocate(10)));
        } finally {
            System.setProperty("aws.secretAccessKey", S3Server.SECRET_KEY);
        }
    }

    @Test
    void absentCredentialsAreNamed() {
        System.clearProperty("aws.accessKeyId");
        System.setProperty("aws.disableEc2Metadata", "true");
        System.setProperty("aws.sharedCredentialsFile", folder.resolve("none").toString());
        try (S3BlockStore store = open(1)) {
            BlockStoreContract.assertFails(
                    Reason.UNREACHABLE,
                    "no credentials were found: set AWS_ACCESS_KEY_ID",
                    () -> store.put(1, ByteBuffer.allocate(10)));
        } finally {
            System.clearProperty("aws.disableEc2Metadata");
            System.clearProperty("aws.sharedCredentialsFile");
            System.setProperty("aws.accessKeyId", S3Server.ACCESS_KEY);
        }
    }

    private Path bucket(int index) {
        return server.bucket(name(index));
    }

    /** In all buckets. */
    private List<Path> objectsOf(BlockRef ref) throws IOException {
        String id = String.format("%016x%016x", ref.getIdHigh(), ref.getIdLow());
        List<Path> found = new ArrayList<>();
        for (int i = 0; i < BUCKETS.length; i++) {
            for (Path object : server.objects(name(i))) {
                if (object.getFileName().toString().startsWith(id)) {
                    found.add(object);
                }
            }
        }
        return found;
    }

    private static String code(BlockRef ref) {
        return ref.getDataChunks() + "+" + ref.getParityChunks();
    }

    private static Path chunk(List<Path> objects, int chunk) {
        String end = String.format("-%02d", chunk);
        return objects.stream().filter(p -> p.toString().endsWith(end)).findFirst().orElseThrow();
    }

    private static void flip(Path object, int at) throws IOException {
        byte[] bytes = Files.readAllBytes(object);
        bytes[at] ^= 1;
        replace(object, bytes);
    }

    /** In place, so that the server's notes on the file stay. */
    private static void replace(Path object, byte[] bytes) throws IOException {
        Files.write(object, bytes);
    }
}
