package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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

/** One of a region's nodes has a disk that takes long to read. */
@Timeout(180)
class SlowNodeTest {
    private static final String SLOW = "b1";
    private static final long SLOW_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration DRAIN = Duration.ofMillis(500);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BLOCKS = 30;

    @TempDir Path folder;
    private final Random random = new Random(7);
    private final AtomicInteger asked = new AtomicInteger();
    private final Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
    private volatile boolean slow;
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        cluster.stop(SLOW);
        cluster.faults = id -> disk();
        cluster.start(SLOW);
        store = cluster.client();
        for (int i = 0; i < BLOCKS; i++) {
            byte[] content = new byte[256 << 10];
            random.nextBytes(content);
            blocks.put(store.put(StorageCluster.REGION, ByteBuffer.wrap(content)), content);
        }
    }

    @AfterEach
    void stop() throws IOException {
        slow = false;
        store.close();
        cluster.close();
    }

    private FaultPoints disk() {
        return new FaultPoints() {
            @Override
            public void reached(Step step, Path path) {}

            @Override
            public void reading(Path path, long offset) {
                asked.incrementAndGet();
                if (slow) {
                    LockSupport.parkNanos(SLOW_NS);
                }
            }
        };
    }

    /** How often the node was asked meanwhile. */
    private int readAll() throws IOException {
        int before = asked.get();
        for (Map.Entry<BlockRef, byte[]> block : blocks.entrySet()) {
            byte[] whole = store.get(block.getKey(), 0, block.getValue().length).array();
            assertThat(whole).isEqualTo(block.getValue());
        }
        // One request after the other is answered, that nobody waits for any more.
        AtomicInteger seen = new AtomicInteger(-1);
        await().pollInterval(DRAIN)
                .atMost(LIMIT)
                .until(() -> seen.getAndSet(asked.get()) == asked.get());
        return seen.get() - before;
    }

    private void readUntilAsked(int least, int most) throws IOException {
        int times;
        do {
            times = readAll();
        } while (times < least || times > most);
    }

    @Test
    void isAskedNoMoreThanItTakesToSeeThatItIsQuickAgain() throws IOException {
        readUntilAsked(BLOCKS / 3, Integer.MAX_VALUE); // it has a data chunk of two blocks of three
        slow = true;
        readUntilAsked(0, BLOCKS / 6);
        slow = false;
        readUntilAsked(BLOCKS / 3, Integer.MAX_VALUE);
    }
}
