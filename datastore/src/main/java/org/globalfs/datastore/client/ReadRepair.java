package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes chunks that reads found damaged or missing at their homes again, in the background. What
 * does not fit into its queue is left to the next read.
 */
final class ReadRepair implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReadRepair.class);
    private static final int QUEUED = 256;
    private static final int TIMEOUT_MS = 5_000;

    private final DistributedBlockStore store;
    private final String cluster;
    private final NodeDirectory directory;
    private final BlockingQueue<Work> queue = new ArrayBlockingQueue<>(QUEUED);
    private final Set<Work> known = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private volatile @Nullable Thread thread;

    private record Work(BlockRef ref, int chunk) {}

    ReadRepair(DistributedBlockStore store, String cluster, NodeDirectory directory) {
        this.store = store;
        this.cluster = cluster;
        this.directory = directory;
    }

    void offer(BlockRef ref, List<Integer> chunks) {
        for (int chunk : chunks) {
            Work work = new Work(ref, chunk);
            if (!closed && known.add(work) && !queue.offer(work)) {
                known.remove(work);
            }
        }
        if (thread == null) {
            begin();
        }
    }

    private synchronized void begin() {
        if (thread == null && !closed) {
            thread = Thread.ofPlatform().daemon().name("read-repair").start(this::run);
        }
    }

    private void run() {
        while (!closed) {
            Work work;
            try {
                work = queue.take();
            } catch (InterruptedException e) {
                return;
            }
            try {
                repair(work);
            } catch (IOException e) {
                LOG.info("chunk {} of {} not repaired: {}", work.chunk, work.ref, e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("chunk {} of {} not repaired", work.chunk, work.ref, e);
            } finally {
                known.remove(work);
            }
        }
    }

    private void repair(Work work) throws IOException {
        BlockRef ref = work.ref;
        List<StorageSite> homes = store.homes(ref);
        StorageSite home = homes.get(work.chunk);
        ChunkKey key = new ChunkKey(ref.getIdHigh(), ref.getIdLow(), work.chunk);
        byte[] bytes = store.chunk(key, ChunkShape.of(ref));
        try (StorageConnection connection =
                StorageConnection.inBackground(
                        directory.address(home), cluster, home.id(), TIMEOUT_MS)) {
            ChunkStatus status =
                    connection.put(key, ChunkShape.of(ref), "", bytes, 0, bytes.length);
            LOG.info("chunk {} written again to {}: {}", key, home.id(), status);
        }
    }

    @Override
    public void close() {
        closed = true;
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
    }
}
