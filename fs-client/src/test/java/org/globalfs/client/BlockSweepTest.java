package org.globalfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.globalfs.client.meta.RpcReplicaCalls;
import org.globalfs.client.vfs.FsException;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.service.ReplicaOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Collection races with writes, renames, replacements and deletions, with writers that die before
 * their commit, with chunks on their way to other storage nodes, and with replicas that die while
 * they collect: every byte of every file is there in the end, and nothing else.
 */
class BlockSweepTest {
    private static final int WRITERS = 4;
    private static final int STEPS = 25;

    /** In a datacenter with the node that comes later. */
    private static final String DRAINED = "s1-1";

    private static final long LATE_NS = TimeUnit.SECONDS.toNanos(3);

    /** Files lose their content before their name: as orphans they would keep it for a minute. */
    private static final byte[] EMPTY = {};

    @TempDir Path folder;

    @Test
    @Timeout(300)
    void whatFilesHaveStaysAndNothingElse() throws Exception {
        long seed = System.nanoTime();
        System.out.println("BlockSweepTest seed " + seed);
        ReplicaOptions eager = ReplicaOptions.defaults().sweeping(200, 300);
        RepairOptions moving = new RepairOptions(60_000, Long.MAX_VALUE, 300);
        try (LocalCluster cluster = new LocalCluster(folder, 1, eager, moving)) {
            try (GlobalFsClient client = hesitant(cluster, seed)) {
                Map<String, byte[]> files = writeWhileOthersDie(cluster, client, seed);
                try (GlobalFsClient reader = cluster.connect(1)) {
                    for (Map.Entry<String, byte[]> file : files.entrySet()) {
                        byte[] read = reader.paths(0, 0).read(file.getKey());
                        assertThat(Arrays.equals(read, file.getValue()))
                                .as("seed %d: %s", seed, file.getKey())
                                .isTrue();
                    }
                }
                assertThat(chunks(cluster)).isPositive();
                for (String path : files.keySet()) {
                    client.paths(0, 0).write(path, EMPTY);
                }
            }
            await().atMost(Duration.ofSeconds(120)).until(() -> chunks(cluster) == 0);
            assertThat(cluster.fatal).isEmpty();
        }
    }

    /** A listing that one of them is left out of is of use all the same. */
    @Test
    @Timeout(300)
    void whatNoFileHasGoesFromTheOthersWhileANodeIsAway() throws Exception {
        ReplicaOptions eager = ReplicaOptions.defaults().sweeping(200, 300);
        try (LocalCluster cluster = new LocalCluster(folder, 1, eager);
                GlobalFsClient client = cluster.connect(1)) {
            client.paths(0, 0).makeDirectory("/home", 0755);
            cluster.discovery.remove(Role.STORAGE, "s1-3");
            cluster.storage.remove("s1-3").close();
            writeAndDie(cluster, 4711);
            await().atMost(Duration.ofSeconds(60)).until(() -> chunks(cluster) == 0);
        }
    }

    /** A client some of whose blocks wait for their commit longer than sweeps are apart. */
    private static GlobalFsClient hesitant(LocalCluster cluster, long seed) throws IOException {
        Random random = new Random(seed);
        DistributedBlockStore store =
                new DistributedBlockStore("test", "region1", cluster.discovery, cluster.epochs);
        return GlobalFsClient.connect(
                cluster.config(1),
                new DiscoveredReplicas(cluster.discovery),
                new RpcReplicaCalls(),
                new HesitantStore(store, random),
                () -> 1L << 40,
                null,
                store::close);
    }

    private record HesitantStore(BlockStore store, Random random) implements BlockStore {
        @Override
        public BlockRef put(int region, ByteBuffer content) throws IOException {
            BlockRef ref = store.put(region, content);
            boolean late;
            synchronized (random) {
                late = random.nextInt(10) == 0;
            }
            if (late) {
                LockSupport.parkNanos(LATE_NS);
            }
            return ref;
        }

        @Override
        public void get(BlockRef ref, int offset, byte[] into, int at, int length)
                throws IOException {
            store.get(ref, offset, into, at, length);
        }

        @Override
        public List<BlockRef> deleteAll(Collection<BlockRef> refs) throws IOException {
            return store.deleteAll(refs);
        }

        @Override
        public void newBlocksNotBefore(long timeMs) {
            store.newBlocksNotBefore(timeMs);
        }

        @Override
        public void list(int region, Consumer<BlockRef> each) throws IOException {
            store.list(region, each);
        }

        @Override
        public Census count(int region, List<BlockRef> blocks) throws IOException {
            return store.count(region, blocks);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    private static Map<String, byte[]> writeWhileOthersDie(
            LocalCluster cluster, GlobalFsClient client, long seed) throws Exception {
        Map<String, byte[]> files = new TreeMap<>();
        client.paths(0, 0).makeDirectory("/home", 0755);
        try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 1)) {
            List<Future<Map<String, byte[]>>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                Callable<Map<String, byte[]>> writer = writer(client, "/home/w" + i, seed + i);
                writers.add(threads.submit(writer));
            }
            Future<?> dying = threads.submit(() -> writeAndDie(cluster, seed));
            cluster.startNode(cluster.topology.regions().getFirst(), 7);
            cluster.crash(1);
            cluster.start(1);
            cluster.epochs.change(epoch -> epoch.drain(DRAINED));
            StorageNode drained = cluster.storage.get(DRAINED);
            await().atMost(Duration.ofSeconds(120)).until(() -> drained.statistics().chunks() == 0);
            cluster.epochs.change(epoch -> epoch.readmit(DRAINED));
            for (Future<Map<String, byte[]>> writer : writers) {
                files.putAll(writer.get());
            }
            dying.get();
        }
        return files;
    }

    private static Callable<Map<String, byte[]>> writer(
            GlobalFsClient client, String folder, long seed) {
        return () -> {
            Random random = new Random(seed);
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory(folder, 0755);
            Map<String, byte[]> files = new TreeMap<>();
            for (int i = 0; i < STEPS; i++) {
                step(paths, folder + "/f" + random.nextInt(6), files, random);
            }
            return files;
        };
    }

    private static void step(
            PathOperations paths, String path, Map<String, byte[]> files, Random random)
            throws FsException {
        int choice = random.nextInt(10);
        if (choice < 6) {
            boolean large = random.nextInt(5) == 0;
            byte[] content = new byte[random.nextInt(large ? 10 << 20 : 200_000)];
            random.nextBytes(content);
            paths.write(path, content);
            files.put(path, content);
        } else if (files.containsKey(path)) {
            if (choice < 8) {
                String other = path.substring(0, path.length() - 1) + random.nextInt(6);
                if (other.equals(path)) {
                    return;
                }
                if (files.containsKey(other)) {
                    paths.write(other, EMPTY);
                }
                paths.rename(path, other);
                files.put(other, files.remove(path));
            } else {
                paths.write(path, EMPTY);
                paths.remove(path);
                files.remove(path);
            }
        }
    }

    /** Stores blocks that are never committed. */
    private static void writeAndDie(LocalCluster cluster, long seed) {
        Random random = new Random(seed);
        try (DistributedBlockStore store =
                new DistributedBlockStore("test", "region1", cluster.discovery, cluster.epochs)) {
            for (int i = 0; i < 50; i++) {
                byte[] content = new byte[1 + random.nextInt(300_000)];
                store.put(1, ByteBuffer.wrap(content));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long chunks(LocalCluster cluster) throws IOException {
        long chunks = 0;
        for (StorageNode node : cluster.storage.values()) {
            chunks += node.statistics().chunks();
        }
        return chunks;
    }
}
