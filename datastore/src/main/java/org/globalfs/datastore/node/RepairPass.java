package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.node.RepairSchedule.Outcome;
import org.globalfs.datastore.node.RepairTally.Count;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pass of {@link Repair} over all chunks: a walk that makes anew what nobody holds, and then,
 * if anything here belongs elsewhere, a second one that moves it. What is not where it belongs is
 * there at least, and waits for what is not. Of one thread, but that chunks of different blocks are
 * made anew side by side.
 */
final class RepairPass implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RepairPass.class);
    private static final int BATCH = 128;
    private static final int MOST_LATER = 100_000;
    private static final int ID_TIME_SHIFT = 16;

    /** How often it is looked who is there, at most, while chunks are moved. */
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Scope scope;
    private final SegmentStore store;
    private final String self;
    private final Peers peers;
    private final Shutdown shutdown;
    private final Epoch epoch;

    /** What {@link Peers} last said. */
    private volatile Peers.View view;

    private long viewedNs = System.nanoTime();

    /** Who was dead before the chunks were looked at, for the last time so far or before. */
    private final Set<String> mourned = new HashSet<>();

    private final RepairTally tally;
    private final Map<Integer, Placement> placements = new HashMap<>();
    private final LaterBlocks later;
    private final Pace pace;

    /** Nodes that took no chunk, and why: others are asked instead. */
    private final Map<String, ChunkStatus> refusing = new ConcurrentHashMap<>();

    private final Makers makers = new Makers();

    /** Chunks here that belong elsewhere. */
    private long strays;

    /** What a block is looked at for. */
    private enum Aim {
        /**
         * To make anew what it lacks; of one that can lose more chunks, or is young, that is put
         * off.
         */
        MAKE,
        /** Likewise, but only of one that is young. */
        MAKE_REST,
        /** To make anew what it lacks still. */
        MAKE_LATER,
        /** To move what belongs elsewhere. */
        MOVE
    }

    /** What all passes of a node share. */
    record Scope(
            SegmentStore store,
            String self,
            PlacementEpochs epochs,
            RepairOptions options,
            ChunkSource source,
            Peers peers,
            RepairNews news,
            Shutdown shutdown) {}

    RepairPass(Scope scope, Epoch epoch, Peers.View view, RepairTally tally) {
        this(scope, epoch, view, tally, MOST_LATER);
    }

    /**
     * As {@link #RepairPass(Scope, Epoch, Peers.View, RepairTally)}.
     *
     * @param mostLater how many blocks are put in order, at most
     */
    RepairPass(Scope scope, Epoch epoch, Peers.View view, RepairTally tally, int mostLater) {
        later = new LaterBlocks(mostLater);
        this.scope = scope;
        this.store = scope.store;
        this.self = scope.self;
        this.peers = scope.peers;
        this.shutdown = scope.shutdown;
        this.pace = new Pace(scope.options.bytesPerSecond(), shutdown);
        this.epoch = epoch;
        this.view = view;
        this.tally = tally;
    }

    /** Goes through all chunks; returns what there is to do after this pass. */
    Outcome run() {
        do {
            mourned.addAll(view.dead());
            strays = 0;
            later.clear();
            tally.begin(store.count());
            walk(this::make, this::isToBeginAnew);
            makeLater();
            if (later.drops() && !isToBeginAnew()) {
                // More than could be put in order: none can lose less than those that were.
                tally.begin(store.count() + strays);
                walk(this::makeRest, this::isToBeginAnew);
                makeLater();
            }
            if (strays > 0) {
                walk(this::move, this::isToStay);
            }
        } while (hasMoreDead() && !isOver());
        if (isOver()) {
            tally.end(PassState.WAITING);
            return Outcome.GOES_ON;
        }
        tally.end(PassState.ENDED);
        report();
        return outcome();
    }

    private Outcome outcome() {
        long left = tally.of(Count.TO_MOVE) + tally.of(Count.TO_REBUILD);
        boolean clear = tally.of(Count.UNCLEAR) == 0;
        if (clear && left == tally.of(Count.HOMELESS)) {
            return Outcome.CLEAN;
        }
        boolean inVain = tally.of(Count.MOVED) + tally.of(Count.REBUILT) == 0;
        return inVain && clear && !peers.areSilent() ? Outcome.STUCK : Outcome.GOES_ON;
    }

    /** Through all chunks here, some at a time. */
    private void walk(
            Consumer<List<Map.Entry<ChunkKey, ChunkLocation>>> visit, BooleanSupplier ends) {
        ChunkKey cursor = null;
        while (!ends.getAsBoolean()) {
            List<Map.Entry<ChunkKey, ChunkLocation>> next = store.list(cursor, BATCH);
            if (next.isEmpty()) {
                return;
            }
            cursor = next.getLast().getKey();
            visit.accept(next);
        }
    }

    private void make(List<Map.Entry<ChunkKey, ChunkLocation>> chunks) {
        look(blocks(chunks), Aim.MAKE);
        int found = strays(chunks).size();
        strays += found;
        tally.add(Count.TOTAL, found);
        tally.add(Count.LOOKED, chunks.size());
    }

    private void makeRest(List<Map.Entry<ChunkKey, ChunkLocation>> chunks) {
        look(blocks(chunks), Aim.MAKE_REST);
        tally.add(Count.LOOKED, chunks.size());
    }

    /** Those that can lose more chunks, the fewer the sooner; and young ones. */
    private void makeLater() {
        while (later.size() > 0 && !isToBeginAnew()) {
            var _ = shutdown.await(later.waitNs(BATCH, System.nanoTime()), TimeUnit.NANOSECONDS);
            Map<ChunkKey, ChunkShape> blocks = later.take(BATCH);
            look(blocks, Aim.MAKE_LATER);
            tally.add(Count.LOOKED, blocks.size());
        }
    }

    private void move(List<Map.Entry<ChunkKey, ChunkLocation>> chunks) {
        List<Map.Entry<ChunkKey, ChunkLocation>> leaving = strays(chunks);
        look(blocks(leaving), Aim.MOVE);
        tally.add(Count.LOOKED, leaving.size());
    }

    private static Map<ChunkKey, ChunkShape> blocks(
            List<Map.Entry<ChunkKey, ChunkLocation>> chunks) {
        Map<ChunkKey, ChunkShape> blocks = new LinkedHashMap<>();
        chunks.forEach(
                entry -> blocks.putIfAbsent(block(entry.getKey()), entry.getValue().shape()));
        return blocks;
    }

    /** Those that are to be moved. */
    private List<Map.Entry<ChunkKey, ChunkLocation>> strays(
            List<Map.Entry<ChunkKey, ChunkLocation>> chunks) {
        return chunks.stream()
                .filter(chunk -> {
                    ChunkKey key = chunk.getKey();
                    List<StorageSite> homes = homes(key, chunk.getValue().shape());
                    return homes != null
                            && key.index() < homes.size()
                            && isStray(chunk.getValue(), homes.get(key.index()));
                })
                .toList();
    }

    /** What is kept for its home goes there by HandoffReturn, unless this node empties. */
    private boolean isStray(ChunkLocation here, StorageSite home) {
        boolean stays = home.id().equals(here.home()) && epoch.lists(self);
        return !home.id().equals(self) && !stays;
    }

    private Placement placement(ChunkShape shape) {
        return placements.computeIfAbsent(shape.region(), r -> Placement.of(epoch, r));
    }

    /** Where the chunks of a block belong; null: it is wider than its region. */
    private @Nullable List<StorageSite> homes(ChunkKey block, ChunkShape shape) {
        return placement(shape)
                .homes(block.idHigh(), block.idLow(), shape.dataChunks(), shape.parityChunks());
    }

    /** Another epoch wants chunks elsewhere; or nobody wants anything any more. */
    private boolean isOver() {
        return shutdown.begun() || scope.epochs.newest().number() != epoch.number();
    }

    /**
     * Nothing is moved any more, or not before what a node had is made anew that died meanwhile.
     */
    private boolean isToStay() {
        if (System.nanoTime() - viewedNs >= LOOK_NS) {
            lookAround();
        }
        return isToBeginAnew();
    }

    /** What lacks chunks of two dead nodes comes before what lacks those of one. */
    private boolean isToBeginAnew() {
        return isOver() || hasMoreDead();
    }

    /**
     * Once a pass for each node: what dies again and again does not keep all else from being done.
     */
    private boolean hasMoreDead() {
        return !mourned.containsAll(view.dead());
    }

    private void lookAround() {
        view = peers.look(epoch);
        viewedNs = System.nanoTime();
    }

    private void report() {
        long moved = tally.of(Count.MOVED);
        long rebuilt = tally.of(Count.REBUILT);
        long toMove = tally.of(Count.TO_MOVE);
        long toRebuild = tally.of(Count.TO_REBUILD);
        long unmade = tally.of(Count.UNMADE);
        store.leftToRepair(toMove, toRebuild);
        boolean isNews = scope.news.of(toMove, toRebuild, unmade, System.nanoTime());
        if (moved > 0 || rebuilt > 0 || isNews && toMove + toRebuild > 0) {
            LOG.info(
                    "{}: {} chunks moved to where epoch {} has them, {} made anew; left: {} and {}",
                    self,
                    moved,
                    epoch.number(),
                    rebuilt,
                    toMove,
                    toRebuild);
        }
        if (isNews && unmade > 0) {
            LOG.warn(
                    "{}: {} blocks have too few chunks on nodes that are there: deleted while one was away, or lost",
                    self,
                    unmade);
        }
    }

    private void look(Map<ChunkKey, ChunkShape> blocks, Aim aim) {
        Map<Integer, Map<ChunkKey, ChunkShape>> byRegion = new TreeMap<>();
        blocks.forEach((block, shape) ->
                byRegion.computeIfAbsent(shape.region(), r -> new LinkedHashMap<>())
                        .put(block, shape));
        lookAround(); // who went meanwhile is not asked
        byRegion.forEach((region, theirs) -> {
            Survey survey = Survey.of(theirs, region, self, store, peers);
            List<Runnable> toMake = new ArrayList<>();
            theirs.forEach((block, shape) -> {
                if (!isOver()) {
                    lookOrLeave(block, shape, survey, aim).ifPresent(toMake::add);
                }
            });
            makers.run(toMake);
        });
    }

    /** A block that the index fails at is left, and told of; the others are looked at. */
    private Optional<Runnable> lookOrLeave(
            ChunkKey block, ChunkShape shape, Survey survey, Aim aim) {
        // The first walk has told of it as unclear, most likely.
        Count left = aim == Aim.MOVE ? Count.TO_MOVE : Count.UNCLEAR;
        if (survey.isUnread(block)) {
            tally.left(left, notLookedAt(block) + "the index here cannot be read");
            return Optional.empty();
        }
        try {
            return look(block, shape, survey, aim);
        } catch (RuntimeException e) {
            tally.left(left, notLookedAt(block) + e.getMessage());
            LOG.error("{}: block {} not looked after", self, name(block), e);
            return Optional.empty();
        }
    }

    private static String notLookedAt(ChunkKey block) {
        return "block " + name(block) + " is not looked at: ";
    }

    /** What is to be made anew it leaves to be run. */
    private Optional<Runnable> look(ChunkKey block, ChunkShape shape, Survey survey, Aim aim) {
        List<StorageSite> homes = homes(block, shape);
        if (homes == null) {
            homeless(block, shape, placement(shape), survey);
            return Optional.empty();
        }
        Sighting sighting = new Sighting(block, shape, homes, survey);
        if (aim != Aim.MOVE) {
            return sighting.missing(aim);
        }
        for (int i = 0; i < homes.size(); i++) {
            ChunkLocation here = store.location(key(block, i));
            if (here != null && isStray(here, homes.get(i))) {
                move(key(block, i), here, homes.get(i), sighting);
            }
        }
        return Optional.empty();
    }

    /**
     * A block that is wider than its region by now: what is here stays, and what lacks is not made
     * anew.
     */
    private void homeless(ChunkKey block, ChunkShape shape, Placement placement, Survey survey) {
        if (shape.dataChunks() < 1 || shape.parityChunks() < 1) {
            return; // of no block
        }
        String why = placement.shortage(new BlockCode(shape.dataChunks(), shape.parityChunks()));
        boolean first = false;
        List<ChunkKey> lacking = new ArrayList<>();
        for (int i = 0; i < shape.dataChunks() + shape.parityChunks(); i++) {
            ChunkKey key = key(block, i);
            var holders = survey.holders(key);
            if (holders.isEmpty()) {
                lacking.add(key);
            } else if (lacking.size() == i) {
                first = holders.iterator().next().equals(self);
            }
            if (!epoch.lists(self) && store.location(key) != null) {
                notMoved(key, why);
                tally.add(Count.HOMELESS);
            }
        }
        if (first && survey.isComplete()) {
            lacking.forEach(key -> notRebuilt(key, why));
            tally.add(Count.HOMELESS, lacking.size());
        }
    }

    private void move(ChunkKey key, ChunkLocation here, StorageSite site, Sighting sighting) {
        boolean isLeft = false;
        while (!isLeft && !isToStay()) {
            String to = receiver(key, site, sighting);
            isLeft = to == null || moved(key, here, site.id(), to, sighting);
        }
    }

    /**
     * Its home, or who keeps it for that where this node empties and the home is dead or takes
     * none. Null: nobody now, which was told of.
     */
    private @Nullable String receiver(ChunkKey key, StorageSite site, Sighting sighting) {
        String home = site.id();
        boolean there = peers.isPresent(home);
        ChunkStatus refusal = refusing.get(home);
        if (there && (refusal == null || sighting.survey.holders(key).contains(home))) {
            return home;
        }
        String to = null;
        if (!epoch.lists(self) && (there || view.dead().contains(home))) {
            to = sighting.standIn(site);
        }
        if (to == null) {
            notMoved(key, "its home " + home + " is " + (there ? state(refusal) : "away"));
        }
        return to;
    }

    private static String state(@Nullable ChunkStatus refusal) {
        return refusal == ChunkStatus.NO_SPACE ? "full" : "without a disk that it can write to";
    }

    /** False: the other node takes none at all, and another may. */
    private boolean moved(
            ChunkKey key, ChunkLocation here, String home, String to, Sighting sighting) {
        try {
            String keptFor = to.equals(home) ? "" : home;
            int sent =
                    peers.ask(to, node -> ChunkMove.move(store, node, key, here.shape(), keptFor));
            peers.noteAnswer(to);
            switch (sent) {
                case ChunkMove.NO_SPACE, ChunkMove.DISK_FAILED -> {
                    refuses(
                            to,
                            sent == ChunkMove.NO_SPACE
                                    ? ChunkStatus.NO_SPACE
                                    : ChunkStatus.IO_ERROR);
                    // It was asked whether it has the chunk, and has not, whatever it said before.
                    sighting.survey.lacks(key, to);
                    return false;
                }
                case ChunkMove.REFUSED -> notMoved(key, to + " does not take it");
                case ChunkMove.UNREADABLE -> notMoved(key, "it is damaged here");
                default -> {
                    var _ = pace.spend(sent);
                    sighting.survey.moved(key, self, to);
                    tally.add(Count.MOVED);
                }
            }
        } catch (ChunkMove.StoreFailure e) {
            notMoved(key, "the disk here failed: " + e.getMessage());
            LOG.error("{}: chunk {} not moved to {}", self, key, to, e);
        } catch (UncheckedIOException e) {
            notMoved(key, "the index here failed: " + e.getMessage());
            LOG.error("{}: chunk {} not moved to {}", self, key, to, e);
        } catch (IOException e) {
            // Many that are waited for in vain lie between two times that all are asked.
            peers.noteSilent(to);
            notMoved(key, to + " does not answer: " + e.getMessage());
            LOG.info("{}: chunk {} not moved to {}: {}", self, key, to, e.getMessage());
        }
        return true;
    }

    /** For the rest of this pass. */
    private void refuses(String id, ChunkStatus why) {
        if (refusing.put(id, why) == null) {
            LOG.info("{}: {} is {}: it is given no chunks in this pass", self, id, state(why));
        }
    }

    private void notMoved(ChunkKey key, String why) {
        tally.left(Count.TO_MOVE, "chunk " + key + " is not moved: " + why);
    }

    private void notRebuilt(ChunkKey key, String why) {
        tally.left(Count.TO_REBUILD, "chunk " + key + " is not made anew: " + why);
    }

    /**
     * Returns once it is on disk there, or is not wanted any more.
     *
     * @param keptFor the chunk's home when that is another node, else empty
     * @return false: the node is full, or takes no writes
     */
    private boolean send(ChunkKey key, ChunkShape shape, String to, String keptFor, byte[] bytes)
            throws IOException {
        ChunkStatus status =
                to.equals(self)
                        ? store.keep(key, shape, keptFor.isEmpty() ? null : keptFor, bytes)
                        : peers.ask(
                                to, node -> node.put(key, shape, keptFor, bytes, 0, bytes.length));
        if (status == ChunkStatus.NO_SPACE || status == ChunkStatus.IO_ERROR) {
            refuses(to, status);
            return false;
        }
        if (status != ChunkStatus.OK && status != ChunkStatus.DELETED) {
            throw new IOException(to + " does not take it: " + status);
        }
        var _ = pace.spend(bytes.length);
        return true;
    }

    private long youngForMs(ChunkKey block) {
        long ageMs = System.currentTimeMillis() - (block.idHigh() >>> ID_TIME_SHIFT);
        return Math.clamp(scope.options.quietMs() - ageMs, 0, scope.options.quietMs());
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

        /** What makes the chunks that nobody holds, if that is this node's to do, and now. */
        Optional<Runnable> missing(Aim aim) {
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
            String firstOfAll = first;
            List<Integer> own =
                    missing.stream().filter(i -> self.equals(maker(i, firstOfAll))).toList();
            if (own.isEmpty()) {
                return Optional.empty();
            }
            if (!survey.isComplete()) {
                tally.left(
                        Count.UNCLEAR,
                        "block "
                                + name(block)
                                + ": not known what these hold of it, as they do not answer: "
                                + survey.silent());
            } else if (homes.size() - missing.size() < shape.dataChunks()) {
                tally.left(Count.UNMADE, tooFew(homes.size() - missing.size()));
            } else if (!isPutOff(aim, homes.size() - missing.size() - shape.dataChunks())) {
                return Optional.of(() -> own.forEach(this::rebuild));
            }
            return Optional.empty();
        }

        /**
         * @param spare how many chunks more it can lose
         */
        private boolean isPutOff(Aim aim, int spare) {
            long youngMs = youngForMs(block);
            boolean waits = youngMs > 0 || aim == Aim.MAKE && spare > 0;
            if (aim == Aim.MAKE_LATER || !waits) {
                return false;
            }
            if (aim == Aim.MAKE_REST && later.isFull()) {
                return false; // no further walk would find it, or whoever made room for it
            }
            int before = later.size();
            boolean taken = later.add(block, shape, spare, youngMs, System.nanoTime());
            tally.add(Count.TOTAL, later.size() - before);
            return taken || aim == Aim.MAKE; // another walk finds it, after those that were taken
        }

        /**
         * Who makes a chunk anew: the first holder in its home's region, where it is known who is
         * dead, and where it has to stay; the first of all if that region has none.
         */
        private @Nullable String maker(int index, @Nullable String firstOfAll) {
            int region = homes.get(index).partition();
            for (int i = 0; i < homes.size(); i++) {
                for (String holder : survey.holders(key(block, i))) {
                    if (peers.regionOf(holder) == region) {
                        return holder;
                    }
                }
            }
            return firstOfAll;
        }

        private String tooFew(int there) {
            return "block "
                    + name(block)
                    + ": "
                    + there
                    + " of its chunks are there, and it takes "
                    + shape.dataChunks();
        }

        private void rebuild(int index) {
            StorageSite home = homes.get(index);
            ChunkKey key = key(block, index);
            try {
                byte[] bytes = null;
                while (!isOver()) {
                    String to = keeper(key, home);
                    if (to == null) {
                        return;
                    }
                    if (bytes == null) {
                        bytes = scope.source.chunk(key, shape);
                        store.reached(Step.CHUNK_MADE);
                    }
                    if (send(key, shape, to, to.equals(home.id()) ? "" : home.id(), bytes)) {
                        store.reached(Step.CHUNK_KEPT);
                        survey.note(key, to);
                        tally.add(Count.REBUILT);
                        return;
                    }
                }
            } catch (IOException e) {
                notRebuilt(key, String.valueOf(e.getMessage()));
                LOG.info("{}: chunk {} not made anew: {}", self, key, e.getMessage());
            } catch (RuntimeException e) {
                notRebuilt(key, e.toString());
                LOG.error("{}: chunk {} not made anew", self, key, e); // the others still are
            }
        }

        /**
         * Its home, or who keeps it for that while it is dead or takes none. Null: nobody now,
         * which was told of.
         */
        private @Nullable String keeper(ChunkKey key, StorageSite site) {
            String home = site.id();
            boolean there = peers.isPresent(home);
            if (there && !refusing.containsKey(home)) {
                return home;
            }
            if (!there && !view.dead().contains(home)) {
                tally.deferred(home, peers.graceLeftMs(home)); // it may come back soon
                return null;
            }
            String to = standIn(site);
            if (to == null && isRegionAway(site)) {
                tally.deferred(home, -1); // elsewhere it would be lost with another region
            } else if (to == null) {
                String why = there ? "does not take it: " + refusing.get(home) : "is away";
                notRebuilt(key, "no other node may hold it for " + home + ", which " + why);
            }
            return to;
        }

        private boolean isRegionAway(StorageSite home) {
            return epoch.nodes().stream()
                    .noneMatch(site ->
                            site.partition() == home.partition() && peers.isPresent(site.id()));
        }

        /** How many of its chunks, wherever they belong: a home may take none of them after all. */
        private int holds(String id) {
            int held = 0;
            for (int i = 0; i < homes.size(); i++) {
                held += survey.holders(key(block, i)).contains(id) ? 1 : 0;
            }
            return held;
        }

        /** A node of the home's region. */
        private @Nullable String standIn(StorageSite home) {
            Map<String, Integer> load = new HashMap<>();
            for (int i = 0; i < homes.size(); i++) {
                var holders = survey.holders(key(block, i));
                String owner = homes.get(i).id();
                boolean gets =
                        !holders.isEmpty()
                                && peers.isPresent(owner)
                                && !refusing.containsKey(owner);
                // What is still elsewhere is about to be moved there.
                (gets ? List.of(owner) : holders).forEach(id -> load.merge(id, 1, Integer::sum));
            }
            Placement placement = placements.get(shape.region());
            if (placement == null) {
                return null;
            }
            StorageSite best =
                    placement.standIn(
                            placement.ranking(block.idHigh(), block.idLow()),
                            load,
                            shape.parityChunks(),
                            site ->
                                    site.partition() == home.partition()
                                            && peers.isPresent(site.id())
                                            && !refusing.containsKey(site.id())
                                            && holds(site.id()) < shape.parityChunks());
            return best == null ? null : best.id();
        }
    }

    @Override
    public void close() {
        makers.close();
    }

    private static ChunkKey block(ChunkKey key) {
        return new ChunkKey(key.idHigh(), key.idLow(), 0);
    }

    private static String name(ChunkKey block) {
        return String.format("%016x%016x", block.idHigh(), block.idLow());
    }

    private static ChunkKey key(ChunkKey block, int index) {
        return new ChunkKey(block.idHigh(), block.idLow(), index);
    }
}
