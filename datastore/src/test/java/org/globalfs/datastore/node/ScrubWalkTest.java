package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Shutdown;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which chunks a slow scrub reads, whose node never lets it reach their end. */
@Timeout(120)
class ScrubWalkTest {
    private static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 4, 2, 1);
    private static final int BYTES = 1_000;
    private static final int CHUNKS = 200;

    /** So many chunks are of blocks that were made within a few minutes; the others in a year. */
    private static final int AT_ONCE = 180;

    private static final long FIRST_MS = 1_780_000_000_000L;
    private static final long SOON_MS = Duration.ofSeconds(1).toMillis();
    private static final long LATER_MS = Duration.ofDays(18).toMillis();

    /** Each chunk stays unread in all of them with a chance of 1e-12. */
    private static final int STARTS = 40;

    @TempDir Path folder;

    private SegmentStore open() throws IOException {
        return SegmentStore.open(
                folder, new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, true));
    }

    private static ChunkKey key(int i) {
        long timeMs = FIRST_MS + i * SOON_MS + Math.max(0, i - AT_ONCE) * LATER_MS;
        return new ChunkKey(timeMs << 16 | i, i * 0x9e3779b97f4a7c15L, i % 6);
    }

    @Test
    void allIsReadInTheLongRunThoughEachStartEndsEarly() throws IOException {
        Set<ChunkKey> unread = new HashSet<>();
        try (SegmentStore store = open()) {
            for (int i = 0; i < CHUNKS; i++) {
                unread.add(key(i));
                assertThat(store.put(key(i), SHAPE, new byte[BYTES])).isEqualTo(ChunkStatus.OK);
            }
        }
        for (int i = 0; i < STARTS; i++) {
            try (SegmentStore store = open()) {
                read(store, unread);
            }
        }
        assertThat(unread).isEmpty();
    }

    /** A half of all, as until the next start; behind the last chunk comes the first. */
    private static void read(SegmentStore store, Set<ChunkKey> unread) throws IOException {
        long[] leftBytes = {CHUNKS * BYTES / 2};
        ScrubWalk.Reader reader =
                (key, bytes) -> {
                    unread.remove(key);
                    leftBytes[0] -= bytes;
                };
        ScrubWalk walk = ScrubWalk.fromAnywhere(store);
        walk.credit(leftBytes[0]);
        walk.readOn(reader, new Shutdown());
        ScrubWalk next = new ScrubWalk(store, null, null);
        next.credit(leftBytes[0]);
        next.readOn(reader, new Shutdown());
    }
}
