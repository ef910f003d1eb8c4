package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
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

    /** A home whose disk is full, say, takes none: so many are sent in vain, and no more. */
    private static final int MOST_REFUSED = 8;

    /** Chunks that stayed are tried again after this. */
    private static final long BACK_OFF_NS = TimeUnit.SECONDS.toNanos(5);

    private static final long AWAY_NS = TimeUnit.SECONDS.toNanos(1);

    /** What became of a chunk that is kept for its home. */
    private enum Outcome {
        /** It is there, or is not kept for it any more. */
        GONE,
        /** The home does not take it. */
        REFUSED,
        UNREADABLE
    }

    private final SegmentStore store;
    private final String cluster;
    private final String node;
    private final Discovery discovery;
    private final PlacementEpochs epochs;
    private final Pace pace;
    private final Map<String, Long> notBefore = new HashMap<>();

    /** Where the last turn was, by home: what stays does not come first each time. */
    private final Map<String, ChunkKey> lastTried = new HashMap<>();

    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;
    private long tickedNs = System.nanoTime();

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

    /** Also while many chunks return: what is written meanwhile needs it. */
    private void tick() {
        tickedNs = System.nanoTime();
        try {
            store.tick();
        } catch (IOException | RuntimeException e) {
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
        try {
            HostPort address = addressOf(home);
            if (address == null) {
                return;
            }
            try (StorageConnection connection =
                    StorageConnection.inBackground(address, cluster, home, TIMEOUT_MS)) {
                returnOn(connection, home, keys);
            }
        } catch (ChunkMove.StoreFailure e) {
            if (store.failures().of(e, System.nanoTime())) {
                LOG.error("{}: the disk failed, chunks are not returned to {}", node, home, e);
            }
            backOff(home, BACK_OFF_NS);
        } catch (IOException e) {
            LOG.debug("{}: home {} not reachable yet: {}", node, home, e.toString());
            backOff(home, AWAY_NS);
        } catch (RuntimeException e) {
            LOG.error("{}: chunks are not returned to {} for now", node, home, e);
            backOff(home, BACK_OFF_NS);
        }
    }

    private void backOff(String home, long ns) {
        notBefore.put(home, System.nanoTime() + ns);
    }

    /**
     * Goes through the chunks once, from behind those of the last turn on. One that stays does not
     * stop the others, unless the home takes none of many.
     */
    private void returnOn(StorageConnection connection, String home, NavigableSet<ChunkKey> keys)
            throws IOException {
        int returned = 0;
        int tried = 0;
        int refusedInARow = 0;
        int all = keys.size();
        try {
            while (tried < all && refusedInARow < MOST_REFUSED && !shutdown.begun()) {
                ChunkKey key = next(home, keys);
                if (key == null) {
                    return;
                }
                tried++;
                if (System.nanoTime() - tickedNs >= TimeUnit.MILLISECONDS.toNanos(PERIOD_MS)) {
                    tick();
                }
                switch (returnOne(connection, home, keys, key)) {
                    case GONE -> {
                        returned++;
                        refusedInARow = 0;
                    }
                    case REFUSED -> refusedInARow++;
                    case UNREADABLE -> {} // the home has said nothing
                }
            }
            if (returned < tried) {
                backOff(home, BACK_OFF_NS);
            }
        } finally {
            if (returned > 0) {
                LOG.info("{}: returned {} chunks to {}", node, returned, home);
            }
        }
    }

    /** In key order, and then from the first again. */
    private @Nullable ChunkKey next(String home, NavigableSet<ChunkKey> keys) {
        ChunkKey last = lastTried.get(home);
        ChunkKey key = last == null ? null : keys.higher(last);
        if (key == null) {
            key = keys.isEmpty() ? null : keys.getFirst();
        }
        if (key != null) {
            lastTried.put(home, key);
        }
        return key;
    }

    private Outcome returnOne(
            StorageConnection connection, String home, NavigableSet<ChunkKey> keys, ChunkKey key)
            throws IOException {
        // Before it is looked for: who puts it meanwhile adds it again.
        keys.remove(key);
        Outcome outcome = Outcome.UNREADABLE;
        try {
            outcome = returnOne(connection, home, key);
        } catch (UncheckedIOException e) {
            LOG.error("{}: chunk {} is not returned to {} for now", node, key, home, e);
        } finally {
            // One that was put again on the way stays, and was in the list no more.
            if (outcome != Outcome.GONE || isKeptFor(home, key)) {
                keys.add(key);
            }
        }
        return outcome;
    }

    private Outcome returnOne(StorageConnection connection, String home, ChunkKey key)
            throws IOException {
        ChunkLocation location = store.location(key);
        if (location == null || !isKeptFor(home, key)) {
            return Outcome.GONE;
        }
        int sent = ChunkMove.move(store, connection, key, location.shape(), "");
        if (sent < 0) {
            return sent == ChunkMove.UNREADABLE ? Outcome.UNREADABLE : Outcome.REFUSED;
        }
        var _ = pace.spend(sent);
        return Outcome.GONE;
    }

    private boolean isKeptFor(String home, ChunkKey key) {
        ChunkLocation location = store.location(key);
        return location != null && home.equals(location.home());
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
