package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
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
        Peers peers = new Peers("c", "n", 1, discovery, NEVER_MS);
        RepairPass.Scope scope =
                new RepairPass.Scope(
                        store,
                        "n",
                        epochs,
                        new RepairOptions(0, Long.MAX_VALUE, 0),
                        ChunkSource.NONE,
                        peers,
                        new RepairNews(),
                        new Shutdown());
        Epoch epoch = epochs.newest();
        try (RepairPass pass = new RepairPass(scope, epoch, peers.look(epoch), tally)) {
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
}
