package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The block store on six real nodes with real sockets and disks: its contract, and what faults do.
 */
class DistributedBlockStoreTest extends BlockStoreContract {
    private static final int REGION = StorageCluster.REGION;

    @TempDir Path folder;
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        store = cluster.client();
    }

    @Override
    protected BlockStore store() {
        return store;
    }

    @Override
    protected int region() {
        return REGION;
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    /** How many of the blocks' chunks belong on these nodes. */
    private long chunksAt(Collection<BlockRef> blocks, String... nodes) throws IOException {
        long count = 0;
        for (BlockRef ref : blocks) {
            for (StorageSite home : store.homes(ref)) {
                count += List.of(nodes).contains(home.id()) ? 1 : 0;
            }
        }
        return count;
    }

    @Test
    void chunksOfABlockAreOnSixNodes() throws IOException {
        store.put(REGION, ByteBuffer.wrap(bytes(100_000)));
        for (StorageNode node : cluster.running()) {
            assertThat(node.statistics().chunks()).isEqualTo(1);
            assertThat(node.statistics().handoffChunks()).isZero();
        }
    }

    @Test
    void anyTwoNodesMayBeDownForReads() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(12, 300_000);
        String[] ids = {"a1", "a2", "b1", "b2", "c1", "c2"};
        for (int i = 0; i < ids.length; i++) {
            for (int j = i + 1; j < ids.length; j++) {
                cluster.stop(ids[i], ids[j]);
                assertReadable(blocks);
                cluster.start(ids[i]);
                cluster.start(ids[j]);
            }
        }
    }

    /** Forty chunks, of which any eight may be lost. */
    @Test
    void aWideBlockIsReadAndMadeAnewWithoutEightOfItsNodes() throws IOException {
        BlockCode wide = new BlockCode(32, 8);
        for (char datacenter : "abcde".toCharArray()) {
            for (int n = datacenter < 'd' ? 3 : 1; n <= 8; n++) {
                cluster.start(datacenter + Integer.toString(n));
            }
        }
        cluster.epochs.change(epoch -> epoch.coded(wide, epoch.global()));
        Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
        for (int size : new int[] {70_001, 1_000_003, 4 << 20}) {
            byte[] content = bytes(size);
            blocks.put(store.put(REGION, ByteBuffer.wrap(content)), content);
        }
        BlockRef ref = List.copyOf(blocks.keySet()).get(1);
        assertThat(ref.getDataChunks()).isEqualTo((byte) 32);
        ChunkShape shape = new ChunkShape(ref.getLength(), REGION, 32, 8, ref.getEpoch());
        List<StorageSite> homes = store.homes(ref);
        Map<ChunkKey, byte[]> made = new LinkedHashMap<>();
        for (int lost : new int[] {0, 5, 6, 13, 31, 32, 38, 39}) {
            ChunkKey key = new ChunkKey(ref.getIdHigh(), ref.getIdLow(), lost);
            made.put(key, store.chunk(key, shape));
            cluster.stop(homes.get(lost).id());
        }
        assertReadable(blocks);
        for (Map.Entry<ChunkKey, byte[]> chunk : made.entrySet()) {
            assertThat(store.chunk(chunk.getKey(), shape)).isEqualTo(chunk.getValue());
        }
    }

    @Test
    void aDatacenterMayBeLostAndAnotherAfterItsReturn() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(10, 200_000);
        cluster.stop("a1", "a2");
        blocks.putAll(putSome(20, 200_000));
        assertReadable(blocks);
        assertThat(cluster.handoffs())
                .isEqualTo(chunksAt(blocks.keySet().stream().skip(10).toList(), "a1", "a2"));
        cluster.start("a1");
        cluster.start("a2");
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.handoffs() == 0);
        assertThat(cluster.node("a1").statistics().chunks())
                .isEqualTo(chunksAt(blocks.keySet(), "a1"));
        cluster.stop("b1", "b2");
        assertReadable(blocks);
        blocks.putAll(putSome(5, 50_000));
        assertReadable(blocks);
    }

    @Test
    void aNodeMayBeDownAndThenAnotherDatacenterLost() throws IOException {
        cluster.stop("a1");
        Map<BlockRef, byte[]> blocks = putSome(12, 200_000);
        cluster.stop("b1", "b2");
        assertReadable(blocks);
        cluster.start("b1");
        cluster.start("b2");
        cluster.stop("c1", "c2");
        assertReadable(blocks);
    }

    @Test
    void handedOffChunksServeReadsBeforeTheyAreHome() throws IOException {
        cluster.stop("c1", "c2");
        Map<BlockRef, byte[]> blocks = putSome(10, 100_000);
        cluster.stop("b2");
        assertReadable(blocks); // three nodes of six, two chunks each on some: enough for k
    }

    @Test
    void manyNodesAreSearchedToTheLast() throws IOException {
        cluster.stop("c1", "c2");
        Map<BlockRef, byte[]> blocks = putSome(5, 100_000);
        HostPort nobody = new HostPort("127.0.0.1", FreePorts.one());
        for (int i = 0; i < 150; i++) { // they keep nothing, and are not there any more
            cluster.discovery.register(
                    new Member(Role.STORAGE, "gone-" + i, "west", REGION, "a", nobody, Map.of()));
        }
        cluster.stop("b2");
        try (DistributedBlockStore reader =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER,
                        "west",
                        cluster.discovery,
                        cluster.epochs,
                        3_000,
                        20_000)) {
            for (Map.Entry<BlockRef, byte[]> block : blocks.entrySet()) {
                int length = block.getValue().length;
                assertThat(reader.get(block.getKey(), 0, length).array())
                        .isEqualTo(block.getValue());
            }
        }
    }

    @Test
    void threeNodesDownRefuseWrites() throws IOException {
        cluster.stop("a1", "a2", "b1");
        BlockRef ref = store.put(REGION, ByteBuffer.wrap(bytes(100_000)));
        assertThat(ref).isNotNull(); // three nodes hold two chunks each: any one may still be lost
        cluster.stop("b2");
        assertReadable(putSome(1, 1000)); // two copies
        try (DistributedBlockStore hasty =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER,
                        "west",
                        cluster.discovery,
                        cluster.epochs,
                        500,
                        2_000)) {
            assertThatThrownBy(() -> hasty.put(REGION, ByteBuffer.wrap(bytes(100_000))))
                    .isInstanceOfSatisfying(
                            BlockStoreException.class,
                            e ->
                                    assertThat(e.reason())
                                            .isEqualTo(BlockStoreException.Reason.UNREACHABLE));
        }
    }

    @Test
    void howManyNodesMayBeLostAfterAWriteIsConfigured() throws IOException {
        cluster.stop("a1", "a2", "b1", "b2");
        BlockClientContext.Options hasty =
                new BlockClientContext.Options(
                        TimeUnit.MILLISECONDS.toNanos(500),
                        TimeUnit.MILLISECONDS.toNanos(2_000),
                        4,
                        0,
                        2,
                        false);
        byte[] small = bytes(5_000);
        BlockRef ref = store.put(REGION, ByteBuffer.wrap(small));
        assertWhole(ref, small); // any of the two nodes that are there may be lost
        try (DistributedBlockStore strict =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER, "west", cluster.discovery, cluster.epochs, hasty)) {
            assertThatThrownBy(() -> strict.put(REGION, ByteBuffer.wrap(small)))
                    .isInstanceOf(BlockStoreException.class)
                    .hasMessageContaining(
                            "3 of 3 chunks could be written, of which the loss of any 2 nodes must leave 1");
            cluster.start("a1");
            await().ignoreExceptions() // until a1 is known to answer
                    .until(() -> strict.put(REGION, ByteBuffer.wrap(small)) != null);
        }
    }

    @Test
    void smallBlocksAreWholeCopiesThatAnyOneNodeServes() throws IOException {
        byte[] content = bytes(5_000);
        BlockRef ref = store.put(REGION, ByteBuffer.wrap(content));
        assertThat(ref.getDataChunks()).isEqualTo((byte) 1);
        assertThat(ref.getParityChunks()).isEqualTo((byte) 2);
        List<String> homes = store.homes(ref).stream().map(StorageSite::id).toList();
        for (String left : homes) {
            List<String> down = homes.stream().filter(id -> !id.equals(left)).toList();
            cluster.stop(down.toArray(String[]::new));
            assertWhole(ref, content);
            for (String id : down) {
                cluster.start(id);
            }
        }
        BlockRef coded = store.put(REGION, ByteBuffer.wrap(bytes(64 << 10)));
        assertThat(coded.getDataChunks()).isEqualTo((byte) 4);
    }

    @Test
    void newBlocksAreCodedAsTheNewestEpochSays() throws IOException {
        byte[] content = bytes(300_000);
        BlockRef before = store.put(REGION, ByteBuffer.wrap(content));
        cluster.epochs.change(epoch -> epoch.coded(BlockCode.parse("3+3"), epoch.global()));
        BlockRef after = store.put(REGION, ByteBuffer.wrap(content));
        assertThat(after.getDataChunks()).isEqualTo((byte) 3);
        assertThat(after.getParityChunks()).isEqualTo((byte) 3);
        cluster.stop("a1", "b1", "c1");
        assertWhole(after, content);
        cluster.start("a1");
        assertWhole(before, content);
    }

    @Test
    void hungNodeCostsOneTimeoutNotOneEach() throws IOException {
        store.close();
        store = cluster.client(1_000);
        Map<BlockRef, byte[]> blocks = putSome(10, 100_000);
        cluster.stop("b1");
        try (ServerSocket silent = new ServerSocket()) {
            silent.setReuseAddress(true);
            silent.bind(
                    new InetSocketAddress(
                            InetAddress.getLoopbackAddress(), cluster.address("b1").port()));
            long start = System.nanoTime();
            blocks.putAll(putSome(20, 100_000));
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertThat(store.isSuspect("b1")).isTrue();
            assertThat(took).as("20 puts, one time-out").isLessThan(Duration.ofSeconds(10));
            assertReadable(blocks);
            assertThat(cluster.handoffs()).isPositive();
        }
        cluster.start("b1");
        await().atMost(Duration.ofSeconds(30)).until(() -> !store.isSuspect("b1"));
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.handoffs() == 0);
        assertReadable(blocks);
    }

    private static ServerSocket listen(InetSocketAddress address) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(address);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    @Test
    void nodeThatStopsAnsweringDuringAReadIsDecodedAround() throws IOException {
        store.close();
        store = cluster.client(1_000);
        Map<BlockRef, byte[]> blocks = putSome(10, 100_000);
        cluster.stop("c2");
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), cluster.address("c2").port());
        // A connection on its way to the stopped node may hold the port for a moment.
        try (ServerSocket silent =
                await().atMost(Duration.ofSeconds(30))
                        .ignoreException(BindException.class)
                        .until(() -> listen(address), socket -> true)) {
            assertThat(silent.isBound()).isTrue();
            assertReadable(blocks);
        }
    }

    @Test
    void deletedBlocksAreGoneAndTheirSpaceComesBack() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(30, 400_000);
        long before = cluster.node("a1").statistics().usedBytes();
        List<BlockRef> refs = new ArrayList<>(blocks.keySet());
        BlockRef first = refs.removeFirst();
        store.delete(first);
        store.delete(first);
        assertThatThrownBy(() -> store.get(first, 0, 1))
                .isInstanceOfSatisfying(
                        BlockStoreException.class,
                        e -> assertThat(e.reason()).isEqualTo(BlockStoreException.Reason.LOST));
        assertThat(store.deleteAll(refs)).containsExactlyInAnyOrderElementsOf(refs);
        for (StorageNode node : cluster.running()) {
            assertThat(node.statistics().chunks()).isZero();
            assertThat(node.statistics().liveBytes()).isZero();
        }
        assertThat(cluster.node("a1").statistics().usedBytes()).isLessThan(before / 4);
    }

    @Test
    void deleteReachesStandInsAndReportsTheUnreachable() throws IOException {
        cluster.stop("a1");
        BlockRef ref = store.put(REGION, ByteBuffer.wrap(bytes(5000)));
        assertThat(store.deleteAll(List.of(ref))).isEmpty();
        for (StorageNode node : cluster.running()) {
            assertThat(node.statistics().chunks()).isZero();
        }
        cluster.start("a1");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> store.deleteAll(List.of(ref)).contains(ref));
    }

    @Test
    void acknowledgedBlocksSurviveRestarts() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(20, 300_000);
        for (String id : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(id);
        }
        for (String id : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.start(id);
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> !store.isSuspect("a1"));
        assertReadable(blocks);
    }

    @Test
    void corruptChunkIsServedFromOthersAndWrittenAgain() throws IOException {
        byte[] content = bytes(200_000);
        BlockRef ref = store.put(REGION, ByteBuffer.wrap(content));
        StorageSite home = store.homes(ref).get(1);
        flipByteIn(cluster.folder(home.id()), 30_000);
        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
        assertThat(store.get(ref, 60_000, 30_000).array())
                .isEqualTo(Arrays.copyOfRange(content, 60_000, 90_000));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> cluster.node(home.id()).statistics().corruptChunks() == 0);
        assertThat(store.read(ref, 0, new byte[content.length], 0, content.length).damaged())
                .isEmpty();
    }

    private static void flipByteIn(Path folder, long offset) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "segment-*")) {
            for (Path file : files) {
                try (FileChannel channel =
                        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    ByteBuffer one = ByteBuffer.allocate(1);
                    channel.read(one, offset);
                    one.put(0, (byte) ~one.get(0));
                    channel.write(one.flip(), offset);
                }
            }
        }
    }

    @Test
    void lostChunksAreFoundMissingAndWrittenAgain() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(5, 100_000);
        cluster.stop("b2");
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(cluster.folder("b2"), "segment-*")) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        cluster.start("b2");
        for (int i = 0; i < 3; i++) {
            assertReadable(blocks);
        }
    }

    @Test
    void fullNodesRefuseAndDeletesStillWork() throws IOException {
        try (StorageCluster small = new StorageCluster(folder.resolve("small"), 3 << 20);
                DistributedBlockStore client = small.client()) {
            List<BlockRef> refs = new ArrayList<>();
            BlockStoreException full = null;
            for (int i = 0; i < 100 && full == null; i++) {
                try {
                    refs.add(client.put(REGION, ByteBuffer.wrap(bytes(1 << 20))));
                } catch (BlockStoreException e) {
                    full = e;
                }
            }
            assertThat(full).isNotNull();
            assertThat(full.reason()).isEqualTo(BlockStoreException.Reason.NO_SPACE);
            assertThat(refs).hasSizeGreaterThan(8);
            for (BlockRef ref : refs) {
                assertThat(client.get(ref, 0, 100).remaining()).isEqualTo(100);
            }
            small.stop("b1");
            assertFull(client); // whether b1 would have room or not
            small.capacityBytes *= 2;
            small.start("b1");
            await().until(() -> !client.isSuspect("b1"));
            long before = small.node("b1").statistics().chunks();
            assertFull(client);
            await("what it had room for is taken back")
                    .until(() -> small.node("b1").statistics().chunks() == before);
            assertThat(client.deleteAll(refs.subList(0, 5))).hasSize(5);
            for (int i = 0; i < 3; i++) {
                refs.add(client.put(REGION, ByteBuffer.wrap(bytes(1 << 20))));
            }
            assertThat(client.deleteAll(refs)).hasSameSizeAs(refs);
            for (StorageNode node : small.running()) {
                assertThat(node.statistics().chunks()).as("of what found no room").isZero();
            }
        }
    }

    /** Who relies on having seen every block hears that it has not. */
    @Test
    void whoDoesNotListItsBlocksIsNamedAndTheOthersAreListed() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(5, 50_000);
        cluster.stop("b1");
        for (int i = 0; i < 2; i++) { // found silent, and known to be
            List<BlockRef> found = new ArrayList<>();
            assertThatThrownBy(() -> store.list(REGION, found::add)).hasMessageContaining("b1");
            assertThat(found).containsAll(blocks.keySet());
        }
        cluster.start("b1");
        await().until(() -> !store.isSuspect("b1"));
        store.list(REGION, ref -> {});
    }

    /**
     * Chunks of one block are on all nodes but one, of the others they lie before and behind it.
     */
    @Test
    void whoDoesNotAnswerIsNamedAndTheOthersChunksAreCounted() throws IOException {
        List<BlockRef> refs = new ArrayList<>(putSome(30, 300_000).keySet());
        refs.sort(BY_ID);
        cluster.stop("b1");
        for (int i = 0; i < 2; i++) { // found silent, and known to be
            BlockStore.Census census = store.count(REGION, refs);
            assertThat(census.silent()).containsExactly("b1");
            for (int block = 0; block < refs.size(); block++) {
                int all = refs.get(block).getDataChunks() + refs.get(block).getParityChunks();
                assertThat(census.chunks()[block]).isBetween(all - 1, all == 6 ? all - 1 : all);
            }
        }
        List<BlockRef> backward = refs.reversed();
        assertThatThrownBy(() -> store.count(REGION, backward))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void assertFull(DistributedBlockStore client) {
        assertThatThrownBy(() -> client.put(REGION, ByteBuffer.wrap(bytes(1 << 20))))
                .isInstanceOfSatisfying(
                        BlockStoreException.class,
                        e -> assertThat(e.reason()).isEqualTo(BlockStoreException.Reason.NO_SPACE));
    }

    @Test
    void refusesWhereADatacenterCouldNotBeLost() {
        assertThatThrownBy(() -> store.put(2, ByteBuffer.wrap(bytes(10))))
                .isInstanceOfSatisfying(
                        BlockStoreException.class,
                        e -> {
                            assertThat(e.reason())
                                    .isEqualTo(BlockStoreException.Reason.UNPLACEABLE);
                            assertThat(e).hasMessageContaining("start more storage nodes");
                        });
    }

    @Test
    void nodesThatJoinTakeNewBlocksAndOldOnesStayReadable() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(10, 50_000);
        List<String> joining = List.of("a3", "b3", "c3");
        for (String id : joining) {
            cluster.start(id);
        }
        blocks.putAll(putSome(20, 50_000));
        assertReadable(blocks);
        long taken = 0;
        for (String id : joining) {
            taken += cluster.node(id).statistics().chunks();
        }
        assertThat(taken).as("of 60, by chance, about 20").isPositive();
        assertThat(store.deleteAll(blocks.keySet())).hasSize(30);
    }

    /** ZooKeeper lost its data while nothing ran: epochs begin anew, and blocks name old ones. */
    @Test
    void blocksOfEpochsThatAreLostAreFound() throws IOException {
        Map<BlockRef, byte[]> blocks = new HashMap<>();
        putSome(10, 50_000)
                .forEach((ref, content) -> {
                    BlockRef later = new BlockRef(ref);
                    later.setEpoch(ref.getEpoch() + 20); // nobody knows it any more
                    BlockRef early = new BlockRef(ref);
                    early.setEpoch(2); // that is one with two nodes now
                    blocks.put(later, content);
                    blocks.put(early, content);
                });
        assertReadable(blocks);
        cluster.start("a3");
        cluster.start("b3"); // some chunks belong there now
        assertReadable(blocks);
    }

    @Test
    void anotherClustersClientIsRefused() {
        try (DistributedBlockStore stranger =
                new DistributedBlockStore(
                        "another", "west", cluster.discovery, cluster.epochs, 500, 1_500)) {
            assertThatThrownBy(() -> stranger.put(REGION, ByteBuffer.wrap(bytes(10))))
                    .isInstanceOf(BlockStoreException.class);
        }
    }
}
