package org.globalfs.datastore.s3;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Counts the objects that there are of blocks: the first byte of each is read, as a listing has
 * them in another order than blocks come in. Of one thread.
 */
final class ObjectCount {
    private static final ObjectFormat.Span FIRST_BYTE = new ObjectFormat.Span(0, 1);

    /** What is asked for before any answer is waited for: as much as a deadline is enough for. */
    private static final int BATCH = 500;

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final S3BlockStore.Options options;

    /** An object of the block at a place in the list. */
    private record Wanted(int block, String key) {}

    /**
     * What one bucket has.
     *
     * @param objects by block
     * @param silent why it did not say all; null: it did
     */
    private record Part(int[] objects, @Nullable String silent) {}

    ObjectCount(Buckets buckets, Transfers.Threads threads, S3BlockStore.Options options) {
        this.buckets = buckets;
        this.threads = threads;
        this.options = options;
    }

    BlockStore.Census run(List<BlockRef> blocks) throws IOException {
        int[] chunks = new int[blocks.size()];
        List<String> silent = new ArrayList<>();
        for (Part part : parts(blocks)) {
            for (int block = 0; block < chunks.length; block++) {
                chunks[block] += part.objects[block];
            }
            if (part.silent != null) {
                silent.add(part.silent);
            }
        }
        if (blocks.stream().anyMatch(ref -> buckets.ofOrNull(ref, 0) == null)) {
            silent.add("buckets that are not in 'blocks.s3' of the server that looked");
        }
        return new BlockStore.Census(chunks, silent);
    }

    /** All buckets at once: one that is far away is waited for as long as all of them are. */
    private List<Part> parts(List<BlockRef> blocks) throws IOException {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                List<Future<Part>> counts = new ArrayList<>();
                for (Bucket bucket : buckets.all()) {
                    counts.add(each.submit(() -> count(bucket, blocks)));
                }
                List<Part> parts = new ArrayList<>();
                for (Future<Part> count : counts) {
                    parts.add(count.get());
                }
                return parts;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while counting objects");
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException failure ? failure : new IOException(e);
            } finally {
                each.shutdownNow();
            }
        }
    }

    private Part count(Bucket bucket, List<BlockRef> blocks) throws IOException {
        List<Wanted> wanted = new ArrayList<>();
        for (int block = 0; block < blocks.size(); block++) {
            BlockRef ref = blocks.get(block);
            for (int c = 0; c < ref.getDataChunks() + ref.getParityChunks(); c++) {
                if (buckets.ofOrNull(ref, c) == bucket) {
                    wanted.add(new Wanted(block, buckets.key(Piece.of(ref, c))));
                }
            }
        }
        int[] objects = new int[blocks.size()];
        String silent = null;
        for (int from = 0; from < wanted.size() && silent == null; from += BATCH) {
            int to = Math.min(wanted.size(), from + BATCH);
            silent = count(bucket, wanted.subList(from, to), objects);
        }
        return new Part(objects, silent);
    }

    /** Null, or why the bucket did not say all. */
    private @Nullable String count(Bucket bucket, List<Wanted> wanted, int[] objects)
            throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.deadlineMs());
        try (Transfers<Boolean> transfers = new Transfers<>(threads)) {
            for (Wanted each : wanted) {
                transfers.start(each.block, bucket, () -> bucket.get(each.key, FIRST_BYTE) != null);
            }
            while (transfers.underWay() > 0) {
                var outcome = transfers.next(deadline);
                if (outcome == null) {
                    return bucket + " took longer than its deadline";
                }
                Boolean there = outcome.value();
                if (there == null) {
                    BlockStoreException failure = outcome.failure();
                    return String.valueOf(failure == null ? bucket : failure.getMessage());
                }
                objects[outcome.tag()] += there ? 1 : 0;
            }
        }
        return null;
    }
}
