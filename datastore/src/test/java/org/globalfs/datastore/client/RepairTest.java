package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.node.FaultPoints;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real nodes come and go; the chunks of their blocks stay complete, and go where they belong. */
@Timeout(300)
class RepairTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int BLOCKS = 40;

    @TempDir Path folder;
    private final Random random = new Random(4711);
    private final Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        cluster.repairs = new RepairOptions(1_000, Long.MAX_VALUE, 300);
        for (String node : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
        store = cluster.client();
        for (int i = 0; i < BLOCKS; i++) {
            byte[] content = new byte[1 + random.nextInt(200_000)];
            random.nextBytes(content);
            blocks.put(store.put(StorageCluster.REGION, ByteBuffer.wrap(content)), content);
        }
    }

    @AfterEach
    void stop() throws IOException {
        threads.shutdownNow();
        store.close();
        cluster.close();
    }

    private StorageConnection connect(String node) throws IOException {
        return new StorageConnection(cluster.address(node), StorageCluster.CLUSTER, node, 10_000);
    }

    private List<ChunkKey> held(String node) throws IOException {
        try (StorageConnection connection = connect(node)) {
            return connection.list(null, 10_000).stream()
                    .map(StorageConnection.Listed::key)
                    .toList();
        }
    }

    private int allHeld() throws IOException {
        int count = 0;
        for (StorageNode node : cluster.running()) {
            count += held(node.id()).size();
        }
        return count;
    }

    private int chunks() {
        return blocks.keySet().stream()
                .mapToInt(ref -> ref.getDataChunks() + ref.getParityChunks())
                .sum();
    }

    private void awaitAllHeld() {
        await().atMost(LIMIT).until(() -> allHeld() == chunks() && cluster.handoffs() == 0);
    }

    private void readAll() throws IOException {
        for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
            byte[] content = entry.getValue();
            assertThat(store.get(entry.getKey(), 0, content.length).array()).isEqualTo(content);
        }
    }

    /** Whether every chunk is where the newest placement epoch wants it, and nowhere else. */
    private boolean areHome() throws IOException {
        Map<String, Set<ChunkKey>> held = new HashMap<>();
        for (StorageNode node : cluster.running()) {
            held.put(node.id(), Set.copyOf(held(node.id())));
        }
        int home = 0;
        for (BlockRef ref : blocks.keySet()) {
            List<StorageSite> homes = store.homes(ref);
            for (int i = 0; i < homes.size(); i++) {
                ChunkKey key = new ChunkKey(ref.getIdHigh(), ref.getIdLow(), i);
                home += held.getOrDefault(homes.get(i).id(), Set.of()).contains(key) ? 1 : 0;
            }
        }
        return home == chunks() && allHeld() == home;
    }

    @Test
    void aDeadNodesChunksAreMadeAnewAndReturnWithIt() throws IOException {
        int before = held("a1").size();
        assertThat(before).isPositive();
        cluster.stop("a1");
        await().atMost(LIMIT).until(() -> allHeld() == chunks());
        assertThat(cluster.handoffs()).isEqualTo(before);
        cluster.stop("b1", "b2"); // a whole datacenter more
        readAll();
        cluster.start("b1");
        cluster.start("b2");
        cluster.start("a1");
        awaitAllHeld();
        assertThat(held("a1")).hasSize(before);
        assertThat(areHome()).isTrue();
        readAll();
    }

    @Test
    void whoComesBackWithAnEmptyDiskGetsItsChunksAgain() throws IOException {
        List<ChunkKey> before = held("c2");
        cluster.stop("c2");
        try (Stream<Path> files = Files.walk(cluster.folder("c2"))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
        cluster.start("c2");
        awaitAllHeld();
        assertThat(held("c2")).containsExactlyElementsOf(before);
        cluster.stop("a1", "b1");
        readAll();
    }

    @Test
    void chunksMoveToNewNodesWhileTheyAreRead() throws Exception {
        AtomicBoolean moved = new AtomicBoolean();
        Future<?> reader =
                threads.submit(() -> {
                    while (!moved.get()) {
                        readAll();
                    }
                    return null;
                });
        for (String node : List.of("a3", "b3", "c3")) {
            cluster.start(node);
        }
        await().atMost(LIMIT).until(() -> reader.isDone() || areHome());
        moved.set(true);
        reader.get(60, TimeUnit.SECONDS);
        assertThat(areHome()).isTrue();
        assertThat(held("b3")).isNotEmpty();
        cluster.stop("a1", "b1");
        readAll();
    }

    @Test
    void whoHasNotHeardOfNewNodesIsToldOfThemByTheOthers() throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
        cluster.discovery.members(Role.STORAGE).forEach(discovery::register);
        for (int i = 1; i <= cluster.epochs.newest().number(); i++) {
            Epoch known = cluster.epochs.epoch(i);
            epochs.change(before -> known);
        }
        for (String node : List.of("a3", "b3", "c3")) {
            cluster.start(node);
        }
        await().atMost(LIMIT).until(this::areHome);
        try (DistributedBlockStore cutOff =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER, "west", discovery, epochs, 15_000, 60_000)) {
            BlockRef moved = moved(cutOff);
            discovery.current(false);
            assertThat(cutOff.get(moved, 0, 1).get()).isEqualTo(blocks.get(moved)[0]);
            assertThat(epochs.newest()).isEqualTo(cluster.epochs.newest());
            BlockRef absent = new BlockRef(moved).setIdHigh(moved.getIdHigh() - 1);
            BlockStoreContract.assertFails(
                    Reason.UNREACHABLE,
                    "ZooKeeper does not answer",
                    () -> cutOff.get(absent, 0, 1));
        }
    }

    /** A block of which too few chunks are where the store knows nodes. */
    private BlockRef moved(DistributedBlockStore asked) throws IOException {
        for (BlockRef ref : blocks.keySet()) {
            try {
                var _ = asked.get(ref, 0, 1);
            } catch (BlockStoreException e) {
                assertThat(e.reason()).isEqualTo(Reason.LOST);
                return ref;
            }
        }
        throw new AssertionError("no block has moved so far");
    }

    @Test
    void chunksMoveWhenANodesWeightChanges() throws IOException {
        // Of two nodes of a datacenter each has a chunk of every block, whatever their weights.
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        assertThat(held("a3")).hasSizeLessThan(BLOCKS);
        cluster.stop("a3");
        cluster.weight = 1e9;
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        assertThat(held("a3")).hasSize(BLOCKS);
        readAll();
    }

    @Test
    void aDrainedNodeEmptiesAndStaysOutUntilItIsReadmitted() throws IOException {
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        cluster.epochs.change(epoch -> epoch.drain("a1"));
        await().atMost(LIMIT).until(() -> held("a1").isEmpty());
        await().atMost(LIMIT).until(this::areHome);
        cluster.stop("a1");
        readAll();
        cluster.start("a1");
        assertThat(cluster.epochs.newest().lists("a1")).isFalse();
        assertThat(store.deleteAll(blocks.keySet()).size()).isEqualTo(BLOCKS);
        assertThat(allHeld()).isZero();
        cluster.epochs.change(epoch -> epoch.readmit("a1"));
        await().atMost(LIMIT).until(() -> cluster.epochs.newest().lists("a1"));
    }

    @Test
    void aDeadNodeThatIsDrainedLeavesNothingToWaitFor() throws IOException {
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        cluster.stop("a1");
        cluster.epochs.change(epoch -> epoch.drain("a1"));
        await().atMost(LIMIT).until(this::areHome);
        assertThat(store.deleteAll(blocks.keySet()).size()).isEqualTo(BLOCKS);
        assertThat(allHeld()).isZero();
    }

    @Test
    void nothingIsLostAndNothingLeftWhateverComesAndGoes() throws Exception {
        long seed = System.nanoTime();
        Random chance = new Random(seed);
        cluster.start("a3");
        cluster.start("b3");
        cluster.start("c3");
        List<String> all = List.of("a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3");
        List<BlockRef> deleted = new ArrayList<>();
        for (int round = 0; round < 6; round++) {
            String node = all.get(chance.nextInt(all.size()));
            boolean drains = chance.nextBoolean();
            if (drains) {
                cluster.epochs.change(epoch -> epoch.drain(node));
            } else {
                cluster.stop(node);
            }
            long untilNs = System.nanoTime() + chance.nextLong(2_000_000_000L);
            do {
                byte[] content = new byte[1 + chance.nextInt(100_000)];
                chance.nextBytes(content);
                blocks.put(store.put(StorageCluster.REGION, ByteBuffer.wrap(content)), content);
                List<BlockRef> known = List.copyOf(blocks.keySet());
                BlockRef ref = known.get(chance.nextInt(known.size()));
                byte[] expected = blocks.get(ref);
                assertThat(store.get(ref, 0, expected.length).array())
                        .as("seed %s, round %s, %s", seed, round, ref)
                        .isEqualTo(expected);
                if (chance.nextInt(3) == 0) {
                    blocks.remove(ref);
                    deleted.add(ref);
                    deleted.removeAll(store.deleteAll(deleted));
                }
            } while (System.nanoTime() - untilNs < 0);
            if (drains) {
                cluster.epochs.change(epoch -> epoch.readmit(node));
                await().atMost(LIMIT).until(() -> cluster.epochs.newest().lists(node));
            } else {
                cluster.start(node);
            }
        }
        // A node that has just come back may still count as silent.
        await("seed " + seed)
                .atMost(LIMIT)
                .until(() -> {
                    deleted.removeAll(store.deleteAll(deleted));
                    return deleted.isEmpty();
                });
        await("seed " + seed).atMost(LIMIT).until(this::areHome);
        readAll();
    }

    /** How passes end that all nodes are asked for at once. */
    private Map<String, RepairProgress> repairAll() throws IOException {
        Map<String, Long> before = new HashMap<>();
        for (StorageNode node : cluster.running()) {
            try (StorageConnection connection = connect(node.id())) {
                before.put(node.id(), connection.beginRepair().pass());
            }
        }
        Map<String, RepairProgress> ends = new HashMap<>();
        before.forEach((node, pass) ->
                await().atMost(LIMIT)
                        .until(() -> {
                            try (StorageConnection connection = connect(node)) {
                                RepairProgress now = connection.repair();
                                assertThat(now.looked()).isLessThanOrEqualTo(now.total());
                                ends.put(node, now);
                                return now.pass() > pass && now.state() == PassState.ENDED;
                            }
                        }));
        return ends;
    }

    @Test
    void aChunkWhoseMakingFailsInAnUnforeseenWayIsLeftAndMadeByTheNextPass() throws IOException {
        AtomicBoolean fails = new AtomicBoolean(true);
        cluster.faults =
                id ->
                        (step, path) -> {
                            if (step == FaultPoints.Step.CHUNK_MADE && fails.get()) {
                                throw new IllegalStateException("a failure that nobody foresaw");
                            }
                        };
        for (String node : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
        ChunkKey missing = putAllBut(2);
        Map<String, RepairProgress> ends = repairAll();
        assertThat(ends.values().stream().mapToLong(RepairProgress::toRebuild).sum()).isEqualTo(1);
        assertThat(ends.values().stream().mapToLong(RepairProgress::unclear).sum()).isZero();
        fails.set(false);
        repairAll();
        List<ChunkKey> held = new ArrayList<>();
        for (StorageNode node : cluster.running()) {
            held.addAll(held(node.id()));
        }
        assertThat(held).contains(missing);
    }

    /** Five chunks of a block at their homes, and none of the one with this index. */
    private ChunkKey putAllBut(int index) throws IOException {
        BlockRef like = fourOfSix().getFirst();
        BlockRef ref = new BlockRef(like).setIdLow(like.getIdLow() ^ 1);
        copy(like, ref, Set.of(index));
        return new ChunkKey(ref.getIdHigh(), ref.getIdLow(), index);
    }

    /** The chunks of a block as another one's, at that one's homes, but for some. */
    private void copy(BlockRef like, BlockRef ref, Set<Integer> without) throws IOException {
        List<StorageSite> from = store.homes(like);
        List<StorageSite> to = store.homes(ref);
        for (int i = 0; i < to.size(); i++) {
            ChunkKey key = new ChunkKey(like.getIdHigh(), like.getIdLow(), i);
            ChunkKey copy = new ChunkKey(ref.getIdHigh(), ref.getIdLow(), i);
            try (StorageConnection source = connect(from.get(i).id());
                    StorageConnection target = connect(to.get(i).id())) {
                StorageConnection.Listed listed =
                        source.list(null, 10_000).stream()
                                .filter(chunk -> chunk.key().equals(key))
                                .findFirst()
                                .orElseThrow();
                byte[] bytes = source.get(key, 0, listed.bytes()).payload();
                if (!without.contains(i)) {
                    assertThat(target.put(copy, listed.shape(), "", bytes, 0, bytes.length))
                            .isEqualTo(ChunkStatus.OK);
                }
            }
        }
    }

    /**
     * Three chunks of six are enough: four blocks each that lack one, two and three, in that order.
     */
    @Test
    void whatCanLoseFewestChunksMoreIsMadeFirst() throws IOException {
        restartAll(RepairOptions.NEVER);
        cluster.epochs.change(epoch -> epoch.coded(new BlockCode(3, 3), epoch.global()));
        BlockRef like = store.put(StorageCluster.REGION, ByteBuffer.wrap(new byte[100_000]));
        Map<Long, Integer> lacks = new LinkedHashMap<>();
        for (long id = like.getIdLow() + 1; lacks.size() < 12; id++) {
            BlockRef ref = new BlockRef(like).setIdLow(id);
            if (store.homes(ref).getFirst().id().equals("a1")) { // so it makes all that lacks
                lacks.put(id, 1 + lacks.size() / 4);
                copy(like, ref, Set.copyOf(List.of(5, 4, 3).subList(0, lacks.get(id))));
            }
        }
        long atMs = like.getIdHigh() >>> 16;
        await().until(() -> System.currentTimeMillis() > atMs + 1_000); // else it is too young
        cluster.repairs = new RepairOptions(0, Long.MAX_VALUE, 300);
        cluster.stop("a1");
        cluster.start("a1");
        try (StorageConnection connection = connect("a1")) {
            await().atMost(LIMIT).until(() -> connection.repair().state() == PassState.ENDED);
        }
        assertThat(cluster.made).hasSize(4 * (1 + 2 + 3));
        assertThat(cluster.made.stream().map(key -> lacks.get(key.idLow())))
                .isSortedAccordingTo(Comparator.reverseOrder());
    }

    /** As a put does: another keeps it, and gives it back once there is room. */
    @Test
    void whatItsHomeHasNoRoomForIsKeptByAnother() throws IOException {
        BlockRef like = fourOfSix().getFirst();
        String home = store.homes(new BlockRef(like).setIdLow(like.getIdLow() ^ 1)).get(2).id();
        cluster.stop(home);
        cluster.capacityBytes = 1;
        cluster.start(home);
        awaitAllHeld();
        ChunkKey missing = putAllBut(2);
        repairAll();
        await().atMost(LIMIT).until(() -> cluster.handoffs() == 1);
        assertThat(held(home)).doesNotContain(missing);
        cluster.stop(home);
        cluster.capacityBytes = 0;
        cluster.start(home);
        await().atMost(LIMIT).until(() -> held(home).contains(missing) && cluster.handoffs() == 0);
    }

    /** A region of which one node is full can still let another go. */
    @Test
    void aDrainedNodeEmptiesThoughAHomeIsFull() throws IOException {
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        cluster.stop("a2");
        cluster.capacityBytes = 1;
        cluster.start("a2");
        awaitAllHeld();
        cluster.epochs.change(epoch -> epoch.drain("a1"));
        await().atMost(LIMIT).until(() -> held("a1").isEmpty());
        assertThat(cluster.handoffs()).isPositive();
        cluster.stop("a1");
        readAll();
        cluster.stop("a2");
        cluster.capacityBytes = 0;
        cluster.start("a2");
        await().atMost(LIMIT).until(this::areHome);
    }

    /** Nobody else may hold what is drained: what that waits for is said. */
    @Test
    void aDrainThatWaitsForRoomSaysOfWhichNode() throws IOException {
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        cluster.capacityBytes = 1;
        for (String node : List.of("a2", "a3", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
        awaitAllHeld();
        cluster.epochs.change(epoch -> epoch.drain("a1"));
        RepairProgress end = repairAll().get("a1");
        assertThat(end.toMove()).isEqualTo(held("a1").size()).isPositive();
        assertThat(end.problems())
                .isNotEmpty()
                .allMatch(problem -> problem.matches(".* its home [abc][123] is full"));
    }

    /** Nodes that neither come nor go are looked through once an hour, and whenever asked. */
    @Test
    void whatIsMissingIsMadeOnDemand() throws IOException {
        for (RepairProgress quiet : repairAll().values()) {
            assertThat(quiet.looked()).isEqualTo(quiet.total());
            assertThat(quiet.toMove() + quiet.toRebuild() + quiet.unclear() + quiet.unmade())
                    .as("%s", quiet)
                    .isZero();
        }
        ChunkKey missing = putAllBut(2);
        List<ChunkKey> had = new ArrayList<>();
        for (StorageNode node : cluster.running()) {
            had.addAll(held(node.id()));
        }
        assertThat(had).doesNotContain(missing);
        Map<String, RepairProgress> ends = repairAll();
        assertThat(ends.values().stream().mapToLong(RepairProgress::rebuilt).sum()).isEqualTo(1);
        assertThat(allHeld()).isEqualTo(chunks() + 6);
        for (RepairProgress end : ends.values()) {
            assertThat(end.looked()).isEqualTo(end.total()).isPositive();
            assertThat(end.problems()).isEmpty();
        }
    }

    @Test
    void aNodeThatIsAwayWithinItsGraceIsNamedAndNothingOfItIsMade() throws IOException {
        cluster.repairs = new RepairOptions(3_600_000, Long.MAX_VALUE, 300);
        for (String node : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
        int before = held("c2").size();
        cluster.stop("c2");
        long deferred = 0;
        for (RepairProgress end : repairAll().values()) {
            assertThat(end.rebuilt()).isZero();
            assertThat(end.toRebuild()).isZero();
            for (RepairProgress.Away away : end.away()) {
                assertThat(away.id()).isEqualTo("c2");
                assertThat(away.deadInMs()).isBetween(1L, 3_600_000L);
                deferred += away.chunks();
            }
        }
        assertThat(deferred).isEqualTo(before);
        assertThat(allHeld()).isEqualTo(chunks() - before);
    }

    /** A new node is most welcome when one has died: it must not put the mending off. */
    @Test
    void whatNobodyHoldsIsMadeBeforeAnythingIsMoved() throws IOException {
        restartAll(RepairOptions.NEVER);
        awaitAllHeld(); // what is returned counts as moved
        cluster.stop("c2");
        cluster.start("a3");
        List<FaultPoints.Step> steps = Collections.synchronizedList(new ArrayList<>());
        cluster.faults =
                id ->
                        (step, path) -> {
                            if (step == FaultPoints.Step.CHUNK_KEPT
                                    || step == FaultPoints.Step.MOVE_ENDED) {
                                steps.add(step);
                            }
                        };
        cluster.repairs = new RepairOptions(0, Long.MAX_VALUE, 300);
        cluster.stop("a1");
        cluster.start("a1");
        try (StorageConnection connection = connect("a1")) {
            await().atMost(LIMIT).until(() -> connection.repair().state() == PassState.ENDED);
            RepairProgress end = connection.repair();
            assertThat(end.rebuilt()).isPositive();
            assertThat(end.moved()).isPositive();
            assertThat(end.looked()).isEqualTo(end.total());
            assertThat(end.pass()).isEqualTo(1);
        }
        assertThat(steps.lastIndexOf(FaultPoints.Step.CHUNK_KEPT))
                .isNotNegative()
                .isLessThan(steps.indexOf(FaultPoints.Step.MOVE_ENDED));
        readAll();
    }

    /** A pass that moves much takes hours, and the grace some minutes. */
    @Test
    void whatANodeHadThatDiesWhileAPassMovesChunksIsMadeInThatPass() throws IOException {
        Map<String, List<FaultPoints.Step>> steps = new ConcurrentHashMap<>();
        cluster.faults =
                id ->
                        (step, path) ->
                                steps.computeIfAbsent(id, _ -> new CopyOnWriteArrayList<>())
                                        .add(step);
        restartAll(new RepairOptions(1_000, 15_000, 300));
        awaitAllHeld(); // what is returned counts as moved
        steps.values().forEach(List::clear);
        cluster.start("a3");
        await().atMost(LIMIT).until(() -> steps.get("a1").contains(FaultPoints.Step.MOVE_ENDED));
        long made = made(steps.get("a1"));
        try (StorageConnection connection = connect("a1")) {
            RepairProgress moving = connection.repair();
            cluster.stop("c2");
            await().atMost(LIMIT).until(() -> made(steps.get("a1")) > made);
            RepairProgress now = connection.repair();
            assertThat(now.pass()).isEqualTo(moving.pass());
            assertThat(now.state()).isEqualTo(PassState.RUNNING);
            assertThat(now.looked()).isLessThan(now.total());
        }
    }

    private static long made(List<FaultPoints.Step> steps) {
        return steps.stream().filter(step -> step == FaultPoints.Step.CHUNK_KEPT).count();
    }

    private void restartAll(RepairOptions repairs) throws IOException {
        cluster.repairs = repairs;
        for (String node : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
    }

    /** As one whose disk hangs, or that a firewall keeps from the others and not from ZooKeeper. */
    @Test
    void anAnnouncedNodeThatAnswersNobodyHoldsNothingUpForGood() throws IOException {
        Member announced = announced("c2");
        cluster.stop("c2");
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HostPort address = new HostPort("127.0.0.1", silent.getLocalPort());
            cluster.discovery.register(as(announced, address, announced.attributes()));
            cluster.stop("a1");
            await().atMost(LIMIT).until(() -> allHeld() == chunks());
            readAll();
        }
        cluster.start("c2");
        cluster.start("a1");
        awaitAllHeld();
    }

    /** As one that ends soon after each start. */
    @Test
    void aNodeThatIsStartedAgainAndAgainKeepsNoneFromRepairing() throws Exception {
        Member announced = announced("c2");
        AtomicBoolean ends = new AtomicBoolean();
        Future<?> starting =
                threads.submit(() -> {
                    for (int start = 0; !ends.get(); start++) {
                        Map<String, String> attributes = new HashMap<>(announced.attributes());
                        attributes.put("incarnation", "start " + start);
                        cluster.discovery.update(as(announced, announced.address(), attributes));
                        LockSupport.parkNanos(50_000_000);
                    }
                });
        try {
            cluster.stop("a1");
            await().atMost(Duration.ofSeconds(40)).until(() -> allHeld() == chunks());
        } finally {
            ends.set(true);
            starting.get();
        }
    }

    private static Member as(Member member, HostPort address, Map<String, String> attributes) {
        return new Member(
                member.role(),
                member.id(),
                member.region(),
                member.partition(),
                member.datacenter(),
                address,
                attributes);
    }

    private Member announced(String node) {
        return cluster.discovery.members(Role.STORAGE).stream()
                .filter(member -> member.id().equals(node))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void blocksOfWhichTooLittleIsLeftAreNamed() throws IOException {
        cluster.stop("a1", "b1", "c1");
        long unmade = 0;
        for (RepairProgress end : repairAll().values()) {
            unmade += end.unmade();
            if (end.unmade() > 0) {
                assertThat(end.problems()).anyMatch(problem -> problem.contains("it takes 4"));
            }
        }
        assertThat(unmade).isEqualTo(fourOfSix().size());
    }

    /** Written when there were nodes enough for them, and not to be placed any more. */
    @Test
    void whatHasNowhereToGoStaysAndIsNamed() throws IOException {
        int wide = fourOfSix().size();
        cluster.epochs.change(
                epoch -> epoch.coded(new BlockCode(2, 2), epoch.global()).drain("a1"));
        RepairProgress end = repairAll().get("a1");
        assertThat(end.toMove()).isEqualTo(wide);
        assertThat(end.problems())
                .anyMatch(problem -> problem.contains("RS(4,2) needs 6 storage nodes"));
        assertThat(cluster.node("a1").statistics().misplacedChunks()).isEqualTo(wide);
        assertThat(held("a1")).hasSize(wide);
        cluster.stop("a1");
        long toRebuild = repairAll().values().stream().mapToLong(RepairProgress::toRebuild).sum();
        assertThat(toRebuild).isEqualTo(wide);
        readAll();
        cluster.start("a1");
        cluster.epochs.change(epoch -> epoch.readmit("a1"));
        await().atMost(LIMIT).until(this::areHome);
        for (RepairProgress after : repairAll().values()) {
            assertThat(after.toMove() + after.toRebuild()).as("%s", after).isZero();
        }
    }

    /** As an index does of which a part cannot be read: those of other parts are looked after. */
    @Test
    void aChunkThatTheIndexFailsAtKeepsNoOther() throws IOException {
        AtomicReference<ChunkKey> unread = new AtomicReference<>();
        cluster.faults =
                id ->
                        new FaultPoints() {
                            @Override
                            public void reached(Step step, Path path) {}

                            @Override
                            public void lookingUp(ChunkKey key) {
                                if (id.equals("a1") && key.equals(unread.get())) {
                                    throw new UncheckedIOException(new IOException("index"));
                                }
                            }
                        };
        cluster.stop("a1");
        cluster.start("a1");
        cluster.start("a3");
        await().atMost(LIMIT).until(this::areHome);
        unread.set(held("a1").get(2));
        cluster.epochs.change(epoch -> epoch.drain("a1"));
        await().atMost(LIMIT).until(() -> held("a1").equals(List.of(unread.get())));
        RepairProgress end = repairAll().get("a1");
        assertThat(end.unclear()).isEqualTo(1);
        assertThat(end.looked()).isEqualTo(end.total());
        unread.set(null);
        await().atMost(LIMIT).until(this::areHome);
    }

    /** The others are small, and kept as copies. */
    private List<BlockRef> fourOfSix() {
        return blocks.keySet().stream().filter(ref -> ref.getDataChunks() == 4).toList();
    }
}
