package org.globalfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.client.vfs.FsException;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.ContentReply;
import org.globalfs.protocol.wire.ContentRequest;
import org.globalfs.replica.service.ReplicaOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The blocks that files have are looked for in the datastore: all that is lost, and no other. */
class LostBlocksTest {
    private static final int LARGE = 9 << 20;

    @TempDir Path folder;

    @Test
    @Timeout(300)
    void whatTheDatastoreLacksIsFoundAndItsFilesAreNamed() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 1, ReplicaOptions.defaults());
                GlobalFsClient client = cluster.connect(1)) {
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory("/home", 0755);
            for (int i = 0; i < 6; i++) {
                paths.makeDirectory("/home/d" + i, 0755);
                paths.write("/home/d" + i + "/large", content(i));
            }
            assertThat(look(cluster, 100).getLost()).isEmpty();
            ContentReply before = look(cluster, 4);
            assertThat(before.getBlocks()).isEqualTo(18);
            assertThat(before.getReduced()).isZero();
            List<BlockRef> stored = new ArrayList<>();
            cluster.blocks.list(
                    1,
                    ref -> {
                        if (!stored.contains(ref)) {
                            stored.add(ref);
                        }
                    });
            List<BlockRef> gone = List.of(stored.get(3), stored.get(4), stored.get(17));
            assertThat(cluster.blocks.deleteAll(gone)).hasSize(3);

            ContentReply found = look(cluster, 4);
            assertThat(found.getBlocks()).isEqualTo(18);
            assertThat(found.getLost()).containsExactlyInAnyOrderElementsOf(gone);
            assertThat(found.getUnclear()).isZero();
            List<String> files = leader(cluster, new ContentRequest(1).setOf(gone)).getFiles();
            assertThat(files).isNotEmpty().allMatch(l -> l.matches("inode .* .*/d[0-5]/large"));
            List<String> readable = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                if (!files.toString().contains("/d" + i + "/")) {
                    readable.add("/home/d" + i + "/large");
                }
            }
            assertThat(readable).hasSize(6 - files.size());
            for (String path : readable) {
                assertThat(paths.read(path)).hasSize(LARGE);
            }

            cluster.discovery.remove(Role.STORAGE, "s1-3");
            cluster.storage.remove("s1-3").close();
            ContentReply unsure = look(cluster, 100);
            assertThat(unsure.getLost()).isEmpty();
            assertThat(unsure.getUnclear()).isEqualTo(3);
            assertThat(unsure.getReduced()).isEqualTo(15);
            assertThat(unsure.getProblems()).anyMatch(l -> l.contains("s1-3"));
        }
    }

    /** What the partition had when its blocks were listed, and has no more. */
    @Test
    @Timeout(300)
    void whatIsDeletedMeanwhileIsNotLost() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 1, ReplicaOptions.defaults());
                GlobalFsClient client = cluster.connect(1)) {
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory("/home", 0755);
            paths.write("/home/short", content(1));
            assertThat(look(cluster, 100).getBlocks()).isEqualTo(3);
            AtomicBoolean once = new AtomicBoolean();
            cluster.beforeCount =
                    () -> {
                        if (once.compareAndSet(false, true)) {
                            write(paths, "/home/short", new byte[0]);
                            await().atMost(Duration.ofSeconds(60))
                                    .until(() -> stored(cluster).isEmpty());
                        }
                    };
            ContentReply reply = look(cluster, 100);
            assertThat(once).isTrue();
            assertThat(reply.getBlocks()).isEqualTo(3);
            assertThat(reply.getLost()).isEmpty();
        }
    }

    /** Who counts for long may stop between parts: only so does the answer come in time. */
    @Test
    @Timeout(300)
    void manyAreCountedInParts() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 1, ReplicaOptions.defaults());
                GlobalFsClient client = cluster.connect(1)) {
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory("/home", 0755);
            for (int i = 0; i < 1_010; i++) {
                paths.write("/home/f" + i, new byte[40_000]);
            }
            AtomicInteger counts = new AtomicInteger();
            cluster.beforeCount = counts::incrementAndGet;
            ContentReply reply = look(cluster, 10_000);
            assertThat(reply.getBlocks()).isEqualTo(1_010);
            assertThat(reply.getLost()).isEmpty();
            assertThat(counts).hasValue(2);
        }
    }

    private static void write(PathOperations paths, String path, byte[] content) {
        try {
            paths.write(path, content);
        } catch (FsException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Set<BlockRef> stored(LocalCluster cluster) throws IOException {
        Set<BlockRef> stored = new LinkedHashSet<>();
        cluster.blocks.list(1, stored::add);
        return stored;
    }

    /** Blocks come and go, and chunks move to a node that joins and from one that is drained. */
    @Test
    @Timeout(300)
    void nothingIsTakenForLostWhileFilesChangeAndChunksMove() throws Exception {
        long seed = System.nanoTime();
        System.out.println("LostBlocksTest seed " + seed);
        RepairOptions moving = new RepairOptions(60_000, Long.MAX_VALUE, 300);
        try (LocalCluster cluster = new LocalCluster(folder, 1, ReplicaOptions.defaults(), moving);
                GlobalFsClient client = cluster.connect(1);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            PathOperations paths = client.paths(0, 0);
            paths.makeDirectory("/home", 0755);
            AtomicBoolean stop = new AtomicBoolean();
            Future<?> writer =
                    threads.submit(() -> {
                        Random random = new Random(seed);
                        while (!stop.get()) {
                            byte[] content = content(random.nextInt());
                            int bytes = random.nextInt(20) == 0 ? LARGE : 100_000;
                            paths.write(
                                    "/home/f" + random.nextInt(12), Arrays.copyOf(content, bytes));
                        }
                        return null;
                    });
            cluster.startNode(cluster.topology.regions().getFirst(), 7);
            cluster.epochs.change(epoch -> epoch.drain("s1-1"));
            long looked = 0;
            for (int i = 0; i < 200; i++) {
                ContentReply reply = look(cluster, 10 + i);
                assertThat(reply.getLost()).as("seed %d", seed).isEmpty();
                looked += reply.getBlocks();
            }
            stop.set(true);
            writer.get();
            assertThat(looked).isPositive();
            // What is written is there in full again once all is where it belongs.
            await().atMost(Duration.ofSeconds(60)).until(() -> look(cluster, 10).getReduced() == 0);
        }
    }

    private static byte[] content(int seed) {
        byte[] content = new byte[LARGE];
        new Random(seed).nextBytes(content);
        return content;
    }

    /** All of partition 1, so many at a time. */
    private static ContentReply look(LocalCluster cluster, int limit) throws RpcException {
        ContentRequest request = new ContentRequest(1).setLimit(limit);
        ContentReply all = leader(cluster, request);
        for (ContentReply part = all; part.isSetLast(); ) {
            part = leader(cluster, request.setAfter(part.getLast()));
            assertThat(part.getBlocks()).isLessThanOrEqualTo(limit);
            all.setBlocks(all.getBlocks() + part.getBlocks());
            all.setReduced(all.getReduced() + part.getReduced());
            all.setUnclear(all.getUnclear() + part.getUnclear());
            all.getLost().addAll(part.getLost());
            all.getProblems().addAll(part.getProblems());
        }
        return all;
    }

    private static ContentReply leader(LocalCluster cluster, ContentRequest request)
            throws RpcException {
        while (true) {
            for (Topology.ReplicaSite site : cluster.topology.replicas()) {
                try (RpcClient client =
                        new RpcClient(
                                site.rpc().host(),
                                site.rpc().port(),
                                10_000,
                                RpcServer.DEFAULT_MAX_FRAME_BYTES)) {
                    ContentReply reply = client.call(MetadataCalls.CONTENT, request, 60_000);
                    if (reply.isLeads()) {
                        return reply;
                    }
                }
            }
        }
    }
}
