package org.globalfs.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.ListedEntries;
import org.globalfs.client.vfs.LockRequest;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.Errno;
import org.globalfs.replica.service.ReplicaOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Trees move between regions while programs use them, with all that programs have of them. */
class MoveTest {
    private static final int READ_WRITE = 2;
    private static final int WORKERS = 4;
    private static final int STEPS = 40;
    private static final List<String> HOMES = List.of("region1", "region2", "global");

    @TempDir Path folder;

    private static Caller root() {
        return Caller.of(0, 0, new int[0], System.nanoTime() + 60_000_000_000L);
    }

    private static byte[] random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private static void same(PathOperations paths, Map<String, byte[]> files) throws FsException {
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            assertThat(Arrays.equals(paths.read(file.getKey()), file.getValue()))
                    .as(file.getKey())
                    .isTrue();
        }
    }

    private static Map<String, byte[]> plant(PathOperations paths) throws FsException {
        Random random = new Random(7);
        Map<String, byte[]> files = new TreeMap<>();
        paths.makeDirectory("/home", 0755);
        for (int directory = 0; directory < 4; directory++) {
            String path = "/home/d" + directory;
            paths.makeDirectory(path, 0755);
            for (int file = 0; file < 10; file++) {
                int size = file < 6 ? file * 500 : file < 9 ? 150_000 : 5_000_000;
                byte[] content = random(random, size);
                paths.write(path + "/f" + file, content);
                files.put(path + "/f" + file, content);
            }
        }
        return files;
    }

    private static long chunks(LocalCluster cluster, int region) throws Exception {
        long chunks = 0;
        for (Map.Entry<String, StorageNode> node : cluster.storage.entrySet()) {
            if (node.getKey().startsWith("s" + region)) {
                chunks += node.getValue().statistics().chunks();
            }
        }
        return chunks;
    }

    @Test
    @Timeout(300)
    void aTreeMovesWithWhatIsOpenAndItsContentFollows() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 2);
                GlobalFsClient west = cluster.connect(1);
                GlobalFsClient east = cluster.connect(2)) {
            Map<String, byte[]> files = plant(west.paths(0, 0));
            FileSystem here = west.fileSystem();
            long home = west.paths(0, 0).stat("/home").ino();
            assertThat(here.placement(root(), home)).isEqualTo(Map.of("region1", 45L));
            long open = west.paths(0, 0).stat("/home/d0/f7").ino();
            long handle = here.open(root(), open, READ_WRITE).handle();
            here.write(root(), open, handle, 0, direct(name("before")), READ_WRITE);
            AtomicLong moved = new AtomicLong();
            FileSystem there = east.fileSystem();
            long listing = there.openDirectory(root(), home, 0).handle();

            assertThatThrownBy(() -> here.move(root(), home, "nowhere", moved::addAndGet))
                    .hasMessageContaining("region1, region2");
            assertThat(here.move(root(), home, "region2", moved::addAndGet)).isZero();

            assertThat(moved).hasValue(45);
            assertThat(here.placement(root(), home)).isEqualTo(Map.of("region2", 45L));
            assertThat(names(there, home, listing)).containsExactly("d0", "d1", "d2", "d3");
            assertThat(there.placement(root(), home)).isEqualTo(Map.of("region2", 45L));
            here.write(root(), open, handle, 6, direct(name(" and after")), READ_WRITE);
            here.flush(root(), open, handle);
            change(files, "/home/d0/f7", "before and after");
            same(east.paths(0, 0), files);
            same(west.paths(0, 0), files);
            namesAreTheSameEverywhere(west, east, files);
            locksExclude(west, east, "/home/d1/f1");
            unlinkedStaysOpen(west, east, open, handle, "before and after");
            files.remove("/home/d0/f7");

            await().atMost(Duration.ofSeconds(90)).until(() -> chunks(cluster, 1) == 0);
            same(east.paths(0, 0), files);
            same(west.paths(0, 0), files);
            assertThat(cluster.fatal).isEmpty();
        }
    }

    /** Of a directory that this client has last seen at its old home. */
    private static SortedSet<String> names(FileSystem client, long directory, long handle)
            throws FsException {
        ListedEntries listed = new ListedEntries(Integer.MAX_VALUE);
        client.readDirectory(root(), directory, handle, 0, listed);
        return new TreeSet<>(listed.names());
    }

    private static void namesAreTheSameEverywhere(
            GlobalFsClient west, GlobalFsClient east, Map<String, byte[]> files)
            throws FsException {
        PathOperations here = west.paths(0, 0);
        PathOperations there = east.paths(0, 0);
        byte[] content = name("new");
        here.write("/home/d2/new", content);
        files.put("/home/d2/new", content);
        there.rename("/home/d2/f3", "/home/d3/renamed");
        files.put("/home/d3/renamed", files.remove("/home/d2/f3"));
        here.rename("/home/d3", "/home/d2/d3");
        for (String path : List.copyOf(files.keySet())) {
            if (path.startsWith("/home/d3/")) {
                files.put("/home/d2" + path.substring(5), files.remove(path));
            }
        }
        for (PathOperations paths : List.of(here, there)) {
            assertThat(paths.list("/home")).containsExactlyInAnyOrder("d0", "d1", "d2");
            assertThat(paths.exists("/home/d3")).isFalse();
            same(paths, files);
        }
    }

    private static void locksExclude(GlobalFsClient west, GlobalFsClient east, String path)
            throws FsException {
        long ino = west.paths(0, 0).stat(path).ino();
        LockRequest whole = new LockRequest(1, true, LockRequest.Type.WRITE, 0, Long.MAX_VALUE, 1);
        long first = west.fileSystem().open(root(), ino, READ_WRITE).handle();
        long second = east.fileSystem().open(root(), ino, READ_WRITE).handle();
        west.fileSystem().lock(root(), ino, first, whole, false);
        assertThatThrownBy(() -> east.fileSystem().lock(root(), ino, second, whole, false))
                .isInstanceOfSatisfying(
                        FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EAGAIN));
        west.fileSystem().release(ino, first);
        east.fileSystem().lock(root(), ino, second, whole, true);
        east.fileSystem().release(ino, second);
    }

    private static void unlinkedStaysOpen(
            GlobalFsClient west, GlobalFsClient east, long ino, long handle, String beginning)
            throws FsException {
        east.paths(0, 0).remove("/home/d0/f7");
        ByteBuffer into = ByteBuffer.allocateDirect(beginning.length());
        west.fileSystem().read(root(), ino, handle, 0, into);
        assertThat(UTF_8.decode(into.flip()).toString()).isEqualTo(beginning);
        west.fileSystem().release(ino, handle);
    }

    /** Who did not change it himself may see that a little later. */
    private static void soonSame(GlobalFsClient client, Map<String, byte[]> files) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> same(client.paths(0, 0), files));
    }

    @Test
    @Timeout(300)
    void aTreeInUseBecomesEveryRegionsAndAnotherOnes() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 2);
                GlobalFsClient west = cluster.connect(1);
                GlobalFsClient east = cluster.connect(2)) {
            Map<String, byte[]> files = plant(west.paths(0, 0));
            FileSystem here = west.fileSystem();
            FileSystem there = east.fileSystem();
            long home = west.paths(0, 0).stat("/home").ino();
            long open = west.paths(0, 0).stat("/home/d0/f7").ino();
            long handle = here.open(root(), open, READ_WRITE).handle();
            here.write(root(), open, handle, 0, direct(name("before")), READ_WRITE);
            long listing = there.openDirectory(root(), home, 0).handle();
            AtomicLong moved = new AtomicLong();

            assertThat(there.move(root(), home, "global", moved::addAndGet)).isZero();

            assertThat(moved).hasValue(45);
            assertThat(here.placement(root(), home)).isEqualTo(Map.of("global", 45L));
            assertThat(names(there, home, listing)).containsExactly("d0", "d1", "d2", "d3");
            here.write(root(), open, handle, 6, direct(name(", meanwhile")), READ_WRITE);
            here.flush(root(), open, handle);
            change(files, "/home/d0/f7", "before, meanwhile");
            same(west.paths(0, 0), files);
            soonSame(east, files);
            locksExclude(west, east, "/home/d1/f1");
            everybodyChangesNames(west, east, files);

            // What has its content in region 1 stays until that has followed.
            await().atMost(Duration.ofSeconds(90))
                    .until(() -> here.move(root(), home, "region2", moved::addAndGet) == 0);
            assertThat(here.placement(root(), home)).isEqualTo(Map.of("region2", 46L));
            here.write(root(), open, handle, 17, direct(name(" and after")), READ_WRITE);
            here.flush(root(), open, handle);
            change(files, "/home/d0/f7", "before, meanwhile and after");
            same(west.paths(0, 0), files);
            // Until it has heard of the move it reads the global partition's past.
            soonSame(east, files);
            unlinkedStaysOpen(west, east, open, handle, "before, meanwhile and after");
            files.remove("/home/d0/f7");
            await().atMost(Duration.ofSeconds(90)).until(() -> chunks(cluster, 1) == 0);
            same(east.paths(0, 0), files);
            same(west.paths(0, 0), files);
            assertThat(cluster.fatal).isEmpty();
        }
    }

    private static void change(Map<String, byte[]> files, String path, String beginning) {
        byte[] changed = files.get(path).clone();
        System.arraycopy(name(beginning), 0, changed, 0, beginning.length());
        files.put(path, changed);
    }

    private static void everybodyChangesNames(
            GlobalFsClient west, GlobalFsClient east, Map<String, byte[]> files)
            throws FsException {
        byte[] content = name("new");
        west.paths(0, 0).write("/home/d2/new", content);
        files.put("/home/d2/new", content);
        east.paths(0, 0).rename("/home/d2/f3", "/home/d3/renamed");
        files.put("/home/d3/renamed", files.remove("/home/d2/f3"));
        for (GlobalFsClient client : List.of(west, east)) {
            soonSame(client, files);
            await().until(() -> !client.paths(0, 0).exists("/home/d2/f3"));
        }
    }

    @Test
    @Timeout(300)
    void everybodyWorksOnWhileTreesMoveAndReplicasDie() throws Exception {
        long seed = System.nanoTime();
        System.out.println("MoveTest seed " + seed);
        ReplicaOptions eager = ReplicaOptions.defaults().sweeping(500, 60_000);
        try (LocalCluster cluster = new LocalCluster(folder, 2, eager);
                GlobalFsClient west = cluster.connect(1);
                GlobalFsClient east = cluster.connect(2)) {
            west.paths(0, 0).makeDirectory("/home", 0755);
            AtomicBoolean over = new AtomicBoolean();
            AtomicLong moved = new AtomicLong();
            Map<String, byte[]> files = new HashMap<>();
            try (ExecutorService threads = Executors.newFixedThreadPool(WORKERS + 1)) {
                List<Future<Map<String, byte[]>>> workers = new ArrayList<>();
                for (int i = 0; i < WORKERS; i++) {
                    GlobalFsClient client = i % 2 == 0 ? west : east;
                    workers.add(threads.submit(worker(client, "/home/w" + i, seed + i, moved)));
                }
                Future<?> mover = threads.submit(mover(west, east, over, seed, moved));
                cluster.crash(1);
                cluster.start(1);
                cluster.crash(5);
                cluster.start(5);
                try {
                    for (Future<Map<String, byte[]>> worker : workers) {
                        files.putAll(worker.get());
                    }
                } finally {
                    over.set(true);
                }
                mover.get();
            }
            System.out.println(moved + " inodes moved");
            assertThat(moved).hasPositiveValue();
            for (GlobalFsClient client : List.of(west, east)) {
                soonSame(client, files);
            }
            try (GlobalFsClient other = cluster.connect(2)) {
                soonSame(other, files);
            }
            assertThat(cluster.fatal).isEmpty();
        }
    }

    /** To and fro, whole trees and parts. */
    private static Callable<@Nullable Void> mover(
            GlobalFsClient west,
            GlobalFsClient east,
            AtomicBoolean over,
            long seed,
            AtomicLong moved) {
        return () -> {
            Random random = new Random(seed);
            while (!over.get()) {
                GlobalFsClient client = random.nextBoolean() ? west : east;
                String path =
                        random.nextInt(3) == 0 ? "/home" : "/home/w" + random.nextInt(WORKERS);
                if (client.paths(0, 0).exists(path)) {
                    long ino = client.paths(0, 0).stat(path).ino();
                    long _ =
                            client.fileSystem()
                                    .move(
                                            root(),
                                            ino,
                                            HOMES.get(random.nextInt(HOMES.size())),
                                            moved::addAndGet);
                }
            }
            return null;
        };
    }

    /** So many steps, and more until something has moved meanwhile. */
    private static Callable<Map<String, byte[]>> worker(
            GlobalFsClient client, String folder, long seed, AtomicLong moved) {
        return () -> {
            Random random = new Random(seed);
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory(folder, 0755);
            Map<String, byte[]> files = new TreeMap<>();
            for (int step = 0; step < STEPS || moved.get() == 0; step++) {
                String path = folder + "/f" + random.nextInt(6);
                byte[] known = files.get(path);
                switch (random.nextInt(8)) {
                    case 0, 1, 2, 3 -> {
                        int size = random.nextInt(random.nextInt(4) == 0 ? 1_000_000 : 8_000);
                        files.put(path, random(random, size));
                        paths.write(path, files.get(path));
                    }
                    case 4 -> {
                        if (known != null) {
                            paths.remove(path);
                            files.remove(path);
                        }
                    }
                    case 5 -> {
                        if (known != null) {
                            String other = folder + "/g" + random.nextInt(3);
                            paths.rename(path, other);
                            files.put(other, files.remove(path));
                        }
                    }
                    default -> {
                        if (known != null) {
                            assertThat(Arrays.equals(paths.read(path), known)).as(path).isTrue();
                        }
                    }
                }
            }
            return files;
        };
    }
}
