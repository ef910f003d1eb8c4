package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;

class BlockCacheTest {
    private static final int BLOCK_BYTES = 4 << 20;
    private static final long CACHE_BYTES = 16 << 20;

    private final FakeBlockStore blocks = new FakeBlockStore();
    private final BlockCache cache = new BlockCache(blocks, CACHE_BYTES, Runnable::run);

    private BlockRef block(int bytes) throws IOException {
        return blocks.put(1, ByteBuffer.allocate(bytes));
    }

    private long memoryBytes() {
        return memoryBytes(cache);
    }

    private static long memoryBytes(BlockCache cache) {
        Map<String, Long> counters = new TreeMap<>();
        cache.counters(counters);
        return counters.get("blockCacheBytes");
    }

    private void read(BlockRef block, int offset, int length)
            throws ExecutionException, InterruptedException {
        for (CompletableFuture<ByteBuffer> slice : cache.fetch(block, offset, length)) {
            slice.get();
        }
    }

    /** A slice of each block is wanted much more often than the others. */
    @Test
    void slicesThatStayKeepNoMoreMemoryThanTheCacheMayTake()
            throws IOException, ExecutionException, InterruptedException {
        List<BlockRef> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            BlockRef block = block(BLOCK_BYTES);
            all.add(block);
            read(block, 0, BLOCK_BYTES);
            for (int times = 0; times < 5; times++) {
                for (BlockRef each : all.subList(Math.max(0, i - 10), i + 1)) {
                    read(each, 0, 1);
                }
            }
            assertThat(memoryBytes()).isBetween(1L, CACHE_BYTES);
        }
    }

    @Test
    void whatWasWrittenIsKeptWithoutWhatItDidNotFill()
            throws IOException, ExecutionException, InterruptedException {
        WriteBuffer buffer = new WriteBuffer(0);
        buffer.append(ByteBuffer.allocate(40_000), 40_000);
        buffer.append(ByteBuffer.allocate(1_000), 1_000);
        BlockRef block = block(41_000);
        cache.keep(block, buffer.content());
        assertThat(memoryBytes()).isEqualTo(41_000);
        read(block, 0, 41_000);
        BlockRef part = block(1_000);
        cache.keep(part, buffer.view(500, 1_000));
        read(part, 0, 1_000);
        assertThat(memoryBytes()).isEqualTo(42_000);
        assertThat(blocks.gets).hasValue(0);
    }

    /** Who wants the same slice meanwhile, or later, would wait for ever. */
    @Test
    void aSliceThatNobodyCouldBeginToFetchIsFetchedByTheNextWhoWantsIt()
            throws IOException, ExecutionException, InterruptedException {
        BlockRef block = block(100);
        AtomicBoolean refuses = new AtomicBoolean(true);
        BlockCache busy =
                new BlockCache(
                        blocks,
                        CACHE_BYTES,
                        task -> {
                            if (refuses.get()) {
                                throw new RejectedExecutionException("no thread");
                            }
                            task.run();
                        });
        assertThatThrownBy(() -> busy.fetch(block, 0, 100))
                .isInstanceOf(RejectedExecutionException.class);
        refuses.set(false);
        assertThat(busy.fetch(block, 0, 100)).allMatch(CompletableFuture::isDone);
        assertThat(blocks.gets).hasValue(1);
    }

    /** As when other threads read meanwhile, and nobody afterwards. */
    @Test
    void whatComesWhileRoomIsMadeIsTrimmedWithoutAnotherUse()
            throws IOException, ExecutionException, InterruptedException {
        Deque<BlockRef> meanwhile = new ArrayDeque<>();
        for (int i = 0; i < 8; i++) {
            meanwhile.add(block(BLOCK_BYTES));
        }
        AtomicReference<BlockCache> used = new AtomicReference<>();
        AtomicInteger depth = new AtomicInteger();
        BlockCache beside =
                new BlockCache(
                        blocks,
                        CACHE_BYTES,
                        task -> {
                            while (depth.get() > 0 && !meanwhile.isEmpty()) {
                                BlockRef next = meanwhile.remove();
                                assertThat(used.get().fetch(next, 0, BLOCK_BYTES)).hasSize(4);
                            }
                            depth.incrementAndGet();
                            task.run();
                            depth.decrementAndGet();
                        },
                        _ -> Runnable::run);
        used.set(beside);
        while (!meanwhile.isEmpty()) {
            assertThat(beside.fetch(block(BLOCK_BYTES), 0, BLOCK_BYTES)).hasSize(4);
        }
        assertThat(memoryBytes(beside)).isGreaterThan(CACHE_BYTES);
        beside.tidy();
        assertThat(memoryBytes(beside)).isBetween(1L, CACHE_BYTES);
    }
}
