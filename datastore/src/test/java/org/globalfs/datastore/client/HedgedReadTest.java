package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.datastore.node.FaultPoints;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client that knows nothing of a node's slowness yet asks others while that node has not answered
 * and is not given up.
 */
@Timeout(180)
class HedgedReadTest {
    private static final String SLOW = "b1";
    private static final int DATA_CHUNKS = 4;

    /** Less than a node is waited for. */
    private static final long SLOW_NS = TimeUnit.MILLISECONDS.toNanos(700);

    private static final int MOST_READS = 30;
    private static final int NOT_YET = -1;

    @TempDir Path folder;
    private final AtomicInteger begun = new AtomicInteger();

    /** Reads begun by when the slow one went on; {@link #NOT_YET} as long as that has not been. */
    private final AtomicInteger begunMeanwhile = new AtomicInteger(NOT_YET);

    private final AtomicInteger slowReads = new AtomicInteger();
    private volatile boolean slow;
    private StorageCluster cluster;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        cluster.faults = this::disk;
        for (String node : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            cluster.stop(node);
            cluster.start(node);
        }
    }

    @AfterEach
    void stop() throws IOException {
        slow = false;
        cluster.close();
    }

    private FaultPoints disk(String node) {
        return new FaultPoints() {
            @Override
            public void reached(Step step, Path path) {}

            @Override
            public void reading(Path path, long offset) {
                begun.incrementAndGet();
                if (slow && node.equals(SLOW)) {
                    slowReads.incrementAndGet();
                    LockSupport.parkNanos(SLOW_NS);
                    begunMeanwhile.compareAndSet(NOT_YET, begun.get());
                }
            }
        };
    }

    @Test
    void othersAreAskedBeforeTheSlowNodeAnswers() throws IOException {
        byte[] content = new byte[256 << 10];
        new Random(3).nextBytes(content);
        int most = 0;
        // Where this machine stands still for so long, the next one shows it.
        for (int i = 0; i < MOST_READS && most <= DATA_CHUNKS; i++) {
            BlockRef ref;
            try (DistributedBlockStore store = cluster.client()) {
                ref = store.put(StorageCluster.REGION, ByteBuffer.wrap(content));
            }
            most = Math.max(most, begunBesideSlowRead(ref, content));
        }
        assertThat(most).isGreaterThan(DATA_CHUNKS);
    }

    private int begunBesideSlowRead(BlockRef ref, byte[] content) throws IOException {
        begun.set(0);
        begunMeanwhile.set(NOT_YET);
        slowReads.set(0);
        slow = true;
        try (DistributedBlockStore store = cluster.client()) {
            assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
        }
        slow = false;
        if (slowReads.get() > 0) {
            await().until(() -> begunMeanwhile.get() != NOT_YET);
        }
        return begunMeanwhile.get();
    }
}
