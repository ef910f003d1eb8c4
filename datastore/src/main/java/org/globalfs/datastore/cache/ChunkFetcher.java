package org.globalfs.datastore.cache;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.client.FetchedChunk;
import org.globalfs.datastore.node.Pace;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets chunks from where they are kept and writes them into the store, a few blocks at a time. It
 * fetches them itself, rather than being given them by clients: so no client can put anything into
 * the cache that is not in the cluster.
 */
final class ChunkFetcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkFetcher.class);
    private static final int THREADS = 4;
    private static final int MOST_ORDERS = 256;
    private static final long TURN_MS = 200;
    private static final long CLOSE_MS = 5_000;

    private final SegmentStore store;
    private final ChunkOrigin origin;
    private final Pace pace;
    private final Told told;
    private final BlockingQueue<Order> orders = new ArrayBlockingQueue<>(MOST_ORDERS);
    private final Shutdown shutdown = new Shutdown();
    private final List<Thread> threads = new ArrayList<>();
    private final String name;

    /** The store took a chunk no more: none is got for it until it is tried again. */
    private volatile boolean refused;

    /**
     * What is to be got of a block.
     *
     * @param wanted to be kept: a bit by chunk index
     * @param probed only to know how long it takes
     */
    record Order(BlockRef ref, ChunkLayout layout, long wanted, long probed) {}

    /** Told of every order, once it is done. */
    interface Told {
        /**
         * @param kept the indexes of the chunks that are in the store now
         */
        void done(Order order, Fetched fetched, List<Integer> kept);
    }

    ChunkFetcher(
            String name, SegmentStore store, ChunkOrigin origin, long bytesPerSecond, Told told) {
        this.name = name;
        this.store = store;
        this.origin = origin;
        pace = new Pace(bytesPerSecond, shutdown);
        this.told = told;
        for (int i = 0; i < THREADS; i++) {
            threads.add(
                    Thread.ofPlatform().daemon().name(name + "-fetch-" + i).unstarted(this::run));
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /** False: there are too many already. */
    boolean order(Order order) {
        return orders.offer(order);
    }

    /** The store may have room again. */
    void tryAgain() {
        refused = false;
    }

    private void run() {
        try {
            while (!shutdown.begun()) {
                Order order = orders.poll(TURN_MS, TimeUnit.MILLISECONDS);
                if (order != null) {
                    carryOut(order);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void carryOut(Order order) {
        Fetched fetched = Fetched.NOTHING;
        List<Integer> kept = new ArrayList<>();
        try {
            long all = order.probed | (refused ? 0 : order.wanted);
            if (all == 0 || !pace.spend((long) Long.bitCount(all) * order.layout.chunkBytes())) {
                return;
            }
            fetched = origin.fetch(order.ref, all);
            for (FetchedChunk chunk : fetched.chunks()) {
                if ((order.wanted >>> chunk.index() & 1) == 1 && keep(order.ref, chunk)) {
                    kept.add(chunk.index());
                }
            }
        } catch (IOException e) {
            LOG.info("{}: block not cached: {}", name, e.toString());
        } catch (RuntimeException e) {
            LOG.error("{}: block not cached", name, e);
        } finally {
            told.done(order, fetched, kept);
        }
    }

    private boolean keep(BlockRef ref, FetchedChunk chunk) throws IOException {
        boolean kept = false;
        try {
            ChunkStatus status =
                    store.put(
                            new ChunkKey(ref.getIdHigh(), ref.getIdLow(), chunk.index()),
                            ChunkShape.of(ref),
                            chunk.bytes());
            kept = status == ChunkStatus.OK;
            if (!kept) {
                LOG.debug("{}: chunk not cached: {}", name, status);
            }
        } finally {
            if (!kept) {
                refused = true;
            }
        }
        return kept;
    }

    /** Waits for what is under way, which those that are silent make last. */
    @Override
    public void close() {
        shutdown.begin();
        try {
            for (Thread thread : threads) {
                thread.join(CLOSE_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
