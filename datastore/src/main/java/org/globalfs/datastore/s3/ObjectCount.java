package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.protocol.wire.BlockRef;

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
    private final List<String> silent = new ArrayList<>();

    /** An object of the block at a place in the list. */
    private record Wanted(int block, String key) {}

    ObjectCount(Buckets buckets, Transfers.Threads threads, S3BlockStore.Options options) {
        this.buckets = buckets;
        this.threads = threads;
        this.options = options;
    }

    BlockStore.Census run(List<BlockRef> blocks) throws IOException {
        int[] chunks = new int[blocks.size()];
        boolean allKnown = true;
        for (Bucket bucket : buckets.all()) {
            List<Wanted> wanted = new ArrayList<>();
            for (int block = 0; block < chunks.length; block++) {
                BlockRef ref = blocks.get(block);
                for (int c = 0; c < ref.getDataChunks() + ref.getParityChunks(); c++) {
                    Bucket itsOwn = buckets.ofOrNull(ref, c);
                    allKnown &= itsOwn != null;
                    if (itsOwn == bucket) {
                        wanted.add(new Wanted(block, buckets.key(Piece.of(ref, c))));
                    }
                }
            }
            boolean answers = true;
            for (int from = 0; from < wanted.size() && answers; from += BATCH) {
                int to = Math.min(wanted.size(), from + BATCH);
                answers = count(bucket, wanted.subList(from, to), chunks);
            }
        }
        if (!allKnown) {
            silent.add("buckets that are not in 'blocks.s3' of the server that looked");
        }
        return new BlockStore.Census(chunks, silent);
    }

    /** False: the bucket did not answer. */
    private boolean count(Bucket bucket, List<Wanted> wanted, int[] chunks) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.deadlineMs());
        try (Transfers<Boolean> transfers = new Transfers<>(threads)) {
            for (Wanted each : wanted) {
                transfers.start(each.block, bucket, () -> bucket.get(each.key, FIRST_BYTE) != null);
            }
            while (transfers.underWay() > 0) {
                var outcome = transfers.next(deadline);
                if (outcome == null) {
                    silent.add(bucket + " took longer than its deadline");
                    return false;
                }
                Boolean there = outcome.value();
                if (there == null) {
                    BlockStoreException failure = outcome.failure();
                    silent.add(String.valueOf(failure == null ? bucket : failure.getMessage()));
                    return false;
                }
                chunks[outcome.tag()] += there ? 1 : 0;
            }
        }
        return true;
    }
}
