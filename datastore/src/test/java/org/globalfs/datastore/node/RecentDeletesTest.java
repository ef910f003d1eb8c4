package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.datastore.wire.ChunkKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RecentDeletesTest {
    private static final int GENERATION = 64;
    private static final int ADDERS = 2;

    private final CyclicBarrier full = new CyclicBarrier(ADDERS);

    private void awaitOthers() {
        try {
            var _ = full.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }

    /** The second turn would forget what the first one has just kept. */
    @Test
    void thoseWhoFillAGenerationTogetherTurnItOnce() throws Exception {
        RecentDeletes deletes = new RecentDeletes(GENERATION, this::awaitOthers);
        for (int i = 0; i < GENERATION - 1; i++) {
            deletes.add(new ChunkKey(0, i, 0));
        }
        try (ExecutorService adders = Executors.newFixedThreadPool(ADDERS)) {
            List<Future<?>> added = new ArrayList<>();
            for (int adder = 1; adder <= ADDERS; adder++) {
                ChunkKey last = new ChunkKey(adder, 0, 0);
                added.add(adders.submit(() -> deletes.add(last)));
            }
            for (Future<?> each : added) {
                each.get();
            }
        }
        for (int i = 0; i < GENERATION - 1; i++) {
            assertThat(deletes.contains(new ChunkKey(0, i, 0))).isTrue();
        }
        for (int adder = 1; adder <= ADDERS; adder++) {
            assertThat(deletes.contains(new ChunkKey(adder, 0, 0))).isTrue();
        }
    }
}
