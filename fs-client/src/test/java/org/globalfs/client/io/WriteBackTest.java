package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Blocks on their way to a store that fails. */
@Timeout(60)
class WriteBackTest {

    private static final IoOptions OPTIONS =
            new IoOptions(
                    0,
                    32 << 20,
                    64 << 20,
                    64 << 20,
                    Duration.ofMinutes(10),
                    Duration.ofNanos(1), // over before the first attempt has failed
                    false);

    private static final long IN_REGION_1 = 1;
    private static final long IN_REGION_2 = 2;

    private final AtomicInteger attempts = new AtomicInteger();
    private volatile int failing;

    private final FakeBlockStore blocks =
            new FakeBlockStore() {
                @Override
                public BlockRef put(int region, ByteBuffer content) throws IOException {
                    if (attempts.getAndIncrement() < failing) {
                        throw new IOException("no storage node answers");
                    }
                    return super.put(region, content);
                }
            };

    /** As when the process was stopped in the middle of the attempt, and goes on. */
    @Test
    void aBlockWhoseTimeIsOverIsTriedOnceMore() throws ExecutionException, InterruptedException {
        failing = 1;
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS)) {
            BlockRef ref = stored(writeBack);
            assertThat(ref.getLength()).isEqualTo(100);
        }
        assertThat(attempts).hasValue(2);
    }

    @Test
    void aBlockThatFindsNoStoreThenEitherIsGivenUp() {
        failing = Integer.MAX_VALUE;
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS)) {
            assertThatThrownBy(() -> stored(writeBack))
                    .cause()
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no storage node answers");
        }
        assertThat(attempts).hasValue(2);
    }

    /** A read that is still under way, or the cache when it drops what it has. */
    @Test
    void whoComesAfterTheEndIsServedAllTheSame() throws ExecutionException, InterruptedException {
        WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS);
        BlockRef ref = stored(writeBack);
        writeBack.close();
        assertThat(stored(writeBack).getLength()).isEqualTo(100);
        assertThat(writeBack.cache().fetch(ref, 0, 100)).allSatisfy(slice -> slice.get());
    }

    /** As when nothing comes through to the storage nodes of region 2, and nothing back. */
    @Test
    void aRegionThatIsSilentHoldsUpNoTransfersOfOthers() throws Exception {
        CountDownLatch answering = new CountDownLatch(1);
        FakeBlockStore silent = silentBut1(answering);
        BlockRef here = silent.put(1, ByteBuffer.allocate(100));
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), silent, OPTIONS);
                Closeable _ = answering::countDown) {
            holdAllPlaces(writeBack);
            for (int i = 0; i < 3; i++) {
                store(writeBack, IN_REGION_1).get(20, TimeUnit.SECONDS);
            }
            for (CompletableFuture<ByteBuffer> slice : writeBack.cache().fetch(here, 0, 100)) {
                slice.get(20, TimeUnit.SECONDS);
            }
        }
    }

    /** Its own work must not wait for a thread that the silent region holds. */
    @Test
    void theCacheStaysWithinItsMemoryWhileARegionIsSilent() throws Exception {
        CountDownLatch answering = new CountDownLatch(1);
        FakeBlockStore silent = silentBut1(answering);
        int cacheBytes = 10_000;
        IoOptions smallCache =
                new IoOptions(
                        0,
                        32 << 20,
                        64 << 20,
                        cacheBytes,
                        Duration.ofMinutes(10),
                        Duration.ofNanos(1),
                        false);
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), silent, smallCache);
                Closeable _ = answering::countDown) {
            holdAllPlaces(writeBack);
            for (int i = 0; i < 40; i++) {
                BlockRef here = silent.put(1, ByteBuffer.allocate(1000));
                for (CompletableFuture<ByteBuffer> slice : writeBack.cache().fetch(here, 0, 1000)) {
                    slice.get(20, TimeUnit.SECONDS);
                }
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> cached(writeBack) <= cacheBytes);
        }
    }

    private static long cached(WriteBack writeBack) {
        Map<String, Long> counters = new HashMap<>();
        writeBack.counters(counters);
        return Objects.requireNonNull(counters.get("blockCacheBytes"));
    }

    @Test
    void theEndWaitsForNoFetchFromARegionThatIsSilent() throws Exception {
        CountDownLatch answering = new CountDownLatch(1);
        try (Closeable _ = answering::countDown) {
            WriteBack writeBack = new WriteBack(new NoReplicas(), silentBut1(answering), OPTIONS);
            holdAllPlaces(writeBack);
            BlockRef there = new BlockRef(0, 5000, 100, 3, (byte) 4, (byte) 2, 1);
            assertThat(writeBack.cache().fetch(there, 0, 100)).hasSize(1);
            CompletableFuture.runAsync(writeBack::close, Thread::startVirtualThread)
                    .get(20, TimeUnit.SECONDS);
        }
    }

    /** The shared ones, by region 2. */
    private static void holdAllPlaces(WriteBack writeBack) {
        for (int i = 0; i < 40; i++) {
            CompletableFuture<BlockRef> _ = store(writeBack, IN_REGION_2);
            BlockRef there = new BlockRef(0, 1000 + i, 100, 2, (byte) 4, (byte) 2, 1);
            assertThat(writeBack.cache().fetch(there, 0, 100)).hasSize(1);
        }
    }

    private static FakeBlockStore silentBut1(CountDownLatch answering) {
        return new FakeBlockStore() {
            @Override
            public BlockRef put(int region, ByteBuffer content) throws IOException {
                awaitUnless(region == 1, answering);
                return super.put(region, content);
            }

            @Override
            public void get(BlockRef ref, int offset, byte[] into, int at, int length)
                    throws IOException {
                awaitUnless(ref.getRegion() == 1, answering);
                super.get(ref, offset, into, at, length);
            }
        };
    }

    private static void awaitUnless(boolean answers, CountDownLatch answering) throws IOException {
        try {
            if (!answers) {
                answering.await();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static BlockRef stored(WriteBack writeBack)
            throws ExecutionException, InterruptedException {
        return store(writeBack, IN_REGION_1).get();
    }

    private static CompletableFuture<BlockRef> store(WriteBack writeBack, long ino) {
        WriteBuffer buffer = new WriteBuffer(100);
        buffer.append(ByteBuffer.allocate(100), 100);
        writeBack.store(ino, buffer);
        return Objects.requireNonNull(buffer.upload());
    }

    /** Nothing is committed. */
    private static final class NoReplicas implements Backing {
        @Override
        public @Nullable ContentMap known(long ino) {
            return null;
        }

        @Override
        public ContentMap fetch(long ino, long offset, long length, Patience patience) {
            throw new AssertionError("nothing is read");
        }

        @Override
        public ContentMap page(long ino, long offset, Patience patience) {
            throw new AssertionError("nothing is read");
        }

        @Override
        public int home(long ino) {
            return ino == IN_REGION_2 ? 2 : 1;
        }

        @Override
        public Answer<UpdateReply> update(
                long ino,
                Credentials credentials,
                UpdateOp op,
                Patience patience,
                Consumer<Attributes> made) {
            throw new AssertionError("nothing is committed");
        }

        @Override
        public void changed(
                long ino, UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer) {}

        @Override
        public void rearranged(long ino) {}

        @Override
        public void lost(long ino) {}
    }
}
