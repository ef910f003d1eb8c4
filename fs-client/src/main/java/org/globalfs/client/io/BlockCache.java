package org.globalfs.client.io;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Content of blocks, in slices of up to 1 MiB, in memory. Blocks never change, so neither does what
 * is cached. A slice that is being fetched is fetched once, however many want it.
 */
final class BlockCache {

    static final int SLICE_BYTES = 1 << 20;

    /** Memory that is not content is not kept, if it is more than such a part of it. */
    private static final int SPARE_PART = 8;

    private final BlockStore blocks;
    private final IntFunction<Executor> fetching;
    private final AsyncCache<Slice, ByteBuffer> cache;

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    record Slice(long idHigh, long idLow, int index) {}

    BlockCache(BlockStore blocks, long maxBytes, Executor executor) {
        this(blocks, maxBytes, executor, _ -> executor);
    }

    /**
     * @param executor for the cache's own work
     * @param fetching for what is fetched, by the region that it is of
     */
    BlockCache(
            BlockStore blocks, long maxBytes, Executor executor, IntFunction<Executor> fetching) {
        this.blocks = blocks;
        this.fetching = fetching;
        this.cache =
                Caffeine.newBuilder()
                        .maximumWeight(maxBytes)
                        .weigher((Slice slice, ByteBuffer content) -> content.remaining() + 128)
                        .removalListener(this::removed)
                        .executor(executor)
                        .buildAsync();
    }

    /** What shares the memory of a slice that was evicted would keep all of it, and goes, too. */
    private void removed(@Nullable Slice slice, @Nullable ByteBuffer content, RemovalCause cause) {
        if (slice == null || content == null || !cause.wasEvicted()) {
            return;
        }
        int apart = memory(content).length / SLICE_BYTES;
        for (int index = slice.index - apart; index <= slice.index + apart; index++) {
            Slice other = new Slice(slice.idHigh, slice.idLow, index);
            CompletableFuture<ByteBuffer> kept = cache.asMap().get(other);
            ByteBuffer beside =
                    kept == null || !kept.state().equals(Future.State.SUCCESS)
                            ? null
                            : kept.resultNow();
            if (beside != null && areOne(memory(beside), memory(content))) {
                cache.asMap().remove(other, kept);
            }
        }
    }

    @SuppressWarnings("ByteBufferBackingArray") // How large it is, and which, is what matters.
    private static byte[] memory(ByteBuffer content) {
        return content.array();
    }

    @SuppressWarnings("ReferenceEquality") // Of the same content there may be two.
    private static boolean areOne(byte[] one, byte[] other) {
        return one == other;
    }

    /** Keeps a block that was just written: the very memory, if it is writable and full. */
    void keep(BlockRef ref, ByteBuffer written) {
        ByteBuffer content = written;
        int used = written.remaining();
        if (!written.hasArray() || memory(written).length - used > used / SPARE_PART) {
            byte[] alone = new byte[used];
            written.get(written.position(), alone);
            content = ByteBuffer.wrap(alone);
        }
        List<CompletableFuture<ByteBuffer>> slices = new ArrayList<>();
        for (int start = 0; start < ref.getLength(); start += SLICE_BYTES) {
            int length = Math.min(SLICE_BYTES, ref.getLength() - start);
            slices.add(CompletableFuture.completedFuture(content.slice(start, length)));
            cache.put(slice(ref, slices.size() - 1), slices.getLast());
        }
        keepAllOrNone(ref, 0, slices);
    }

