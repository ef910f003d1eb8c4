package org.globalfs.datastore.s3;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.globalfs.datastore.node.Pace;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.S3Upkeep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How fast objects are read that nobody asks to have read. */
@Timeout(120)
final class BucketScrubTest {
    private static final int REGION = 1;
    private static final long PERIOD_MS = 3_000;

    /** More than are read at once. */
    private static final int BLOCKS = 40;

    /** They begin anywhere, and a few might see little of what came meanwhile. */
    private static final int SCRUBS = 4;

    @TempDir Path folder;

    @Test
    void whatGrowsWhileItIsReadIsReadFaster() throws IOException {
        Shutdown shutdown = new Shutdown();
        S3Upkeep options = new S3Upkeep(0, PERIOD_MS, 1L << 40, 1L << 40);
        List<BucketScrub> scrubs = new ArrayList<>();
        try (S3Cluster s3 = new S3Cluster(folder);
                S3BlockStore store = s3.open("growing");
                Buckets buckets = s3.buckets("growing");
                Transfers.Threads threads = new Transfers.Threads()) {
            BlockMender mender =
                    new BlockMender(
                            buckets,
                            threads,
                            new S3Cluster.Owner(),
                            new Pace(1L << 40, shutdown),
                            ref -> {});
            put(store, 1);
            for (int i = 0; i < SCRUBS; i++) {
                BucketScrub scrub =
                        new BucketScrub("growing", buckets, REGION, mender, options, shutdown);
                var _ = scrub.turn();
                scrubs.add(scrub);
            }
            put(store, 300_000);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> {
                        for (BucketScrub scrub : scrubs) {
                            var _ = scrub.turn();
                        }
                        return scrubs.stream().allMatch(scrub -> scrub.slowPart() >= 1);
                    });
        } finally {
            scrubs.forEach(BucketScrub::close);
        }
    }

    private static void put(S3BlockStore store, int bytes) throws IOException {
        for (int i = 0; i < BLOCKS; i++) {
            var _ = store.put(REGION, ByteBuffer.wrap(S3Cluster.bytes(bytes, i)));
        }
    }
}
