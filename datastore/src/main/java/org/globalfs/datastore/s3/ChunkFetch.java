package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.client.FetchedChunk;
import org.globalfs.protocol.RareWarning;
import org.globalfs.protocol.wire.BlockRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gets whole chunks of a block, verified, from their buckets; makes do with those that come. */
final class ChunkFetch {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkFetch.class);

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final long patienceNs;
    private final RareWarning warning = new RareWarning();

    /**
     * @param patienceMs what has not come by then is left out
     */
    ChunkFetch(Buckets buckets, Transfers.Threads threads, long patienceMs) {
        this.buckets = buckets;
        this.threads = threads;
        patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
    }

    /**
     * @param chunks a bit by chunk index
     */
    Fetched run(BlockRef ref, long chunks) throws IOException {
        long deadline = System.nanoTime() + patienceNs;
        long unanswered = chunks;
        List<FetchedChunk> fetched = new ArrayList<>();
        try (Transfers<FetchedChunk> transfers = new Transfers<>(threads)) {
            for (int c = 0; chunks >>> c != 0; c++) {
                int chunk = c;
                Bucket bucket = buckets.ofOrNull(ref, chunk);
                // One that has just failed would hold up others' chunks.
                if ((chunks >>> chunk & 1) == 1 && bucket != null && !bucket.isSuspect()) {
                    transfers.start(chunk, bucket, () -> get(ref, chunk, bucket));
                }
            }
            while (transfers.underWay() > 0) {
                var outcome = transfers.next(deadline);
                if (outcome == null) {
                    break;
                }
                FetchedChunk came = outcome.value();
                BlockStoreException failure = outcome.failure();
                if (came != null) {
                    fetched.add(came);
                }
                if (failure == null || failure.reason() == Reason.LOST) {
                    unanswered &= ~(1L << outcome.tag());
                } else if (warning.isDue(System.nanoTime())) {
                    // Nobody else would say why a cache stays empty.
                    LOG.warn("a chunk of {} does not come: {}", ref, failure.getMessage());
                }
            }
        }
        return new Fetched(fetched, unanswered);
    }

    private FetchedChunk get(BlockRef ref, int chunk, Bucket bucket) throws IOException {
        Piece piece = Piece.of(ref, chunk);
        if (!bucket.wasRead()) {
            // What loading the client and connecting take is not how far away the bucket is.
            bucket.get(buckets.key(piece), new ObjectFormat.Span(0, ObjectFormat.HEADER_BYTES));
        }
        long start = System.nanoTime();
        byte[] bytes = buckets.read(bucket, piece, 0, piece.payloadBytes());
        return new FetchedChunk(
                chunk, buckets.partition(ref, chunk), bytes, System.nanoTime() - start);
    }
}
