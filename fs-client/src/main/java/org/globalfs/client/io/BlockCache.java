package org.globalfs.client.io;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Content of blocks, in slices of up to 1 MiB, in memory. Blocks never change, so neither does what
 * is cached. A slice that is being fetched is fetched once, however many want it.
 */
final class BlockCache {

    static final int SLICE_BYTES = 1 << 20;

    private final BlockStore blocks;
    private final Executor executor;
    private final AsyncCache<Slice, ByteBuffer> cache;

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    record Slice(long idHigh, long idLow, int index) {}

    BlockCache(BlockStore blocks, long maxBytes, Executor executor) {
        this.blocks = blocks;
        this.executor = executor;
        this.cache =
                Caffeine.newBuilder()
                        .maximumWeight(maxBytes)
                        .weigher((Slice slice, ByteBuffer content) -> content.remaining() + 128)
                        .executor(executor)
                        .buildAsync();
    }

    /** Keeps a block that was just written. */
    void keep(BlockRef ref, ByteBuffer content) {
        for (int index = 0; index * SLICE_BYTES < ref.getLength(); index++) {
            int start = index * SLICE_BYTES;
            int length = Math.min(SLICE_BYTES, ref.getLength() - start);
            cache.put(
                    slice(ref, index),
                    CompletableFuture.completedFuture(content.slice(start, length)));
        }
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

    /** How often a slice was here or on its way, and was not. */
    void counters(Map<String, Long> into) {
        into.put("blockCacheHits", hits.sum());
        into.put("blockCacheMisses", misses.sum());
    }

    private void fetchRun(
            BlockRef ref, int firstIndex, List<CompletableFuture<ByteBuffer>> slices) {
        executor.execute(() -> {
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
            } catch (IOException | RuntimeException | Error e) {
                // The cache forgets failed futures; whoever waits for them hears why.
                slices.forEach(slice -> slice.completeExceptionally(e));
            }
        });
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
