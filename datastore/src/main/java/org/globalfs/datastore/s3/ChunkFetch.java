package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.client.FetchedChunk;
import org.globalfs.protocol.RareWarning;
import org.globalfs.protocol.wire.BlockRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets whole chunks of blocks, verified, from their buckets; makes do with those that come. A
 * bucket that is silent keeps one caller at a time waiting. Thread-safe.
 */
final class ChunkFetch {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkFetch.class);

    /** How often is looked whether to go on waiting. */
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final long patienceNs;
    private final RareWarning warning = new RareWarning();
    private final SilentBuckets silent = new SilentBuckets();

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
        Object asker = new Object();
        long since = System.nanoTime();
        Map<Integer, Bucket> asked = new HashMap<>();
        try (Transfers<FetchedChunk> transfers = new Transfers<>(threads)) {
            for (int c = 0; chunks >>> c != 0; c++) {
                int chunk = c;
                Bucket bucket = buckets.ofOrNull(ref, chunk);
                // One that has just failed would hold up others' chunks.
                if ((chunks >>> chunk & 1) == 1
                        && bucket != null
                        && !bucket.isSuspect()
                        && silent.mayAsk(bucket, asker)) {
                    asked.put(chunk, bucket);
                    transfers.start(chunk, bucket, () -> get(ref, chunk, bucket));
                }
            }
            return await(ref, chunks, transfers, asked, asker, since);
        } finally {
            asked.values().forEach(bucket -> silent.done(bucket, asker, since));
        }
    }

    /**
     * @param asked the chunks of buckets that are not done with; those that are go
     */
    private Fetched await(
            BlockRef ref,
            long chunks,
            Transfers<FetchedChunk> transfers,
            Map<Integer, Bucket> asked,
            Object asker,
            long since)
            throws IOException {
        long deadline = since + patienceNs;
        long look = since + SilentBuckets.SILENT_NS;
        long unanswered = chunks;
        Map<Integer, Bucket> awaited = new HashMap<>(asked);
        List<FetchedChunk> fetched = new ArrayList<>();
        while (!awaited.isEmpty()) {
            var outcome = transfers.next(Math.min(look, deadline));
            if (outcome == null) {
                long now = System.nanoTime();
                if (now - deadline >= 0) {
                    break;
                }
                awaited.values().removeIf(bucket -> silent.isInVain(bucket, asker, since));
                look = now + LOOK_NS;
                continue;
            }
            awaited.remove(outcome.tag());
            Bucket bucket = asked.remove(outcome.tag());
            if (bucket != null && !asked.containsValue(bucket)) {
                // Others may ask it again before those that this one waits for have answered.
                silent.done(bucket, asker, since);
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
        if (!awaited.isEmpty() && warning.isDue(System.nanoTime())) {
            LOG.warn("a chunk of {} does not come: its bucket is silent", ref);
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
