package org.globalfs.datastore.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the caches of a region, for a store that has no storage nodes to ask beside them.
 * Thread-safe.
 */
public final class CacheReader implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheReader.class);
    private static final int LANES = 32;
    private static final long UNUSED_LANES_PERIOD_MS = 30_000;

    /** For a lane, when there are very many reads at once: about as long as a cache takes. */
    private static final long LANE_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** So that one that hangs does not keep others from being asked. */
    private static final int PATIENT_LANES = LANES / 2;

    private final LanePool lanes;
    private final Semaphore patient = new Semaphore(PATIENT_LANES, true);
    private final FailureDetector detector;
    private final RegionCaches caches;

    /** For what nobody else has: as long as an operation may well take. */
    private static final long ELSE_NOWHERE_NS = TimeUnit.SECONDS.toNanos(3);

    /**
     * @param region where this process is
     */
    public CacheReader(String cluster, String region, Discovery discovery) {
        CacheDirectory directory = new CacheDirectory(discovery);
        LanePool pool = new LanePool(cluster, LANES, false);
        lanes = pool;
        detector =
                new FailureDetector(cluster, directory, pool::closeUnused, UNUSED_LANES_PERIOD_MS);
        caches = new RegionCaches(region, directory, detector, new CacheTimes());
    }

    /**
     * What the region has of a block's chunks, and tells the cache that the block is read. A cache
     * that fails has nothing; one that takes longer than caches do may have it later. This waits
     * half a second at most, and as long again for a name to be looked up.
     *
     * @param wanted chunks that suffice, if all of them are there: a bit by chunk index
     * @param from the first byte of each chunk that is read
     * @param to the end of those bytes
     * @return those bytes of the chunks that came; to be closed
     * @throws InterruptedIOException the thread is interrupted
     */
    public CacheAnswer read(BlockRef ref, long wanted, int from, int to)
            throws InterruptedIOException {
        if (caches.cacheOf(ref, false) == null) {
            return CacheAnswer.NOTHING;
        }
        try {
            Lane lane = lanes.take(System.nanoTime() + LANE_WAIT_NS);
            CacheRead read = null;
            boolean kept = false;
            try {
                read = CacheRead.start(caches, lane, ref, wanted, from, to, false);
                if (read == null) {
                    return CacheAnswer.NOTHING;
                }
                if (await(read, lane, read.untilNs())) {
                    return new CacheAnswer(columns(read), null);
                }
                read.late();
                kept = mayBePatient(System.nanoTime());
                return kept
                        ? new CacheAnswer(Map.of(), new LateAnswer(this, lane, read))
                        : CacheAnswer.NOTHING;
            } finally {
                if (!kept) {
                    giveBack(lane, read);
                }
            }
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            without(ref, e);
            return CacheAnswer.NOTHING;
        }
    }

    private static void without(BlockRef ref, IOException why) {
        LOG.debug("{} is read without the cache: {}", ref, why.toString());
    }

    /**
     * Waits for an answer that was late, some seconds at most. The lane is this thread's now.
     *
     * @param deadlineNs nor longer than until then
     */
    Map<Integer, byte[]> awaitLate(CacheRead read, Lane lane, long deadlineNs)
            throws InterruptedIOException {
        try {
            return await(read, lane, untilNs(deadlineNs)) ? columns(read) : Map.of();
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            LOG.debug("a late answer of a cache does not come: {}", e.toString());
            return Map.of();
        }
    }

    /** Gives the lane of a late answer back, whether that came or not. */
    void release(CacheRead read, Lane lane) {
        patient.release();
        try {
            giveBack(lane, read);
        } catch (IOException e) {
            LOG.warn("giving a connection to a cache back: {}", e.toString());
        }
    }

    private void giveBack(Lane lane, @Nullable CacheRead read) throws IOException {
        if (read != null) {
            read.giveUp();
        }
        lanes.give(lane);
    }

    private static long untilNs(long deadlineNs) {
        long untilNs = System.nanoTime() + ELSE_NOWHERE_NS;
        return deadlineNs - untilNs < 0 ? deadlineNs : untilNs;
    }

    /**
     * As {@link #read}, of what is to be had nowhere else: asks a cache that is suspect too, and
     * waits for it some seconds. Of these no more than half of the connections are waited on.
     *
     * @param deadlineNs nor longer than until then
     */
    public Map<Integer, byte[]> readPatiently(
            BlockRef ref, long wanted, int from, int to, long deadlineNs)
            throws InterruptedIOException {
        // Those who wait now may wait for a cache that hangs, and this one's may not.
        if (!mayBePatient(deadlineNs)) {
            return Map.of();
        }
        try {
            return readUntil(ref, wanted, from, to, untilNs(deadlineNs));
        } finally {
            patient.release();
        }
    }

    /** In the order of asking; released when the answer is not waited for any more. */
    private boolean mayBePatient(long deadlineNs) throws InterruptedIOException {
        try {
            long leftNs = Math.max(0, deadlineNs - System.nanoTime());
            return patient.tryAcquire(leftNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting to ask a cache");
        }
    }

    private Map<Integer, byte[]> readUntil(
            BlockRef ref, long wanted, int from, int to, long untilNs)
            throws InterruptedIOException {
        if (caches.cacheOf(ref, true) == null) {
            return Map.of();
        }
        try {
            Lane lane = lanes.take(untilNs);
            CacheRead read = null;
            try {
                read = CacheRead.start(caches, lane, ref, wanted, from, to, true);
                if (read == null) {
                    return Map.of();
                }
                boolean came = await(read, lane, untilNs);
                if (!came) {
                    read.late();
                }
                return came ? columns(read) : Map.of();
            } finally {
                giveBack(lane, read);
            }
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            without(ref, e);
            return Map.of();
        }
    }

    /** False: it is late. */
    private static boolean await(CacheRead read, Lane lane, long untilNs) throws IOException {
        while (true) {
            Exchange exchange;
            while ((exchange = lane.poll()) != null) {
                if (read.finished(exchange)) {
                    return true;
                }
            }
            if (System.nanoTime() - untilNs >= 0) {
                return false;
            }
            lane.await(untilNs);
        }
    }

    /** The lane's memory is the next read's. */
    private static Map<Integer, byte[]> columns(CacheRead read) {
        Map<Integer, byte[]> columns = new HashMap<>();
        int at = 0;
        for (int chunk = 0; read.chunks() >>> chunk != 0; chunk++) {
            if ((read.chunks() >>> chunk & 1) == 1) {
                columns.put(chunk, Arrays.copyOfRange(read.bytes(), at, at + read.width()));
                at += read.width();
            }
        }
        return columns;
    }

    @Override
    public void close() {
        detector.close();
        try {
            lanes.close();
        } catch (IOException e) {
            LOG.warn("closing connections to caches: {}", e.toString());
        }
    }
}
