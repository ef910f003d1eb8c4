package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.junit.jupiter.api.Test;

class LaterBlocksTest {
    private static final long QUIET_MS = 30_000;
    private static final int BATCH = 128;

    private final LaterBlocks later = new LaterBlocks(1_000);

    /** As where their ids are ahead of the node's clock, and they seem young whenever asked. */
    @Test
    void however_many_are_young_they_are_waited_for_once() {
        ChunkShape shape = new ChunkShape(100, 1, 4, 2, 1);
        long nowNs = 5;
        for (int i = 0; i < 1_000; i++) {
            later.add(new ChunkKey(1, i, 0), shape, 1, QUIET_MS, nowNs);
        }
        long waitedNs = 0;
        int taken = 0;
        while (later.size() > 0) {
            long waitNs = Math.max(0, later.waitNs(BATCH, nowNs));
            nowNs += waitNs;
            waitedNs += waitNs;
            taken += later.take(BATCH).size();
        }
        assertThat(taken).isEqualTo(1_000);
        assertThat(waitedNs).isEqualTo(TimeUnit.MILLISECONDS.toNanos(QUIET_MS));
    }

    @Test
    void the_youngest_of_those_that_come_next_is_waited_for() {
        ChunkShape shape = new ChunkShape(100, 1, 4, 2, 1);
        later.add(new ChunkKey(1, 1, 0), shape, 1, 0, 0);
        later.add(new ChunkKey(1, 2, 0), shape, 1, 7, 0);
        later.add(new ChunkKey(1, 3, 0), shape, 1, 9, 0);
        assertThat(later.waitNs(2, 0)).isEqualTo(7_000_000);
        assertThat(later.take(2)).containsOnlyKeys(new ChunkKey(1, 1, 0), new ChunkKey(1, 2, 0));
        assertThat(later.waitNs(2, 10_000_000)).isNegative();
    }

    private void add(LaterBlocks blocks, int id, int spare, boolean taken) {
        ChunkShape shape = new ChunkShape(100, 1, 3, 3, 1);
        assertThat(blocks.add(new ChunkKey(1, id, 0), shape, spare, 0, 0)).isEqualTo(taken);
    }

    private static List<Long> take(LaterBlocks blocks) {
        return blocks.take(BATCH).keySet().stream().map(ChunkKey::idLow).toList();
    }

    @Test
    void those_that_can_lose_fewest_chunks_more_come_first() {
        int[] spares = {2, 1, 0, 2, 0, 1};
        for (int i = 0; i < spares.length; i++) {
            add(later, i, spares[i], true);
        }
        assertThat(take(later)).containsExactly(2L, 4L);
        assertThat(take(later)).containsExactly(1L, 5L);
        add(later, 6, 1, true);
        assertThat(take(later)).containsExactly(6L);
        assertThat(take(later)).containsExactly(0L, 3L);
        assertThat(later.size()).isZero();
        assertThat(later.drops()).isFalse();
    }

    @Test
    void those_that_can_lose_most_make_room() {
        LaterBlocks few = new LaterBlocks(2);
        add(few, 1, 2, true);
        add(few, 2, 1, true);
        assertThat(few.drops()).isFalse();
        add(few, 3, 0, true);
        assertThat(few.drops()).isTrue();
        add(few, 4, 2, false);
        add(few, 5, 1, false);
        assertThat(few.size()).isEqualTo(2);
        assertThat(take(few)).containsExactly(3L);
        assertThat(take(few)).containsExactly(2L);
    }
}
