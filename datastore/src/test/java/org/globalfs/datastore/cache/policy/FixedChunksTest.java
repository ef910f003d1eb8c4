package org.globalfs.datastore.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FixedChunksTest {
    private static final int CHUNKS = 9;
    private static final int BLOCKS = 10;
    private static final int BYTES = 100;
    private static final ChunkLayout WHOLE = new ChunkLayout(BYTES, 1, List.of(2));
    private static final RegionLatencies LATENCIES = new RegionLatencies(50);

    private static BlockKey key(int i) {
        return new BlockKey(i, ~i);
    }

    /** One chunk, however many are kept of others. */
    @Test
    void aBlockThatIsNotCodedTakesNoMoreRoomThanItHas() {
        FixedChunks policy =
                new FixedChunks(
                        FixedChunks.Choice.LFU,
                        CHUNKS,
                        new RequestMonitor(1 << 10, 40),
                        LATENCIES,
                        (long) BLOCKS * BYTES,
                        1_000);
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(policy.add(key(-1 - i), WHOLE, 1)).isEmpty();
        }
        for (int i = 0; i < BLOCKS; i++) {
            for (int times = 0; times < 5; times++) {
                policy.asked(key(i), WHOLE);
            }
        }
        policy.endPeriod();
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(policy.wanted(key(i), WHOLE)).isEqualTo(1);
            assertThat(policy.add(key(i), WHOLE, 1)).hasSize(1).doesNotContainKey(key(i));
        }
        policy.asked(key(BLOCKS), WHOLE);
        assertThat(policy.wanted(key(BLOCKS), WHOLE)).isZero();
    }
}
