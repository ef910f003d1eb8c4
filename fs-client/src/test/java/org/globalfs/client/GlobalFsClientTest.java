package org.globalfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.globalfs.client.vfs.FsException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library against real replicas and storage nodes. */
class GlobalFsClientTest {

    @TempDir static Path folder;

    private static LocalCluster cluster;
    private static GlobalFsClient west;
    private static GlobalFsClient east;

    @BeforeAll
    static void begin() throws IOException, FsException {
        cluster = new LocalCluster(folder, 2);
        west = cluster.connect(1);
        east = cluster.connect(2);
        west.paths(0, 0).makeDirectory("/west", 0755);
        east.join(west.vector());
    }

    @AfterAll
    static void end() throws IOException {
        west.close();
        east.close();
        cluster.close();
        assertThat(cluster.fatal).isEmpty();
    }

    private static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void filesOfEverySizeAreReadWholeInTheOtherRegion() throws FsException {
        int[] sizes = {0, 1, 4_096, 16 << 10, 17_000, 1 << 20, (9 << 20) + 1};
        for (int size : sizes) {
            west.paths(0, 0).write("/west/f" + size, random(size, size));
        }
        for (int size : sizes) {
            assertThat(east.paths(0, 0).read("/west/f" + size)).isEqualTo(random(size, size));
        }
        assertThat(east.paths(0, 0).list("/west")).contains("f0", "f1");
    }

    /** A session's vector carries what it saw to a session in another region. */
    @Test
    void aVectorPassedOnMakesTheOtherRegionSeeIt() throws FsException {
        PathOperations here = west.paths(0, 0);
        PathOperations there = east.paths(0, 0);
        for (int i = 0; i < 20; i++) {
            String name = "/passed" + i;
            here.write(name, name.getBytes(StandardCharsets.UTF_8));
            east.join(west.vector());
            assertThat(there.read(name)).isEqualTo(name.getBytes(StandardCharsets.UTF_8));
            there.rename(name, name + "-moved");
            west.join(east.vector());
            assertThat(here.exists(name)).isFalse();
            assertThat(here.exists(name + "-moved")).isTrue();
        }
    }

    @Test
    void manyThreadsWork() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Void>> futures = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int number = thread;
                Callable<Void> task =
                        () -> {
                            PathOperations paths = west.paths(0, 0);
                            paths.makeDirectory("/west/t" + number, 0755);
                            for (int i = 0; i < 30; i++) {
                                String path = "/west/t" + number + "/f" + i;
                                paths.write(path, random(i, 3_000));
                                assertThat(paths.read(path)).isEqualTo(random(i, 3_000));
                            }
                            return null;
                        };
                futures.add(threads.submit(task));
            }
            for (Future<Void> future : futures) {
                future.get();
            }
        }
    }

    /**
     * Each replica of the western region is killed in turn and comes back, while files are written.
     */
    @Test
    void crashesOfReplicasAreNotNoticed() throws Exception {
        PathOperations paths = west.paths(0, 0);
        paths.makeDirectory("/west/crash", 0755);
        AtomicInteger written = new AtomicInteger();
        CompletableFuture<Void> crashes =
                CompletableFuture.runAsync(
                        () -> {
                            for (int id = 1; id <= 3; id++) {
                                awaitMore(written, 20);
                                cluster.crash(id);
                                awaitMore(written, 40);
                                start(id);
                            }
                            awaitMore(written, 20);
                        },
                        Thread::startVirtualThread);
        while (!crashes.isDone()) {
            int number = written.get();
            paths.write("/west/crash/f" + number, random(number, 20_000));
            written.incrementAndGet();
        }
        crashes.get();
        for (int i = 0; i < written.get(); i++) {
            assertThat(east.paths(0, 0).read("/west/crash/f" + i)).isEqualTo(random(i, 20_000));
        }
    }

    private static void awaitMore(AtomicInteger counter, int more) {
        int target = counter.get() + more;
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> counter.get() >= target);
    }

    private static void start(int id) {
        try {
            cluster.start(id);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
