package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that all chunks of the blocks that this node has a part of exist, and are where the
 * newest placement epoch wants them. It goes through its chunks whenever nodes came or went, and
 * once an hour.
 *
 * <p>A chunk of its own that belongs elsewhere is moved: deleted here once it is on disk there.
 * Chunks that nobody holds are made anew by one node, the first of those that hold the block's
 * first chunk left; for their home, or, while that is dead, for a node that keeps them for it. What
 * lacks most goes first. Two nodes that see different things do some of it twice, which changes
 * nothing: chunks of a block never differ.
 *
 * <p>Invariant: no copy is deleted before another one is on disk.
 */
final class Repair implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Repair.class);
    private static final long TURN_MS = 250;
    private static final long PERIOD_NS = TimeUnit.HOURS.toNanos(1);
    private static final long MOST_QUIET_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CLOSE_MS = 6_000;
    private static final int BATCH = 128;
    private static final int MOST_LATER = 100_000;
    private static final int ID_TIME_SHIFT = 16;

    private final SegmentStore store;
    private final StorageSite site;
    private final String self;
    private final PlacementEpochs epochs;
    private final RepairOptions options;
    private final ChunkSource source;
    private final Peers peers;
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;

    /** What the last pass went by; null: there was none. */
    private Peers.@Nullable View done;

    private Peers.@Nullable View seen;
    private long seenSinceNs;
    private long nextNs;

    Repair(
            SegmentStore store,
            StorageSite site,
            PlacementEpochs epochs,
            RepairOptions options,
            ChunkSource source,
            Peers peers) {
        this.store = store;
        this.site = site;
        this.self = site.id();
        this.epochs = epochs;
        this.options = options;
        this.source = source;
        this.peers = peers;
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + self + "-repair")
                        .unstarted(this::run);
    }

    void start() {
        if (options.bytesPerSecond() > 0) {
            thread.start();
        }
    }

    private void run() {
        long quietNs = Math.min(MOST_QUIET_NS, TimeUnit.MILLISECONDS.toNanos(options.quietMs()));
        seenSinceNs = System.nanoTime();
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            Epoch epoch = joined(epochs.newest());
            Peers.View view = peers.look(epoch);
            long nowNs = System.nanoTime();
            if (!view.equals(seen)) {
                seen = view;
                seenSinceNs = nowNs;
            }
            boolean quiet = nowNs - seenSinceNs >= quietNs;
            if (quiet && (!view.equals(done) || nowNs - nextNs >= 0)) {
                done = view;
                boolean clean = new Pass(epoch, view).run();
                nextNs = System.nanoTime() + (clean ? PERIOD_NS : AGAIN_NS);
                peers.close();
            }
        }
    }

    /** A node that was drained and readmitted, while it ran, takes its place again. */
    private Epoch joined(Epoch epoch) {
        if (epoch.lists(self) || epoch.drained().contains(self)) {
            return epoch;
        }
        try {
            return epochs.join(site);
        } catch (IOException e) {
            LOG.info("{}: not in the newest placement epoch yet: {}", self, e.getMessage());
            return epoch;
        }
    }

    /** One walk over all chunks. */
    private final class Pass {
        private final Epoch epoch;
        private final Peers.View view;
        private final Map<Integer, Placement> placements = new HashMap<>();
        private final Queue<Map.Entry<ChunkKey, ChunkShape>> later = new ArrayDeque<>();
        private long moved;
        private long rebuilt;
        private long toMove;
        private long toRebuild;
        private long incomplete;
        private long unmade;

        Pass(Epoch epoch, Peers.View view) {
            this.epoch = epoch;
            this.view = view;
        }

        /** False: something is left that may be possible later. */
        boolean run() {
            ChunkKey cursor = null;
            while (!isOver()) {
                List<Map.Entry<ChunkKey, SegmentStore.Location>> next = store.list(cursor, BATCH);
                if (next.isEmpty()) {
                    break;
                }
                cursor = next.getLast().getKey();
                Map<ChunkKey, ChunkShape> blocks = new LinkedHashMap<>();
                next.forEach(entry ->
                        blocks.putIfAbsent(block(entry.getKey()), entry.getValue().shape()));
                look(blocks, false);
            }
            while (!later.isEmpty() && !isOver()) {
                Map<ChunkKey, ChunkShape> blocks = new LinkedHashMap<>();
                while (blocks.size() < BATCH && !later.isEmpty()) {
                    Map.Entry<ChunkKey, ChunkShape> entry = later.remove();
                    blocks.put(entry.getKey(), entry.getValue());
                }
                blocks.keySet().stream()
                        .mapToLong(Pass.this::youngForMs)
                        .max()
                        .ifPresent(ms -> shutdown.await(ms, TimeUnit.MILLISECONDS));
                look(blocks, true);
            }
            if (isOver()) {
                return false;
            }
            report();
            return toMove == 0 && toRebuild == 0 && incomplete == 0;
        }

        /** Another epoch wants chunks elsewhere; or nobody wants anything any more. */
        private boolean isOver() {
            return shutdown.begun() || epochs.newest().number() != epoch.number();
        }

        private void report() {
            store.leftToRepair(toMove, toRebuild);
            if (moved > 0 || rebuilt > 0 || toMove > 0 || toRebuild > 0) {
                LOG.info(
                        "{}: {} chunks moved to where epoch {} has them, {} made anew; left: {} and {}",
                        self,
                        moved,
                        epoch.number(),
                        rebuilt,
                        toMove,
                        toRebuild);
            }
            if (unmade > 0) {
                LOG.warn(
                        "{}: {} blocks have too few chunks on nodes that are there: deleted while one was away, or lost",
                        self,
                        unmade);
            }
        }

        private void look(Map<ChunkKey, ChunkShape> blocks, boolean last) {
            Map<Integer, Map<ChunkKey, ChunkShape>> byRegion = new TreeMap<>();
            blocks.forEach((block, shape) ->
                    byRegion.computeIfAbsent(shape.region(), r -> new LinkedHashMap<>())
                            .put(block, shape));
            var _ = peers.look(epoch); // who went meanwhile is not asked
            byRegion.forEach((region, theirs) -> {
                Survey survey = Survey.of(theirs, region, self, store, peers);
                theirs.forEach((block, shape) -> {
                    if (!isOver()) {
                        look(block, shape, survey, last);
                    }
                });
            });
        }

        private void look(ChunkKey block, ChunkShape shape, Survey survey, boolean last) {
            Placement placement =
                    placements.computeIfAbsent(shape.region(), r -> Placement.of(epoch, r));
            List<StorageSite> homes =
                    placement.homes(
                            block.idHigh(),
                            block.idLow(),
                            shape.dataChunks(),
                            shape.parityChunks());
            if (homes == null) {
                return; // nowhere to go: what is here stays
            }
            Sighting sighting = new Sighting(block, shape, homes, survey);
            for (int i = 0; i < homes.size(); i++) {
                String home = homes.get(i).id();
                SegmentStore.Location here = store.location(key(block, i));
                // What is kept for its home goes there by HandoffReturn, unless this node empties.
                boolean stays = here != null && home.equals(here.home()) && epoch.lists(self);
                if (here != null && !home.equals(self) && !stays) {
                    move(key(block, i), here, home, sighting);
                }
            }
            sighting.missing(last);
        }

        private void move(
                ChunkKey key, SegmentStore.Location here, String home, Sighting sighting) {
            boolean empties = !epoch.lists(self) && view.dead().contains(home);
            String to = peers.isPresent(home) ? home : empties ? sighting.standIn() : null;
            if (to == null) {
                toMove++;
                return;
            }
            try {
                String keptFor = to.equals(home) ? "" : home;
                int sent = ChunkMove.move(store, peers.connection(to), key, here.shape(), keptFor);
                if (sent == ChunkMove.REFUSED) {
                    toMove++;
                    return;
                }
                pace(sent);
                sighting.survey.moved(key, self, to);
                moved++;
            } catch (IOException e) {
                toMove++;
                peers.failed(to);
                LOG.info("{}: chunk {} not moved to {}: {}", self, key, to, e.getMessage());
            }
        }

        /**
         * Returns once it is on disk there, or is not wanted any more.
         *
         * @param keptFor the chunk's home when that is another node, else empty
         */
        private void send(ChunkKey key, ChunkShape shape, String to, String keptFor, byte[] bytes)
                throws IOException {
            ChunkStatus status =
                    to.equals(self)
                            ? store.keep(key, shape, keptFor.isEmpty() ? null : keptFor, bytes)
                            : peers.connection(to).put(key, shape, keptFor, bytes, 0, bytes.length);
            if (status != ChunkStatus.OK && status != ChunkStatus.DELETED) {
                throw new IOException(to + " does not take it: " + status);
            }
            pace(bytes.length);
        }

        private void pace(int bytes) {
            var _ =
                    shutdown.await(
                            TimeUnit.SECONDS.toMillis(bytes) / options.bytesPerSecond(),
                            TimeUnit.MILLISECONDS);
        }

        private long youngForMs(ChunkKey block) {
            long ageMs = System.currentTimeMillis() - (block.idHigh() >>> ID_TIME_SHIFT);
            return Math.clamp(options.quietMs() - ageMs, 0, options.quietMs());
        }

        /** A block and what is known of its chunks. */
        private final class Sighting {
            private final ChunkKey block;
            private final ChunkShape shape;
            private final List<StorageSite> homes;
            private final Survey survey;

            Sighting(ChunkKey block, ChunkShape shape, List<StorageSite> homes, Survey survey) {
                this.block = block;
                this.shape = shape;
                this.homes = homes;
                this.survey = survey;
            }

            /** Makes the chunks that nobody holds, if that is this node's to do. */
            void missing(boolean last) {
                List<Integer> missing = new ArrayList<>();
                String first = null;
                for (int i = 0; i < homes.size(); i++) {
                    var holders = survey.holders(key(block, i));
                    if (holders.isEmpty()) {
                        missing.add(i);
                    } else if (first == null) {
                        first = holders.iterator().next();
                    }
                }
                if (missing.isEmpty() || !self.equals(first)) {
                    return;
                }
                if (!survey.isComplete()) {
                    incomplete++;
                } else if (homes.size() - missing.size() < shape.dataChunks()) {
                    unmade++;
                } else if (!last
                        && (missing.size() == 1 || youngForMs(block) > 0)
                        && later.size() < MOST_LATER) {
                    later.add(Map.entry(block, shape));
                } else {
                    missing.forEach(this::rebuild);
                }
            }

            private void rebuild(int index) {
                ChunkKey key = key(block, index);
                String home = homes.get(index).id();
                boolean there = peers.isPresent(home);
                if (!there && !view.dead().contains(home)) {
                    return; // it may come back soon: that is another pass
                }
                String to = there ? home : standIn();
                if (to == null) {
                    toRebuild++;
                    return;
                }
                try {
                    byte[] bytes = source.chunk(key, shape);
                    send(key, shape, to, there ? "" : home, bytes);
                    survey.note(key, to);
                    rebuilt++;
                } catch (IOException e) {
                    toRebuild++;
                    peers.failed(to);
                    LOG.info("{}: chunk {} not made anew: {}", self, key, e.getMessage());
                }
            }

            /** The node that holds fewest of the block's chunks, and not as many as it can lose. */
            private @Nullable String standIn() {
                Map<String, Integer> load = new HashMap<>();
                for (int i = 0; i < homes.size(); i++) {
                    survey.holders(key(block, i)).forEach(id -> load.merge(id, 1, Integer::sum));
                }
                String best = null;
                Placement placement = placements.get(shape.region());
                if (placement == null) {
                    return null;
                }
                for (StorageSite site : placement.ranking(block.idHigh(), block.idLow())) {
                    int held = load.getOrDefault(site.id(), 0);
                    if (peers.isPresent(site.id())
                            && held < shape.parityChunks()
                            && (best == null || held < load.getOrDefault(best, 0))) {
                        best = site.id();
                    }
                }
                return best;
            }
        }
    }

    private static ChunkKey block(ChunkKey key) {
        return new ChunkKey(key.idHigh(), key.idLow(), 0);
    }

    private static ChunkKey key(ChunkKey block, int index) {
        return new ChunkKey(block.idHigh(), block.idLow(), index);
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            // It may wait for other nodes; what comes of that then is nobody's business any more.
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