    /**
     * Sees to it that the slices of the range are here or on their way, and returns them in order.
     */
    List<CompletableFuture<ByteBuffer>> fetch(BlockRef ref, int offset, int length) {
        int first = offset / SLICE_BYTES;
        int last = (offset + length - 1) / SLICE_BYTES;
        List<CompletableFuture<ByteBuffer>> result = new ArrayList<>(last - first + 1);
        List<CompletableFuture<ByteBuffer>> run = new ArrayList<>();
        int runStart = first;
        for (int index = first; index <= last; index++) {
            CompletableFuture<ByteBuffer> fresh = new CompletableFuture<>();
            CompletableFuture<ByteBuffer> known =
                    cache.asMap().putIfAbsent(slice(ref, index), fresh);
            (known == null ? misses : hits).increment();
            result.add(known == null ? fresh : known);
            if (known == null) {
                if (run.isEmpty()) {
                    runStart = index;
                }
                run.add(fresh);
            } else if (!run.isEmpty()) {
                fetchRun(ref, runStart, List.copyOf(run));
                run.clear();
            }
        }
        if (!run.isEmpty()) {
            fetchRun(ref, runStart, run);
        }
        return result;
    }

    /**
     * Makes room for what came while room was being made, which else waits for the next use. To be
     * called from time to time.
     */
    void tidy() {
        cache.synchronous().cleanUp();
    }

    /** How often a slice was here or on its way, and was not; and the memory that all take. */
    void counters(Map<String, Long> into) {
        into.put("blockCacheHits", hits.sum());
        into.put("blockCacheMisses", misses.sum());
        into.put("blockCacheBytes", memoryBytes());
    }

    private long memoryBytes() {
        Set<byte[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
        cache.synchronous().asMap().values().forEach(content -> arrays.add(memory(content)));
        return arrays.stream().mapToLong(array -> array.length).sum();
    }

    private void fetchRun(
            BlockRef ref, int firstIndex, List<CompletableFuture<ByteBuffer>> slices) {
        try {
            fetching.apply(ref.getRegion()).execute(() -> fetchNow(ref, firstIndex, slices));
        } catch (RuntimeException | Error e) {
            slices.forEach(slice -> slice.completeExceptionally(e));
            throw e;
        }
    }

    private void fetchNow(
            BlockRef ref, int firstIndex, List<CompletableFuture<ByteBuffer>> slices) {
        int start = firstIndex * SLICE_BYTES;
        int length = Math.min(slices.size() * SLICE_BYTES, ref.getLength() - start);
        try {
            byte[] content = new byte[length];
            blocks.get(ref, start, content, 0, length);
            for (int i = 0; i < slices.size(); i++) {
                int at = i * SLICE_BYTES;
                int count = Math.min(SLICE_BYTES, length - at);
                slices.get(i).complete(ByteBuffer.wrap(content, at, count).slice());
            }
            keepAllOrNone(ref, firstIndex, slices);
        } catch (IOException | RuntimeException | Error e) {
            // The cache forgets failed futures; whoever waits for them hears why.
            slices.forEach(slice -> slice.completeExceptionally(e));
        }
    }

    /** The first ones may be evicted before the last ones are known to share their memory. */
    private void keepAllOrNone(
            BlockRef ref, int firstIndex, List<CompletableFuture<ByteBuffer>> slices) {
        boolean all = true;
        for (int i = 0; i < slices.size(); i++) {
            all &= cache.asMap().containsKey(slice(ref, firstIndex + i));
        }
        for (int i = 0; !all && i < slices.size(); i++) {
            cache.asMap().remove(slice(ref, firstIndex + i), slices.get(i));
        }
    }

    /** Copies fetched slices of a range to {@code into}. */
    static void copy(
            List<CompletableFuture<ByteBuffer>> slices, int offset, int length, ByteBuffer into)
            throws IOException {
        int at = offset;
        int end = offset + length;
        for (CompletableFuture<ByteBuffer> future : slices) {
            ByteBuffer slice = join(future);
            int start = at % SLICE_BYTES;
            int count = Math.min(slice.remaining() - start, end - at);
            into.put(slice.slice(slice.position() + start, count));
            at += count;
        }
    }

    private static ByteBuffer join(CompletableFuture<ByteBuffer> future) throws IOException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw new IOException(io.getMessage(), io);
            }
            throw new IOException("fetching a block failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while fetching a block", e);
        }
    }

    private static Slice slice(BlockRef ref, int index) {
        return new Slice(ref.getIdHigh(), ref.getIdLow(), index);
    }
}
