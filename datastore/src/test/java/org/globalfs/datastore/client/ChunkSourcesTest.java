package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a reader makes of the answers of nodes that did not give it a chunk. */
class ChunkSourcesTest {
    private FailureDetector detector;
    private Lane lane;
    private ChunkSources sources;

    @BeforeEach
    void start() throws IOException {
        NodeDirectory directory =
                new NodeDirectory(new InMemoryDiscovery(), new InMemoryPlacementEpochs());
        detector = new FailureDetector("c", directory, () -> {}, 60_000);
        BlockClientContext context =
                new BlockClientContext(
                        directory,
                        detector,
                        new WritableRegions(detector::isSuspect, System::nanoTime),
                        new NewerEpochs("c", directory, detector),
                        site -> 0,
                        BlockClientContext.Options.defaults(),
                        new ReadTimes(),
                        new NodeTimes(System::nanoTime),
                        new RegionCaches("west", directory.caches(), detector, new CacheTimes()));
        lane = new Lane("c", false);
        // Chunks 0 and 1 moved from "old-0" and "old-1" to "new-0" and "new-1", chunk 2 stayed.
        List<StorageSite> homes = sites("new-0", "new-1", "same");
        List<StorageSite> former = sites("old-0", "old-1", "same");
        List<StorageSite> nodes = new ArrayList<>(homes);
        nodes.addAll(former);
        BlockRef ref = new BlockRef(1, 2, 100, 1, (byte) 2, (byte) 1, 0);
        sources = new ChunkSources(context, lane, ref, 50, homes, former, nodes);
    }

    @AfterEach
    void stop() throws IOException {
        lane.close();
        detector.close();
    }

    private static List<StorageSite> sites(String... ids) {
        List<StorageSite> sites = new ArrayList<>();
        for (String id : ids) {
            sites.add(new StorageSite(id, "west", 1, "a", new HostPort("127.0.0.1", 1), 1));
        }
        return sites;
    }

    private static Exchange answer(String node, ChunkStatus status) {
        Exchange exchange = new Exchange(Opcode.GET, node, 0, 1, to -> {}, new byte[0], 0, 0);
        exchange.complete(status, 0);
        return exchange;
    }

    @Test
    void aMovedChunkIsDamagedOnlyOnceItsFormerHomeLacksItToo() {
        assertThat(sources.homeToAsk(0).id()).isEqualTo("new-0");
        assertThat(sources.failed(answer("new-0", ChunkStatus.NOT_FOUND), 0)).isTrue();
        assertThat(sources.homeToAsk(0).id()).isEqualTo("old-0");
        assertThat(sources.homeToAsk(1).id()).isEqualTo("new-1");
        assertThat(sources.damaged()).isEmpty();
        assertThat(sources.failed(answer("old-0", ChunkStatus.CORRUPT), 0)).isFalse();
        assertThat(sources.damaged()).containsExactly(0);
        assertThat(sources.isUnsure()).isFalse();
    }

    @Test
    void aChunkThatDidNotMoveIsDamagedAtOnce() {
        assertThat(sources.failed(answer("same", ChunkStatus.CORRUPT), 2)).isFalse();
        assertThat(sources.failed(answer("same", ChunkStatus.NOT_FOUND), 2)).isFalse();
        assertThat(sources.damaged()).containsExactly(2);
    }

    @Test
    void whoeverLacksAChunkThatIsNotAtHomeThereSaysNothing() {
        assertThat(sources.failed(answer("old-1", ChunkStatus.NOT_FOUND), 0)).isFalse();
        assertThat(sources.damaged()).isEmpty();
        assertThat(sources.isUnsure()).isFalse();
    }

    @Test
    void whoeverDoesNotSayWhatItHasLeavesTheReaderUnsure() {
        assertThat(sources.failed(answer("new-0", ChunkStatus.IO_ERROR), 0)).isFalse();
        assertThat(sources.isUnsure()).isTrue();
        sources.startOver();
        assertThat(sources.isUnsure()).isFalse();
        Exchange silent = new Exchange(Opcode.GET, "new-1", 1, 2, to -> {}, new byte[0], 0, 0);
        silent.fail(new IOException("no way there"));
        assertThat(sources.failed(silent, 1)).isFalse();
        assertThat(sources.isUnsure()).isTrue();
        assertThat(sources.isSuspect(sources.home(1))).isTrue();
        assertThat(sources.damaged()).isEmpty();
    }

    @Test
    void afterAFullRoundTheNewestHomesAreAskedAgain() {
        assertThat(sources.failed(answer("new-0", ChunkStatus.NOT_FOUND), 0)).isTrue();
        sources.startOver();
        assertThat(sources.homeToAsk(0).id()).isEqualTo("new-0");
    }

    @Test
    void aFormerHomeThatIsSuspectIsNotSentTo() {
        detector.unreachable("old-0", "it says nothing");
        assertThat(sources.failed(answer("new-0", ChunkStatus.NOT_FOUND), 0)).isFalse();
        assertThat(sources.damaged()).isEmpty();
    }
}
