package org.globalfs.datastore.s3;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.RareWarning;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes blocks of all regions. One is acknowledged when so many of its chunks are in their buckets
 * that any one bucket may be lost. Where one bucket takes no writes it is coded so that the others
 * suffice for that; the chunk that is missing then is made by the buckets' upkeep. Thread-safe.
 */
final class SpreadPut {
    private static final Logger LOG = LoggerFactory.getLogger(SpreadPut.class);

    /** A bucket is waited for at least so long when the others are through. */
    private static final long LEAST_PATIENCE_NS = TimeUnit.SECONDS.toNanos(2);

    /** After that one write tries a bucket again that has taken none. */
    private static final long AWAY_NS = TimeUnit.SECONDS.toNanos(30);

    private static final int NONE = -1;

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final BlockIds ids;
    private final Consumer<BlockRef> takeBack;
    private final AtomicReference<@Nullable Away> away = new AtomicReference<>();
    private final RareWarning warning = new RareWarning();

    /** A bucket that took no writes, and until when it is not tried again. */
    private record Away(int bucket, long untilNs) {}

    /** Not enough was written. */
    private static final class Unwritten extends Exception {
        private static final long serialVersionUID = 1;

        private final BlockStoreException why;

        /** The only bucket that has not taken all; {@link #NONE}: there are more. */
        private final int bucket;

        private Unwritten(BlockStoreException why, int bucket) {
            super(why);
            this.why = why;
            this.bucket = bucket;
        }
    }

    /**
     * @param takeBack has what was written of a block removed that will not be one
     */
    SpreadPut(
            Buckets buckets, Transfers.Threads threads, BlockIds ids, Consumer<BlockRef> takeBack) {
        this.buckets = buckets;
        this.threads = threads;
        this.ids = ids;
        this.takeBack = takeBack;
    }

    BlockRef run(ByteBuffer content, int length, long deadline) throws IOException {
        ReedSolomon code = Spread.code(buckets.size());
        if (code == null) {
            throw new BlockStoreException(
                    Reason.UNPLACEABLE,
                    "content of all regions needs the buckets of at least 2 regions, and the cluster has "
                            + buckets.size()
                            + ": add a region, with its bucket in 'blocks.s3', or work below a"
                            + " directory of a region");
        }
        ReedSolomon withoutOne = Spread.codeWithoutOne(buckets.size());
        int known = knownAway();
        if (known != NONE && withoutOne != null) {
            try {
                return write(withoutOne, known, true, content, length, deadline);
            } catch (Unwritten e) {
                LOG.debug("another bucket takes no writes now", e);
                away.set(null);
            }
        }
        try {
            return runWithAll(code, withoutOne, content, length, deadline);
        } catch (Unwritten e) {
            throw e.why;
        }
    }

    private BlockRef runWithAll(
            ReedSolomon code,
            @Nullable ReedSolomon withoutOne,
            ByteBuffer content,
            int length,
            long deadline)
            throws IOException, Unwritten {
        try {
            BlockRef ref = write(code, NONE, withoutOne != null, content, length, deadline);
            away.set(null);
            return ref;
        } catch (Unwritten e) {
            if (withoutOne == null || e.bucket == NONE) {
                throw e;
            }
            long now = System.nanoTime();
            if (warning.isDue(now)) {
                LOG.warn(
                        "blocks of all regions are written without {} for {} s: {}",
                        buckets.all().get(e.bucket),
                        TimeUnit.NANOSECONDS.toSeconds(AWAY_NS),
                        e.why.getMessage());
            }
            away.set(new Away(e.bucket, now + AWAY_NS));
            return write(withoutOne, e.bucket, false, content, length, deadline);
        }
    }

    /** The bucket to do without, but for one caller now and then, who finds out. */
    private int knownAway() {
        Away last = away.get();
        if (last == null) {
            return NONE;
        }
        long now = System.nanoTime();
        boolean tries =
                now - last.untilNs >= 0
                        && away.compareAndSet(last, new Away(last.bucket, now + AWAY_NS));
        return tries ? NONE : last.bucket;
    }

