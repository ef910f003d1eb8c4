package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.globalfs.datastore.node.Pace;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.wire.BlockRef;
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

    /** By the same pass: another may be a week away. */
    @Test
    void whatABucketHasThatWasNotListedOnceIsReadAllTheSame() throws IOException {
        Shutdown shutdown = new Shutdown();
        S3Upkeep options = new S3Upkeep(0, PERIOD_MS, 1L << 40, 1L << 40);
        S3Cluster.Owner owner = new S3Cluster.Owner();
        try (S3Cluster s3 = new S3Cluster(folder);
                S3BlockStore store = s3.open("away");
                Buckets buckets = s3.buckets("away");
                Transfers.Threads threads = new Transfers.Threads()) {
            BlockMender mender =
                    new BlockMender(
                            buckets, threads, owner, new Pace(1L << 40, shutdown), ref -> {});
            Map<Path, byte[]> inFirst = new HashMap<>();
            for (int i = 0; i < 8; i++) {
                BlockRef ref = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(10_000, i)));
                owner.inUse.add(ref);
                for (Path object : s3.objects(ref).values()) {
                    if (object.startsWith(s3.bucket(0))) {
                        inFirst.put(object, Files.readAllBytes(object));
                        S3Cluster.flip(object, ObjectFormat.HEADER_BYTES + 3);
                    }
                }
            }
            assertThat(inFirst).hasSize(24);
            try (BucketScrub scrub =
                    new BucketScrub("away", buckets, 0, mender, options, shutdown, 1)) {
                s3.takeAway(0);
                var _ = scrub.turn();
                assertThat(scrub.slowPart()).isLessThan(1);
                s3.bringBack(0);
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> {
                            var _ = scrub.turn();
                            return scrub.slowPart() >= 1;
                        });
            }
            for (Map.Entry<Path, byte[]> each : inFirst.entrySet()) {
                assertThat(Arrays.equals(Files.readAllBytes(each.getKey()), each.getValue()))
                        .as("%s is as it was", each.getKey())
                        .isTrue();
            }
        }
    }

    /** One that is away for good keeps nobody from reading the others. */
    @Test
    void aBucketThatStaysAwayIsNotWaitedForLong() throws IOException {
        Shutdown shutdown = new Shutdown();
        S3Upkeep options = new S3Upkeep(0, PERIOD_MS, 1L << 40, 1L << 40);
        try (S3Cluster s3 = new S3Cluster(folder);
                S3BlockStore store = s3.open("gone");
                Buckets buckets = s3.buckets("gone");
                Transfers.Threads threads = new Transfers.Threads()) {
            BlockMender mender =
                    new BlockMender(
                            buckets,
                            threads,
                            new S3Cluster.Owner(),
                            new Pace(1L << 40, shutdown),
                            ref -> {});
            for (int i = 0; i < 8; i++) {
                var _ = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(1_000, i)));
            }
            s3.takeAway(0);
            try (BucketScrub scrub =
                    new BucketScrub("gone", buckets, 0, mender, options, shutdown, 1)) {
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> {
                            var _ = scrub.turn();
                            return scrub.slowPart() >= 1;
                        });
            } finally {
                s3.bringBack(0);
            }
        }
    }

    private static void put(S3BlockStore store, int bytes) throws IOException {
        for (int i = 0; i < BLOCKS; i++) {
            var _ = store.put(REGION, ByteBuffer.wrap(S3Cluster.bytes(bytes, i)));
        }
    }
}
