package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings chunks that this node keeps for others to their homes once those are back, and deletes its
 * own copies. Bounded in bandwidth, so that foreground work keeps the disk.
 */
final class HandoffReturn implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HandoffReturn.class);
    private static final long PERIOD_MS = 500;
    private static final int TIMEOUT_MS = 2_000;
    private static final int BATCH = 64;

    /** A home that refused (its disk is full, say) is asked again after this. */
    private static final long BACK_OFF_NS = TimeUnit.SECONDS.toNanos(5);

    private final SegmentStore store;
    private final String cluster;
    private final String node;
    private final Discovery discovery;
    private final PlacementEpochs epochs;
    private final Pace pace;
    private final Map<String, Long> notBefore = new HashMap<>();
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;

    HandoffReturn(
            SegmentStore store,
            String cluster,
            String node,
            Discovery discovery,
            PlacementEpochs epochs,
            long bytesPerSecond) {
        this.epochs = epochs;
        this.store = store;
        this.cluster = cluster;
        this.node = node;
        this.discovery = discovery;
        pace = new Pace(bytesPerSecond, shutdown);
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + node + "-handoff")
                        .unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void tick() {
        try {
            store.tick();
        } catch (IOException e) {
            LOG.error("{}: its housekeeping failed", node, e);
        }
    }

    private void run() {
        while (!shutdown.await(PERIOD_MS, TimeUnit.MILLISECONDS)) {
            tick();
            store.handoffs()
                    .forEach((home, keys) -> {
                        if (!keys.isEmpty() && due(home)) {
                            returnTo(home, keys);
                        }
                    });
        }
    }

    private boolean due(String home) {
        Long time = notBefore.get(home);
        return time == null || System.nanoTime() - time >= 0;
    }

    private void returnTo(String home, NavigableSet<ChunkKey> keys) {
        HostPort address = addressOf(home);
        if (address == null) {
            return;
        }
        int returned = 0;
        try (StorageConnection connection =
                new StorageConnection(address, cluster, home, TIMEOUT_MS)) {
            ChunkKey key;
            while ((key = keys.pollFirst()) != null) {
                boolean done = false;
                try {
                    done = returnOne(connection, home, key);
                } finally {
                    if (!done && store.location(key) != null) {
                        keys.add(key);
                    }
                }
                if (!done) {
                    notBefore.put(home, System.nanoTime() + BACK_OFF_NS);
                    break;
                }
                returned++;
                if (returned % BATCH == 0 && shutdown.begun()) {
                    return;
                }
            }
        } catch (IOException e) {
            LOG.debug("{}: home {} not reachable yet: {}", node, home, e.toString());
            notBefore.put(home, System.nanoTime() + TimeUnit.SECONDS.toNanos(1));
        }
        if (returned > 0) {
            LOG.info("{}: returned {} chunks to {}", node, returned, home);
        }
    }

    private boolean returnOne(StorageConnection connection, String home, ChunkKey key)
            throws IOException {
        ChunkRecord record = store.header(key);
        if (record == null || !home.equals(record.home())) {
            return store.location(key) == null;
        }
        int sent = ChunkMove.move(store, connection, key, record.shape(), "");
        if (sent == ChunkMove.REFUSED) {
            return false;
        }
        var _ = pace.spend(sent);
        return true;
    }

    /** Null: it is away, or is being drained, and {@link Repair} finds the chunks another home. */
    private @Nullable HostPort addressOf(String home) {
        if (!epochs.newest().lists(home)) {
            return null;
        }
        for (Member member : discovery.members(Role.STORAGE)) {
            if (member.id().equals(home)) {
                return member.address();
            }
        }
        return null;
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            thread.join(2L * TIMEOUT_MS + 1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