    /**
     * @param without the bucket that gets nothing; {@link #NONE}
     * @param impatient whether a single other bucket that takes nothing is given up
     */
    private BlockRef write(
            ReedSolomon code,
            int without,
            boolean impatient,
            ByteBuffer content,
            int length,
            long deadline)
            throws IOException, Unwritten {
        BlockIds.Id id = ids.next();
        BlockRef ref =
                new BlockRef(
                        id.high(),
                        id.low(),
                        length,
                        0,
                        (byte) code.dataChunks(),
                        (byte) code.parityChunks(),
                        buckets.size());
        int chunkBytes = code.chunkBytes(length);
        byte[] chunks = new byte[chunkBytes * code.chunks()];
        content.get(content.position(), chunks, 0, length);
        code.encode(chunks, chunkBytes);
        try (Transfers<Boolean> transfers = new Transfers<>(threads)) {
            for (int c = 0; c < code.chunks(); c++) {
                int chunk = c;
                if (bucket(ref, chunk) != without) {
                    Bucket bucket = buckets.of(ref, chunk);
                    Piece piece = Piece.of(ref, chunk);
                    transfers.start(
                            chunk,
                            bucket,
                            () -> buckets.put(bucket, piece, chunks, chunk * chunkBytes));
                }
            }
            awaitEnough(transfers, ref, without, impatient, deadline);
        } catch (IOException | Unwritten e) {
            takeBack.accept(ref);
            throw e;
        }
        return ref;
    }

    private static int bucket(BlockRef ref, int chunk) {
        return Spread.bucket(ref.getIdLow(), chunk, ref.getEpoch());
    }

    /** Until all chunks are there, or so many that any one bucket may be lost all the same. */
    private static void awaitEnough(
            Transfers<Boolean> transfers,
            BlockRef ref,
            int without,
            boolean impatient,
            long deadline)
            throws IOException, Unwritten {
        long began = System.nanoTime();
        Set<Integer> there = new HashSet<>();
        List<BlockStoreException> failures = new ArrayList<>();
        long until = deadline;
        while (transfers.underWay() > 0) {
            var outcome = transfers.next(until);
            if (outcome == null) {
                break;
            }
            if (outcome.failure() == null) {
                there.add(outcome.tag());
            } else {
                failures.add(outcome.failure());
            }
            long now = System.nanoTime();
            if (until == deadline && survivesAnyLoss(ref, there)) {
                until = Math.min(deadline, now + S3BlockStore.LATE_NS);
            } else if (until == deadline && impatient && onlyOneIsSilent(ref, there, without)) {
                until = Math.min(deadline, now + Math.max(LEAST_PATIENCE_NS, now - began));
            }
        }
        if (!survivesAnyLoss(ref, there)) {
            throw new Unwritten(why(there.size(), failures), onlyOneLacking(ref, there, without));
        }
    }

    private static BlockStoreException why(int written, List<BlockStoreException> failures) {
        if (failures.isEmpty()) {
            return new BlockStoreException(
                    Reason.UNREACHABLE,
                    "only " + written + " chunks of a block were written in time");
        }
        BlockStoreException worst = failures.getFirst();
        for (BlockStoreException each : failures) {
            worst = each.reason() == Reason.NO_SPACE ? each : worst;
        }
        return new BlockStoreException(
                worst.reason(),
                "a block of all regions could not be written so that any one may be lost: "
                        + worst.getMessage(),
                worst);
    }

    private static boolean survivesAnyLoss(BlockRef ref, Set<Integer> there) {
        int[] byBucket = new int[ref.getEpoch()];
        for (int chunk : there) {
            byBucket[bucket(ref, chunk)]++;
        }
        int most = Arrays.stream(byBucket).max().orElse(0);
        return there.size() - most >= ref.getDataChunks();
    }

    /** Whether all but one have taken all, and that one nothing: it is not merely slow. */
    private static boolean onlyOneIsSilent(BlockRef ref, Set<Integer> there, int without) {
        int lacking = onlyOneLacking(ref, there, without);
        return lacking != NONE && there.stream().noneMatch(chunk -> bucket(ref, chunk) == lacking);
    }

    private static int onlyOneLacking(BlockRef ref, Set<Integer> there, int without) {
        Set<Integer> lacking = new HashSet<>();
        for (int chunk = 0; chunk < ref.getDataChunks() + ref.getParityChunks(); chunk++) {
            if (!there.contains(chunk)) {
                lacking.add(bucket(ref, chunk));
            }
        }
        lacking.remove(without);
        return lacking.size() == 1 ? lacking.iterator().next() : NONE;
    }
}
