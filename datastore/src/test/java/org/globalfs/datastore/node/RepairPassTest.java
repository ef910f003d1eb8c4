package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.node.RepairSchedule.Outcome;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a pass says of what it left: see {@link RepairSchedule}. */
@Timeout(120)
class RepairPassTest {
    private static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 1, 1, 1);
    private static final ChunkShape WIDE = new ChunkShape(100, 1, 1, 4, 1);
    private static final long NEVER_MS = 1L << 40;

    @TempDir Path folder;
    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    private SegmentStore store;

    private static StorageSite site(String id, HostPort address) {
        return new StorageSite(id, "west", 1, id, address, 1);
    }

    @BeforeEach
    void open() throws IOException {
        epochs.join(site("n", new HostPort("127.0.0.1", 1)));
        epochs.join(site("other", new HostPort("127.0.0.1", 1)));
        store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, true));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    /** Both chunks of a block are here, and one of them belongs to the other node. */
    private void keepAStray() throws IOException {
        for (int i = 0; i < 2; i++) {
            assertThat(store.put(new ChunkKey(1, 1, i), SHAPE, new byte[1_000]))
                    .isEqualTo(ChunkStatus.OK);
        }
    }

    private Outcome pass(RepairTally tally) {
        return pass(tally, NEVER_MS, 0, ChunkSource.NONE, 100);
    }

    private Outcome pass(
            RepairTally tally, long graceMs, long quietMs, ChunkSource source, int mostLater) {
        Peers peers = new Peers("c", "n", 1, discovery, graceMs);
        RepairPass.Scope scope =
                new RepairPass.Scope(
                        store,
                        "n",
                        epochs,
                        new RepairOptions(0, Long.MAX_VALUE, quietMs),
                        source,
                        peers,
                        new RepairNews(),
                        new Shutdown());
        Epoch epoch = epochs.newest();
        try (RepairPass pass = new RepairPass(scope, epoch, peers.look(epoch), tally, mostLater)) {
            return pass.run();
        }
    }

    @Test
    void nothingIsLeftOfNothing() {
        assertThat(pass(new RepairTally(1))).isEqualTo(Outcome.CLEAN);
    }

    @Test
    void aPassThatCouldDoNothingOfWhatIsLeftIsStuck() throws IOException {
        keepAStray();
        RepairTally tally = new RepairTally(1);
        assertThat(pass(tally)).isEqualTo(Outcome.STUCK);
        assertThat(tally.of(RepairTally.Count.TO_MOVE)).isEqualTo(1);
    }

    /** It is taken for dead once it was asked in vain often enough. */
    @Test
    void whereANodeDoesNotAnswerTheNextPassIsSoon() throws IOException {
        keepAStray();
        int closedPort;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closedPort = socket.getLocalPort();
        }
        discovery.register(
                new Member(
                        Role.STORAGE,
                        "other",
                        "west",
                        1,
                        "other",
                        new HostPort("127.0.0.1", closedPort),
                        Map.of()));
        RepairTally tally = new RepairTally(1);
        assertThat(pass(tally)).isEqualTo(Outcome.GOES_ON);
        assertThat(tally.of(RepairTally.Count.TO_MOVE)).isEqualTo(1);
        assertThat(tally.of(RepairTally.Count.UNCLEAR)).isZero();
    }

    /** Of five chunks of each block this node holds the first ones; the others' nodes are dead. */
    private void keepSome(ChunkKey block, int chunks) throws IOException {
        for (int i = 0; i < chunks; i++) {
            ChunkKey key = new ChunkKey(block.idHigh(), block.idLow(), i);
            assertThat(store.put(key, WIDE, new byte[100])).isEqualTo(ChunkStatus.OK);
        }
    }

    private void joinFour() throws IOException {
        for (String id : List.of("a", "b", "c")) {
            epochs.join(site(id, new HostPort("127.0.0.1", 1)));
        }
    }

    private static ChunkKey block(ChunkKey key) {
        return new ChunkKey(key.idHigh(), key.idLow(), 0);
    }

    /** Others' wait ends only once all of them are made, which may take days. */
    @Test
    void blocksThatLackChunksOfASecondNodeComeFirstOnceItDies() throws IOException {
        int blocks = 600;
        joinFour();
        epochs.join(new StorageSite("far", "east", 2, "far", new HostPort("127.0.0.1", 1), 1));
        discovery.register(
                new Member(
                        Role.STORAGE,
                        "far",
                        "east",
                        2,
                        "far",
                        new HostPort("127.0.0.1", 1),
                        Map.of()));
        for (int i = 0; i < blocks; i++) {
            keepSome(new ChunkKey(1, i, 0), 2);
        }
        ChunkKey hit = new ChunkKey(1, blocks - 1, 0);
        Set<ChunkKey> made = Collections.synchronizedSet(new LinkedHashSet<>());
        AtomicBoolean dead = new AtomicBoolean();
        AtomicInteger before = new AtomicInteger();
        ChunkSource source =
                (key, shape) -> {
                    if (dead.compareAndSet(false, true)) {
                        // With it goes what made the last block one that can lose another chunk.
                        assertThat(store.delete(List.of(new ChunkKey(1, blocks - 1, 1))))
                                .isEqualTo(1);
                        discovery.remove(Role.STORAGE, "far");
                    }
                    if (made.add(block(key)) && block(key).equals(hit)) {
                        before.set(made.size());
                    }
                    return new byte[100];
                };
        pass(new RepairTally(1), 0, 0, source, 10_000);
        assertThat(made).hasSize(blocks);
        assertThat(before.get()).as("after those that were begun").isBetween(2, 300);
    }

    @Test
    void noYoungBlockIsLeftOutWhereMoreAreThanCanBePutInOrder() throws IOException {
        joinFour();
        // Ahead of the clock they are young whenever it is asked.
        long young = System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1) << 16;
        Set<ChunkKey> blocks = new HashSet<>();
        for (int chunks = 3; chunks > 0; chunks--) {
            ChunkKey block = new ChunkKey(young, 9 - chunks, 0);
            keepSome(block, chunks);
            blocks.add(block);
        }
        Set<ChunkKey> made = Collections.synchronizedSet(new HashSet<>());
        ChunkSource source =
                (key, shape) -> {
                    made.add(block(key));
                    return new byte[100];
                };
        pass(new RepairTally(1), 0, 50, source, 1);
        assertThat(made).isEqualTo(blocks);
    }
}
