package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that may not open as many files as its storage nodes and caches need. */
class DescriptorsTest {
    private static final ChunkShape SHAPE = new ChunkShape(200_000, 1, 4, 2, 1);
    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir Path folder;
    private final AtomicBoolean usedUp = new AtomicBoolean();

    private final FaultPoints faults =
            new FaultPoints() {
                @Override
                public void reached(Step step, Path path) {}

                @Override
                public void opening(Path path) throws IOException {
                    if (usedUp.get()) {
                        throw new FileSystemException(path.toString(), null, "Too many open files");
                    }
                }
            };

    @Test
    void aStoreThatMayOpenNoMoreFilesHasNotFailed() throws IOException {
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true);
        try (SegmentStore store = SegmentStore.open(folder, options, Disk.of(folder), faults)) {
            byte[] bytes = new byte[200_000];
            List<ChunkKey> there = new ArrayList<>();
            ChunkKey first = new ChunkKey(1, 0, 0);
            assertThat(store.keep(first, SHAPE, null, bytes)).isEqualTo(ChunkStatus.OK);
            usedUp.set(true);
            assertThatThrownBy(
                            () -> {
                                for (int i = 1; i <= SEGMENT_BYTES / bytes.length; i++) {
                                    ChunkKey key = new ChunkKey(1, i, 0);
                                    assertThat(store.keep(key, SHAPE, null, bytes))
                                            .isEqualTo(ChunkStatus.OK);
                                    there.add(key);
                                }
                            })
                    .hasMessageContaining("Too many open files");
            assertThat(there).isNotEmpty();
            assertThat(store.statistics().writable()).isTrue();
            assertThat(there).allMatch(store::has);
            usedUp.set(false);
            assertThat(store.keep(new ChunkKey(2, 0, 0), SHAPE, null, bytes))
                    .isEqualTo(ChunkStatus.OK);
            assertThat(store.delete(there)).isEqualTo(there.size());
        }
    }

    @Test
    void theLimitThatIsNeededIsSaid() {
        long wanted = Descriptors.wanted(1L << 40, SegmentStore.Options.DEFAULT_SEGMENT_BYTES);
        assertThat(wanted).isEqualTo(32_769);
        assertThat(Descriptors.shortage(wanted, 4_096))
                .contains("may have 4096 files open", "ulimit -n 32769", "LimitNOFILE=32769");
        assertThat(Descriptors.shortage(wanted, 65_536)).isNull();
    }

    @Test
    void aCacheNeedsThemTooWhileItRuns() throws IOException {
        long before = Descriptors.wantedByAll(SEGMENT_BYTES);
        CacheOptions options =
                new CacheOptions(
                        "c",
                        "c1",
                        "region1",
                        1,
                        "a",
                        new HostPort("127.0.0.1", 0),
                        "127.0.0.1",
                        folder,
                        1L << 30,
                        DiskReserve.exactly(0),
                        CachePolicyKind.LRU,
                        4,
                        200,
                        1 << 20);
        try (CacheNode _ = CacheNode.start(options, new InMemoryDiscovery(), new NoOrigin())) {
            assertThat(Descriptors.wantedByAll(SEGMENT_BYTES))
                    .isGreaterThanOrEqualTo(before + 2 * (1L << 30) / SEGMENT_BYTES);
        }
        assertThat(Descriptors.wantedByAll(SEGMENT_BYTES)).isEqualTo(before);
    }

    /** Nobody asks the cache for anything. */
    private static final class NoOrigin implements ChunkOrigin {
        @Override
        public List<Integer> regions(BlockRef ref) {
            return List.of();
        }

        @Override
        public Fetched fetch(BlockRef ref, long chunks) throws IOException {
            throw new IOException("there is none");
        }

        @Override
        public void close() {}
    }
}
