package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.globalfs.datastore.wire.PassState;
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

/**
 * Making objects anew while others write, delete and sweep: what {@link BlockMender} promises. Each
 * test of the first kind has the other's step happen at the worst moment; the last one has all
 * happen at any.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BucketUpkeepRaceTest {
    private static final S3Upkeep UPKEEP = new S3Upkeep(3_600_000, 0, 1L << 40, 1L << 40);
    private static final BucketUpkeep.Times ASKED = new BucketUpkeep.Times(3_600_000, 3_600_000);
    private static final long SEED = 4711;

    private S3Cluster s3;
    private S3BlockStore store;
    private S3Cluster.Owner owner;

    private interface Step {
        void at(BlockRef ref) throws IOException;
    }

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
        store = s3.open(test.getTestMethod().orElseThrow().getName());
        owner = new S3Cluster.Owner();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private BlockRef lacking(int... chunks) throws IOException {
        BlockRef ref = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(100_000, 1)));
        owner.inUse.add(ref);
        for (int chunk : chunks) {
            Files.delete(s3.objects(ref).get(chunk));
        }
        return ref;
    }

    private static Consumer<BlockRef> unchecked(Step step) {
        return ref -> {
            try {
                step.at(ref);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    /** A pass, in the middle of which something happens. */
    private void repair(BlockOwner asked, Step beforeWrite) {
        try (BucketUpkeep upkeep =
                store.lookAfter(0, asked, UPKEEP, ASKED, unchecked(beforeWrite))) {
            repair(upkeep);
        }
    }

    private static void repair(BucketUpkeep upkeep) {
        var _ = upkeep.beginRepair();
        Awaitility.await()
                .until(() ->
                        upkeep.repair().pass() > 0 && upkeep.repair().state() != PassState.RUNNING);
    }

    private void giveUpAndDelete(BlockRef ref) throws IOException {
        owner.inUse.remove(ref);
        assertThat(store.deleteAll(List.of(ref))).containsExactly(ref);
    }

    /** What the sweep does: it deletes what it finds by listing and no file has. */
    private void sweep() throws IOException {
        List<BlockRef> found = new ArrayList<>();
        store.list(
                0,
                ref -> {
                    if (!owner.inUse.contains(ref)) {
                        found.add(ref);
                    }
                });
        assertThat(store.deleteAll(found)).hasSameSizeAs(found);
    }

    /** What a writer is about to add, and what a deletion has not come to yet. */
    @Test
    void whatNoFileHasIsNotWritten() throws IOException {
        BlockRef ref = lacking(2);
        owner.inUse.remove(ref);
        List<BlockRef> written = Collections.synchronizedList(new ArrayList<>());
        repair(owner, written::add);
        assertThat(written).isEmpty();
        assertThat(s3.objects(ref)).hasSize(8);
    }

    @Test
    void whatIsDeletedBetweenReadingAndWritingIsNotBack() throws IOException {
        BlockRef ref = lacking(0, 7);
        repair(owner, this::giveUpAndDelete);
        assertThat(s3.objects(ref)).isEmpty();
    }

    @Test
    void whatIsDeletedAfterTheWriteIsNotBack() throws IOException {
        BlockRef ref = lacking(1, 2, 3);
        AtomicInteger calls = new AtomicInteger();
        BlockOwner deletesWhenAskedAgain =
                new BlockOwner() {
                    @Override
                    public boolean leads() {
                        return true;
                    }

                    @Override
                    public Set<BlockRef> inUse(Collection<BlockRef> blocks) throws IOException {
                        Set<BlockRef> inUse = owner.inUse(blocks);
                        if (calls.incrementAndGet() == 2) {
                            giveUpAndDelete(ref); // after the moment that the answer is of
                        }
                        return inUse;
                    }
                };
        repair(deletesWhenAskedAgain, each -> {});
        assertThat(calls).hasValue(2);
        assertThat(s3.objects(ref)).isEmpty();
    }

    @Test
    void whatIsLeftByWhoStopsBetweenWritingAndAskingIsTheSweeps() throws IOException {
        BlockRef deleted = lacking(4);
        BlockRef live = lacking(5);
        AtomicInteger calls = new AtomicInteger();
        BlockOwner stops =
                new BlockOwner() {
                    @Override
                    public boolean leads() {
                        return true;
                    }

                    @Override
                    public Set<BlockRef> inUse(Collection<BlockRef> blocks) throws IOException {
                        if (calls.incrementAndGet() > 1) {
                            throw new IOException("leads no longer");
                        }
                        return owner.inUse(blocks);
                    }
                };
        repair(
                stops,
                ref -> {
                    if (ref.equals(deleted)) {
                        giveUpAndDelete(ref);
                    }
                });
        assertThat(s3.objects(deleted)).hasSize(1);
        assertThat(s3.objects(live)).hasSize(9);
        sweep();
        assertThat(s3.objects(deleted)).isEmpty();
        assertThat(s3.objects(live)).hasSize(9);
    }

    @Test
    void aWritersLateObjectStays() throws IOException {
        BlockRef ref = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(100_000, 1)));
        owner.inUse.add(ref);
        Path late = s3.objects(ref).get(6);
        byte[] object = Files.readAllBytes(late);
        Files.delete(late);
        repair(owner, each -> Files.write(late, object));
        assertThat(Files.readAllBytes(s3.objects(ref).get(6))).isEqualTo(object);
    }

    /** What the threads of {@link #allAtOnce} share. */
    private final class Race {
        final Map<BlockRef, byte[]> live = new ConcurrentHashMap<>();
        final Set<BlockRef> given = ConcurrentHashMap.newKeySet();
        final ConcurrentLinkedQueue<BlockRef> healthy = new ConcurrentLinkedQueue<>();
        final AtomicBoolean over = new AtomicBoolean();

        void write(Random random) throws IOException {
            for (int i = 0; i < 20; i++) {
                byte[] content = S3Cluster.bytes(1 + random.nextInt(200_000), random.nextLong());
                BlockRef ref = store.put(0, ByteBuffer.wrap(content));
                live.put(ref, content);
                owner.inUse.add(ref);
                healthy.add(ref);
            }
        }

        /** No block ever lacks more than what it has parity chunks for. */
        void damage(Random random) throws IOException {
            while (!over.get()) {
                BlockRef ref = healthy.poll();
                if (ref == null) {
                    Thread.onSpinWait();
                    continue;
                }
                List<Path> objects;
                try {
                    objects = List.copyOf(s3.objects(ref).values());
                } catch (UncheckedIOException | NoSuchFileException e) {
                    healthy.add(ref); // a folder went away that was about to be looked into
                    continue;
                }
                for (int i = 0; i < Math.min(3, objects.size()); i++) {
                    Path object = objects.get((i * 4 + random.nextInt(2)) % objects.size());
                    Files.deleteIfExists(object);
                }
            }
        }

        void delete(Random random) throws IOException {
            while (!over.get()) {
                for (BlockRef ref : List.copyOf(live.keySet())) {
                    if (random.nextInt(3) == 0 && live.remove(ref) != null) {
                        owner.inUse.remove(ref);
                        given.add(ref);
                        assertThat(store.deleteAll(List.of(ref))).containsExactly(ref);
                    }
                }
            }
        }

        void sweepOn() throws IOException {
            while (!over.get()) {
                List<BlockRef> found = new ArrayList<>();
                store.list(
                        0,
                        ref -> {
                            if (given.contains(ref)) { // the fence is behind these
                                found.add(ref);
                            }
                        });
                var _ = store.deleteAll(found);
            }
        }
    }

    @Test
    void allAtOnce() throws Exception {
        Race race = new Race();
        try (ExecutorService threads = Executors.newFixedThreadPool(6);
                BucketUpkeep one = store.lookAfter(0, owner, UPKEEP, ASKED, ref -> {});
                BucketUpkeep other = store.lookAfter(0, owner, UPKEEP, ASKED, ref -> {})) {
            List<Future<?>> writers = new ArrayList<>();
            List<Future<?>> others = new ArrayList<>();
            writers.add(threads.submit(() -> done(() -> race.write(new Random(SEED)))));
            writers.add(threads.submit(() -> done(() -> race.write(new Random(SEED + 1)))));
            others.add(threads.submit(() -> done(() -> race.damage(new Random(SEED)))));
            others.add(threads.submit(() -> done(() -> race.delete(new Random(SEED)))));
            others.add(threads.submit(() -> done(race::sweepOn)));
            try {
                for (Future<?> writer : writers) {
                    while (!writer.isDone()) {
                        var _ = one.beginRepair();
                        var _ = other.beginRepair();
                        var _ = one.beginScrub(0);
                        Thread.onSpinWait();
                    }
                    var _ = writer.get();
                }
                Awaitility.await()
                        .until(() ->
                                race.healthy.isEmpty() || others.stream().anyMatch(Future::isDone));
            } finally {
                race.over.set(true); // or the threads would never end
            }
            for (Future<?> each : others) {
                var _ = each.get();
            }
            long before = one.beginRepair().pass();
            Awaitility.await()
                    .until(() ->
                            one.repair().pass() > before + 1
                                    || one.repair().pass() == before + 1
                                            && one.repair().state() == PassState.ENDED);
            assertThat(one.repair().unmade()).isZero();
        }
        for (BlockRef ref : race.given) {
            assertThat(s3.objects(ref)).as("deleted %s", ref).isEmpty();
        }
        for (Map.Entry<BlockRef, byte[]> each : race.live.entrySet()) {
            byte[] content = each.getValue();
            assertThat(store.get(each.getKey(), 0, content.length).array()).isEqualTo(content);
            assertThat(s3.objects(each.getKey())).hasSize(9);
        }
        assertThat(race.live.size() + race.given.size()).isEqualTo(40);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static Object done(Work work) throws IOException {
        try {
            work.run();
        } catch (NoSuchFileException e) {
            throw new IllegalStateException(e);
        }
        return work;
    }
}
