package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.ReadOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that are written in small bits all over, with another client that writes them too. */
class CompactionTest {

    private static final int SIZE = 1 << 20;
    private static final int FULL = 2;

    @TempDir Path folder;

    private final FakeBlockStore blocks = new FakeBlockStore();

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void rewritesFragmentedPartsAndNoOther(long seed) throws FsException {
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        byte[] model = new byte[SIZE];
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster);
                TestClient there = client(cluster)) {
            cluster.leaseMs = 500;
            long home = here.mkdir(FileSystem.ROOT, "home");
            Open file = here.create(home, "file");
            random.nextBytes(model);
            here.write(file, 0, model);
            here.flush(file);
            Open other = there.open(file.ino(), OpenFlags.O_RDWR);
            for (int i = 0; i < 400; i++) {
                boolean mine = random.nextInt(20) > 0;
                if (!mine) {
                    // The order of both clients' writes is that of their commits.
                    here.flush(file);
                }
                byte[] bytes = new byte[1 + random.nextInt(300)];
                random.nextBytes(bytes);
                int at = random.nextInt(SIZE / 2 - bytes.length);
                (mine ? here : there).write(mine ? file : other, at, bytes);
                System.arraycopy(bytes, 0, model, at, bytes.length);
                if (!mine || random.nextInt(5) == 0) {
                    (mine ? here : there).flush(mine ? file : other);
                }
            }
            here.close(file);
            there.close(other);
            await().atMost(Duration.ofSeconds(30)).until(() -> compacted(cluster));
            assertThat(there.content(file.ino())).isEqualTo(model);
        }
    }

    private static boolean compacted(FakeCluster cluster) {
        synchronized (cluster) {
            return cluster.executed.stream().anyMatch(c -> c.getOp().isSetCompact());
        }
    }

    /** Bytes of the file's first MiBs that are in the metadata. */
    private static long embedded(TestClient client, long ino) {
        Requests requests = new Requests(client.metadata, client.fs.cache(), 1);
        ReadOp op = ReadOp.content(new ContentOp(ino, 0, FULL * SIZE));
        Patience patience = Patience.of(Duration.ofSeconds(10));
        return requests
                .tryRead(new Credentials(0, 0), requests.home(ino), op, patience)
                .reply()
                .getExtents()
                .stream()
                .filter(Extent::isSetData)
                .mapToLong(Extent::getLength)
                .sum();
    }

    /** As a shell does that adds lines to a log: nobody has it open for long. */
    @Test
    void rewritesWhatIsOpenedForEachWrite() throws FsException {
        int bytes = 8 << 10;
        ByteArrayOutputStream model = new ByteArrayOutputStream();
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster)) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            Open log = here.create(home, "log");
            here.close(log);
            for (int i = 0; i < FULL * SIZE / bytes + 70; i++) {
                Open file = here.open(log.ino(), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
                byte[] line = new byte[bytes];
                Arrays.fill(line, (byte) i);
                here.write(file, model.size(), line);
                here.close(file);
                model.writeBytes(line);
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> embedded(here, log.ino()) == 0);
            Open read = here.open(log.ino(), OpenFlags.O_RDONLY);
            for (int at = 0; at < model.size(); at += SIZE) {
                int end = Math.min(model.size(), at + SIZE);
                byte[] expected = Arrays.copyOfRange(model.toByteArray(), at, end);
                assertThat(Arrays.equals(here.read(read, at, end - at), expected)).isTrue();
            }
            here.close(read);
        }
    }

    /** As while a shell goes on adding lines: what puts the file in order takes longer than one. */
    @Test
    void rewritesWhatIsOpenedForEachWriteAllTheWhile() throws FsException {
        int bytes = 8 << 10;
        AtomicInteger lines = new AtomicInteger();
        blocks.beforePut = () -> untilWritten(lines);
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster)) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            Open log = here.create(home, "log");
            here.close(log);
            long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            boolean inOrder = false;
            while (!inOrder && System.nanoTime() - until < 0) {
                Open file = here.open(log.ino(), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
                here.write(file, (long) lines.get() * bytes, new byte[bytes]);
                here.close(file);
                boolean full = lines.incrementAndGet() > (FULL * SIZE) / bytes;
                inOrder = full && embedded(here, log.ino()) == 0;
            }
            assertThat(inOrder).isTrue();
        }
    }

    /** Small lines are kept by replicas, and need no storage. */
    @Test
    void whoWritesMeanwhileDoesNotWaitForStorageThatIsSilent() throws Exception {
        int bytes = 8 << 10;
        CountDownLatch answers = new CountDownLatch(1);
        AtomicInteger tried = new AtomicInteger();
        blocks.beforePut =
                () -> {
                    tried.incrementAndGet();
                    awaitAll(answers);
                };
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster);
                Closeable _ = answers::countDown) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            Open log = here.create(home, "log");
            here.close(log);
            Callable<Integer> lines =
                    () -> {
                        int written = 0;
                        while (tried.get() == 0 || written < FULL * SIZE / bytes + 70) {
                            Open file =
                                    here.open(log.ino(), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
                            here.write(file, (long) written++ * bytes, new byte[bytes]);
                            here.close(file);
                        }
                        return written;
                    };
            FutureTask<Integer> written = new FutureTask<>(lines);
            Thread.startVirtualThread(written);
            assertThat(written.get(40, TimeUnit.SECONDS)).isPositive();
        }
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Until the next one, if it comes at all while a block is stored. */
    private static void untilWritten(AtomicInteger lines) {
        int before = lines.get();
        long until = System.nanoTime() + Duration.ofMillis(200).toNanos();
        while (lines.get() <= before + 1 && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private TestClient client(FakeCluster cluster) {
        return new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
    }
}
