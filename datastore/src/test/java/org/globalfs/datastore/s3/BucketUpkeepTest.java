package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.awaitility.Awaitility;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What is lost or damaged in buckets of a real S3 server is made anew, or said to be lost. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BucketUpkeepTest {
    /** Nothing by itself but what a test waits for. */
    private static final BucketUpkeep.Times ASKED = new BucketUpkeep.Times(3_600_000, 100);

    private static final S3Upkeep UPKEEP = new S3Upkeep(3_600_000, 0, 1L << 40, 1L << 40);

    private S3Cluster s3;
    private String cluster;
    private S3BlockStore store;
    private S3Cluster.Owner owner;
    private BucketUpkeep upkeep;

    @BeforeAll
    void startServer(@TempDir Path folder) throws IOException {
        s3 = new S3Cluster(folder);
    }

    @AfterAll
    void stopServer() {
        s3.close();
    }

    @BeforeEach
    void open(TestInfo test) {
        cluster = test.getTestMethod().orElseThrow().getName().toLowerCase(java.util.Locale.ROOT);
        store = s3.open(cluster);
        owner = new S3Cluster.Owner();
        lookAfter(0, ASKED);
    }

    private void lookAfter(int region, BucketUpkeep.Times times) {
        if (upkeep != null) {
            upkeep.close();
        }
        upkeep = store.lookAfter(region, owner, UPKEEP, times, ref -> {});
    }

    @AfterEach
    void close() {
        upkeep.close();
        upkeep = null;
        store.close();
    }

    private BlockRef put(int region, byte[] content) throws IOException {
        BlockRef ref = store.put(region, ByteBuffer.wrap(content));
        owner.inUse.add(ref);
        return ref;
    }

    private Map<Integer, byte[]> contents(BlockRef ref) throws IOException {
        Map<Integer, byte[]> contents = new TreeMap<>();
        for (var object : s3.objects(ref).entrySet()) {
            contents.put(object.getKey(), Files.readAllBytes(object.getValue()));
        }
        return contents;
    }

    private RepairProgress repaired() {
        long before = upkeep.beginRepair().pass();
        Awaitility.await()
                .until(() ->
                        upkeep.repair().pass() > before
                                && upkeep.repair().state() == PassState.ENDED);
        return upkeep.repair();
    }

    private ScrubProgress scrubbed() {
        var _ = upkeep.beginScrub(0);
        Awaitility.await().until(() -> upkeep.scrub().state() == PassState.ENDED);
        return upkeep.scrub();
    }

    @Test
    void lostObjectsAreMadeAnewByteForByte() throws IOException {
        Map<BlockRef, Map<Integer, byte[]>> before = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            BlockRef ref = put(0, S3Cluster.bytes(1 + 150_000 * i, i));
            before.put(ref, contents(ref));
        }
        int lost = 0;
        for (BlockRef ref : before.keySet()) {
            List<Path> objects = List.copyOf(s3.objects(ref).values());
            for (int chunk = lost % 4; chunk < 9; chunk += 4) {
                Files.delete(objects.get(chunk));
                lost++;
            }
        }
        RepairProgress said = repaired();
        assertThat(said.rebuilt()).isEqualTo(lost);
        assertThat(said.looked()).isEqualTo(36);
        assertThat(said.toRebuild() + said.unclear() + said.unmade()).isZero();
        for (var each : before.entrySet()) {
            assertThat(contents(each.getKey())).containsExactlyEntriesOf(each.getValue());
        }
        assertThat(repaired().rebuilt()).isZero();
        assertThat(upkeep.buckets()).allMatch(b -> b.objects() == 12 && b.bytes() > 12 * 64);
    }

    @Test
    void aFlippedBitIsFoundByAScrub() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(600_000, 1));
        Map<Integer, byte[]> before = contents(ref);
        S3Cluster.flip(s3.objects(ref).get(1), 70_000);
        S3Cluster.flip(s3.objects(ref).get(4), 3); // of the header
        Files.write(s3.objects(ref).get(7), new byte[0]);
        assertThat(repaired().rebuilt()).as("a check reads nothing").isZero();
        ScrubProgress said = scrubbed();
        assertThat(said.damaged()).isEqualTo(3);
        assertThat(said.mended()).isEqualTo(3);
        assertThat(said.left() + said.unreadable()).isZero();
        assertThat(said.readBytes()).isEqualTo(said.totalBytes()).isGreaterThan(900_000);
        assertThat(contents(ref)).containsExactlyEntriesOf(before);
    }

    @Test
    void aFlippedBitIsFoundByItselfInAPeriod() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(100_000, 1));
        Map<Integer, byte[]> before = contents(ref);
        S3Cluster.flip(s3.objects(ref).get(3), 100);
        upkeep.close();
        S3Upkeep always = new S3Upkeep(0, 100, 1L << 40, 1L << 40);
        upkeep = store.lookAfter(0, owner, always, ASKED, each -> {});
        Awaitility.await().until(() -> contents(ref).equals(before) || same(contents(ref), before));
        assertThat(upkeep.scrub().pass()).isZero();
    }

    private static boolean same(Map<Integer, byte[]> one, Map<Integer, byte[]> other) {
        return one.keySet().equals(other.keySet())
                && one.keySet().stream()
                        .allMatch(c -> java.util.Arrays.equals(one.get(c), other.get(c)));
    }

    @Test
    void nothingIsMadeFromDamagedObjects() throws IOException {
        byte[] content = S3Cluster.bytes(300_000, 1);
        BlockRef ref = put(0, content);
        Map<Integer, byte[]> before = contents(ref);
        Files.delete(s3.objects(ref).get(0));
        S3Cluster.flip(s3.objects(ref).get(1), 1_000);
        S3Cluster.flip(s3.objects(ref).get(2), 20_000);
        assertThat(repaired().rebuilt()).isEqualTo(3);
        assertThat(contents(ref)).containsExactlyEntriesOf(before);
    }

    @Test
    void aBlockOfWhichTooLittleIsLeftIsNamedAndLeftAlone() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(300_000, 1));
        BlockRef given = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(1_000, 2)));
        for (BlockRef each : List.of(ref, given)) {
            for (int chunk : new int[] {0, 3, 5}) {
                Files.delete(s3.objects(each).get(chunk));
            }
        }
        S3Cluster.flip(s3.objects(ref).get(8), 1_000);
        Map<Integer, byte[]> before = contents(ref);
        String name = String.format("%016x%016x", ref.getIdHigh(), ref.getIdLow());
        RepairProgress said = repaired();
        assertThat(said.unmade()).isEqualTo(1);
        assertThat(said.rebuilt()).isZero();
        assertThat(said.problems().getFirst())
                .contains(
                        "block " + name + " is lost",
                        "only 5 of its 9",
                        "-03 in bucket",
                        "-08 in bucket",
                        "is damaged");
        assertThat(contents(ref)).containsExactlyEntriesOf(before);
        assertThat(s3.objects(given)).as("no file has it: the sweep's").hasSize(6);
        ScrubProgress read = scrubbed();
        assertThat(read.left()).isEqualTo(4);
        assertThat(read.problems().getFirst()).contains(name + " is lost");
        assertThat(contents(ref)).containsExactlyEntriesOf(before);
    }

    @Test
    void whatABucketLacksThatCameBackIsMadeAnewByItself() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(300_000, 1));
        Map<Integer, byte[]> before = contents(ref);
        s3.takeAway(1);
        Awaitility.await()
                .until(() -> upkeep.buckets().stream().anyMatch(b -> !b.away().isEmpty()));
        RepairProgress said = repaired();
        assertThat(said.rebuilt() + said.unmade()).isZero();
        assertThat(said.unclear()).isEqualTo(1);
        assertThat(said.problems().getFirst()).contains("region2", "create it");
        try (var objects = Files.walk(s3.away(1))) {
            for (Path object : objects.filter(Files::isRegularFile).toList()) {
                Files.delete(object);
            }
        }
        s3.bringBack(1);
        Awaitility.await().until(() -> contents(ref).size() == 9);
        Awaitility.await().until(() -> upkeep.repair().state() == PassState.ENDED);
        assertThat(contents(ref)).containsExactlyEntriesOf(before);
        assertThat(upkeep.buckets()).allMatch(b -> b.away().isEmpty());
    }

    @Test
    void whileABucketIsAwayNothingIsTakenForLost() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(300_000, 1));
        Map<Integer, Path> objects = s3.objects(ref);
        Set<Integer> ofFirst = new TreeSet<>();
        objects.forEach((chunk, path) -> {
            if (path.startsWith(s3.bucket(0))) {
                ofFirst.add(chunk);
            }
        });
        s3.takeAway(0);
        try {
            Awaitility.await().until(() -> !upkeep.buckets().getFirst().away().isEmpty());
            int gone =
                    objects.keySet().stream().filter(c -> !ofFirst.contains(c)).findFirst().get();
            Files.delete(objects.get(gone));
            RepairProgress said = repaired();
            assertThat(said.unmade()).isZero();
            assertThat(said.unclear()).isEqualTo(2);
        } finally {
            s3.bringBack(0);
        }
        Awaitility.await().until(() -> contents(ref).size() == 9);
    }

    @Test
    void aBucketThatAnswersAndCannotBeListedIsNotComparedAgainAtOnce() throws IOException {
        var _ = put(0, S3Cluster.bytes(1_000, 1));
        AtomicInteger probes = new AtomicInteger();
        try (FaultyLink link = new FaultyLink(s3.endpoint());
                S3BlockStore behind = s3.open(cluster, link.endpoint())) {
            link.breakWhere(head -> {
                boolean probe = head.contains("max-keys=1&");
                probes.addAndGet(probe ? 1 : 0);
                return !probe && head.contains("list-type=2");
            });
            upkeep.close();
            upkeep = behind.lookAfter(0, owner, UPKEEP, ASKED, ref -> {});
            assertThat(repaired().unclear()).isPositive();
            int before = probes.get();
            Awaitility.await().until(() -> probes.get() >= before + 3);
            assertThat(upkeep.repair().pass()).isEqualTo(1);
            assertThat(upkeep.buckets().getFirst().away()).isNotEmpty();
            upkeep.close();
        }
    }

    @Test
    void whoBeginsToLeadLooksSoon() throws IOException {
        owner.leads = false;
        BlockRef ref = put(0, S3Cluster.bytes(1_000, 1));
        Files.delete(s3.objects(ref).get(2));
        lookAfter(0, new BucketUpkeep.Times(1, 100));
        assertThat(upkeep.repair().state()).isEqualTo(PassState.NONE);
        owner.leads = true;
        Awaitility.await().until(() -> contents(ref).size() == 9);
    }

    @Test
    void whoDoesNotLeadDoesNothing() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(1_000, 1));
        Files.delete(s3.objects(ref).get(2));
        owner.leads = false;
        lookAfter(0, ASKED);
        assertThat(upkeep.beginRepair().state()).isEqualTo(PassState.WAITING);
        assertThat(upkeep.beginScrub(0).state()).isNotEqualTo(PassState.ENDED);
        Awaitility.await().until(() -> upkeep.scrub().state() == PassState.WAITING);
        assertThat(upkeep.repair().pass()).isZero();
        assertThat(contents(ref)).hasSize(8);
    }

    @Test
    void objectsOfANewerProgramAreLeftAlone() throws IOException {
        BlockRef ref = put(0, S3Cluster.bytes(1_000, 1));
        Path object = s3.objects(ref).get(2);
        byte[] bytes = Files.readAllBytes(object);
        ByteBuffer header = ByteBuffer.wrap(bytes).putShort(8, (short) 2);
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, 60);
        header.putInt(60, (int) crc.getValue()).putInt(64, 0);
        Files.write(object, bytes);
        ScrubProgress said = scrubbed();
        assertThat(said.damaged() + said.mended()).isZero();
        assertThat(said.unreadable()).isEqualTo(1);
        assertThat(said.problems().getFirst()).contains("has format 2", "upgrade it");
        assertThat(Files.readAllBytes(object)).isEqualTo(bytes);
    }

    @Test
    void aBlockOfARegionHasOneObjectOnly() throws IOException {
        BlockRef ref = put(2, S3Cluster.bytes(200_000, 1));
        BlockRef other = put(2, S3Cluster.bytes(200_000, 2));
        Map<Integer, byte[]> before = contents(other);
        S3Cluster.flip(s3.objects(ref).get(0), 150_000);
        S3Cluster.flip(s3.objects(other).get(0), 60); // its content is whole
        byte[] damaged = Files.readAllBytes(s3.objects(ref).get(0));
        lookAfter(2, ASKED);
        assertThat(repaired().looked()).isEqualTo(2);
        ScrubProgress said = scrubbed();
        assertThat(said.damaged()).isEqualTo(2);
        assertThat(said.mended()).isEqualTo(1);
        assertThat(said.left()).isEqualTo(1);
        assertThat(said.problems().getFirst()).contains("is lost", "is damaged");
        assertThat(contents(other)).containsExactlyEntriesOf(before);
        assertThat(Files.readAllBytes(s3.objects(ref).get(0))).isEqualTo(damaged);
    }

    @Test
    void aWalkMergesListingsPageByPage() throws IOException {
        List<BlockRef> refs = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            refs.add(put(0, S3Cluster.bytes(10, i)));
        }
        Path gone = s3.objects(refs.get(3)).get(4);
        Path folder = gone.getParent();
        Files.delete(gone);
        Files.writeString(folder.resolve("notes.txt"), "not ours");
        Files.copy(s3.objects(refs.get(3)).get(5), folder.resolve("0" + gone.getFileName()));
        Map<BlockRef, Long> missing = new HashMap<>();
        try (Buckets buckets = s3.buckets(cluster)) {
            for (String split : List.of("8000")) {
                missing.clear();
                List<BlockWalk> halves =
                        List.of(
                                new BlockWalk(buckets, 0, split, null, 2),
                                new BlockWalk(buckets, 0, "", split, 2));
                for (BlockWalk half : halves) {
                    for (var found = half.next(); found != null; found = half.next()) {
                        assertThat(missing.put(found.ref(), found.missing())).isNull();
                    }
                }
                assertThat(missing).containsOnlyKeys(refs);
                assertThat(missing.remove(refs.get(3))).isEqualTo(1L << 4);
                assertThat(missing.values()).containsOnly(0L);
            }
        }
    }
}
