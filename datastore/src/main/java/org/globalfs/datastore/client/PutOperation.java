package org.globalfs.datastore.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;

/**
 * Writes the chunks of one block. Each goes to its home; if that is down, slow or full, to a node
 * that stands in, tagged with its home. Ends when every chunk is at its home, or on disk somewhere
 * or without anywhere left to go, if what is on disk survives the loss of any one node, or of as
 * many as it is configured to; and, of a block of all regions, of any one region.
 */
final class PutOperation {
    private static final int GLOBAL = 0;
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final BlockClientContext context;
    private final Lane lane;
    private final long idHigh;
    private final long idLow;
    private final ChunkShape shape;
    private final byte[] chunks;
    private final int chunkBytes;
    private final List<StorageSite> homes;
    private final Placement placement;

    /** Empty: not asked for yet, as for most blocks it never is. */
    private List<StorageSite> ranking = List.of();

    private final long deadlineNs;
    private final int toleratedLosses;

    private final Chunk[] state;
    private final Set<String> fullNodes = new HashSet<>();
    private boolean otherFailureSeen;
    private int round;
    private long retryAtNs;

    enum Outcome {
        WRITTEN,
        /**
         * So few regions take chunks now that one would get more than may be lost: with fewer data
         * chunks the block can be written, with these it can only wait for a region's return.
         */
        TOO_WIDE
    }

    private static final class Chunk {
        final int index;
        final Set<String> tried = new HashSet<>();
        @Nullable Exchange current;
        @Nullable StorageSite target;
        boolean durable;
        boolean stale;

        Chunk(int index) {
            this.index = index;
        }

        /** On disk, or on its way. */
        boolean isPlaced() {
            return durable || current != null;
        }

        boolean isDurable() {
            return durable;
        }
    }

    PutOperation(
            BlockClientContext context,
            Lane lane,
            long idHigh,
            long idLow,
            ChunkShape shape,
            byte[] chunks,
            int chunkBytes,
            List<StorageSite> homes,
            Placement placement,
            long deadlineNs) {
        this.context = context;
        this.lane = lane;
        this.idHigh = idHigh;
        this.idLow = idLow;
        this.shape = shape;
        this.chunks = chunks;
        this.chunkBytes = chunkBytes;
        this.homes = homes;
        this.placement = placement;
        this.deadlineNs = deadlineNs;
        toleratedLosses = Math.min(context.options().toleratedLosses(), shape.parityChunks());
        state = new Chunk[homes.size()];
        for (int i = 0; i < state.length; i++) {
            state[i] = new Chunk(i);
        }
    }

    Outcome run() throws IOException {
        assignAll();
        while (true) {
            Exchange exchange;
            while ((exchange = lane.poll()) != null) {
                finished(exchange);
            }
            long now = System.nanoTime();
            Outcome outcome = settled(now);
            if (outcome != null) {
                return outcome;
            }
            expire(now);
            lane.await(Math.min(nextEvent(now), deadlineNs));
        }
    }

    /** Homes that answer first, so that stand-ins are chosen knowing who holds what. */
    private void assignAll() {
        for (Chunk chunk : state) {
            StorageSite home = homes.get(chunk.index);
            if (idle(chunk)
                    && !context.detector().isSuspect(home.id())
                    && mayHaveMore(home, byRegion(Chunk::isPlaced))) {
                tryAssign(chunk, home);
            }
        }
        for (Chunk chunk : state) {
            if (idle(chunk)) {
                assign(chunk);
            }
        }
    }

    private static boolean idle(Chunk chunk) {
        return !chunk.isPlaced();
    }

    private boolean tryAssign(Chunk chunk, StorageSite target) {
        if (!chunk.tried.add(target.id())) {
            return false;
        }
        send(chunk, target);
        return true;
    }

    private void send(Chunk chunk, StorageSite target) {
        String home = homes.get(chunk.index).id();
        Exchange exchange =
                new Exchange(
                        Opcode.PUT,
                        target.id(),
                        chunk.index,
                        lane.nextRequest(),
                        to -> {
                            new ChunkKey(idHigh, idLow, chunk.index).write(to);
                            shape.write(to);
                            Frame.writeString(to, home.equals(target.id()) ? "" : home);
                        },
                        chunks,
                        chunk.index * chunkBytes,
                        chunkBytes);
        chunk.current = exchange;
        chunk.target = target;
        lane.send(exchange, context.directory().address(target));
    }

    /** Finds the chunk a node: nodes that answer before suspects, little loaded before loaded. */
    private void assign(Chunk chunk) {
        Map<String, Integer> load = count(Chunk::isPlaced, StorageSite::id);
        Map<String, Integer> inRegion = byRegion(Chunk::isPlaced);
        List<StorageSite> order = new ArrayList<>();
        order.add(homes.get(chunk.index));
        order.addAll(ranking());
        for (boolean suspects : new boolean[] {false, true}) {
            if (suspects && isTooWide()) {
                break; // nobody should wait for a region that there is a way without
            }
            StorageSite best =
                    placement.standIn(
                            order,
                            load,
                            shape.parityChunks(),
                            site ->
                                    !chunk.tried.contains(site.id())
                                            && mayHaveMore(site, inRegion)
                                            && context.detector().isSuspect(site.id()) == suspects);
            if (best != null) {
                tryAssign(chunk, best);
                return;
            }
        }
        chunk.target = null;
    }

    /**
     * A region with as many chunks as may be lost gets no more: were it lost, the others would not
     * be the block.
     *
     * @param inRegion {@link #byRegion}
     */
    private boolean mayHaveMore(StorageSite site, Map<String, Integer> inRegion) {
        return inRegion.getOrDefault(site.region(), 0) < shape.parityChunks();
    }

    /** How many such chunks each region has; nothing for a block that is all in one. */
    private Map<String, Integer> byRegion(Predicate<Chunk> which) {
        return shape.region() == GLOBAL ? count(which, StorageSite::region) : Map.of();
    }

    private Map<String, Integer> count(
            Predicate<Chunk> which, Function<StorageSite, String> place) {
        Map<String, Integer> counts = new HashMap<>();
        for (Chunk chunk : state) {
            StorageSite target = chunk.target;
            if (target != null && which.test(chunk)) {
                counts.merge(place.apply(target), 1, Integer::sum);
            }
        }
        return counts;
    }

    /** Fewer data chunks could be written now so that any region may be lost. */
    private boolean isTooWide() {
        if (shape.region() != GLOBAL) {
            return false;
        }
        int most = context.writable().mostDataChunks(placement.nodes(), shape.parityChunks());
        return most > 0 && most < shape.dataChunks();
    }

    private List<StorageSite> ranking() {
        if (ranking.isEmpty()) {
            ranking = placement.ranking(idHigh, idLow);
        }
        return ranking;
    }

    private void finished(Exchange exchange) {
        Chunk chunk = state[exchange.tag];
        if (chunk.current != exchange) {
            return;
        }
        chunk.current = null;
        ChunkStatus status = exchange.status();
        if (status != null) {
            context.detector().answered(exchange.node);
        }
        if (status == ChunkStatus.OK || status == ChunkStatus.DELETED) {
            chunk.durable = true;
            context.writable().took(exchange.node);
            return;
        }
        if (status != null) {
            context.writable().refused(exchange.node);
        }
        StorageSite target = chunk.target;
        if (exchange.failedOnStaleLink() && !chunk.stale && target != null) {
            chunk.stale = true; // the node may have restarted since: once more on a new connection
            send(chunk, target);
            return;
        }
        if (status == ChunkStatus.NO_SPACE) {
            fullNodes.add(exchange.node);
        } else {
            otherFailureSeen = true;
        }
        if (status == null) {
            context.detector().unreachable(exchange.node, String.valueOf(exchange.failure()));
        }
        chunk.target = null;
        assign(chunk);
    }

    private void expire(long now) {
        for (Chunk chunk : state) {
            Exchange current = chunk.current;
            if (current != null && now - current.sentNs >= timeoutNs()) {
                context.detector().slow(current.node, "no answer to a put in time");
                lane.drop(current.node, new SocketTimeoutException("timed out"));
            }
        }
    }

    /** Later rounds are more patient: when everything is slow, giving up early helps nobody. */
    private long timeoutNs() {
        return context.options().requestTimeoutNs() << Math.min(round, 3);
    }

    private long nextEvent(long now) {
        long next = Long.MAX_VALUE;
        for (Chunk chunk : state) {
            Exchange current = chunk.current;
            if (current != null) {
                next = Math.min(next, current.sentNs + timeoutNs() - now);
            }
        }
        if (next == Long.MAX_VALUE) {
            next = retryAtNs - now;
        }
        return now + Math.max(0, next);
    }

    /** Null, when it goes on, with a new round if need be; throws when failed. */
    private @Nullable Outcome settled(long now) throws BlockStoreException {
        int durable = 0;
        int open = 0;
        for (Chunk chunk : state) {
            durable += chunk.durable ? 1 : 0;
            open += chunk.current != null ? 1 : 0;
        }
        if (durable == state.length) {
            if (isAtHome() || survivesEnough()) {
                return Outcome.WRITTEN;
            }
            throw failure(durable);
        }
        boolean late = now - deadlineNs >= 0;
        if (open > 0 && !late) {
            return null;
        }
        if (survivesEnough()) {
            return Outcome.WRITTEN;
        }
        if (!late && isTooWide()) {
            return Outcome.TOO_WIDE;
        }
        if (late || isFull()) {
            throw failure(durable);
        }
        if (retryAtNs == 0) {
            retryAtNs = now + (RETRY_NS << Math.min(round, 4));
        } else if (now - retryAtNs >= 0) {
            retryAtNs = 0;
            nextRound();
        }
        return null;
    }

    private void nextRound() {
        round++;
        fullNodes.clear();
        otherFailureSeen = false;
        for (Chunk chunk : state) {
            chunk.tried.clear();
            chunk.stale = false;
        }
        assignAll();
    }

    /**
     * Nodes are full, and those that failed for another reason would not be enough without them.
     */
    private boolean isFull() {
        if (fullNodes.isEmpty() || !otherFailureSeen) {
            return !fullNodes.isEmpty();
        }
        int possible = (placement.nodes().size() - fullNodes.size()) * shape.parityChunks();
        for (Chunk chunk : state) {
            StorageSite target = chunk.target;
            if (chunk.durable && target != null && fullNodes.contains(target.id())) {
                possible++;
            }
        }
        return possible <= shape.dataChunks();
    }

    private boolean isAtHome() {
        for (Chunk chunk : state) {
            StorageSite target = chunk.target;
            if (target == null || !target.id().equals(homes.get(chunk.index).id())) {
                return false;
            }
        }
        return true;
    }

    /** K chunks on disk are left whichever region is lost, or nodes, so many as may be. */
    private boolean survivesEnough() {
        Map<String, Integer> held = count(Chunk::isDurable, StorageSite::id);
        int durable = held.values().stream().mapToInt(n -> n).sum();
        Map<String, Integer> inRegion = byRegion(Chunk::isDurable);
        if (!inRegion.isEmpty()
                && durable - Collections.max(inRegion.values()) < shape.dataChunks()) {
            return false;
        }
        int most =
                held.values().stream()
                        .sorted(Comparator.reverseOrder())
                        .limit(toleratedLosses)
                        .mapToInt(n -> n)
                        .sum();
        return durable - most >= shape.dataChunks();
    }

    private BlockStoreException failure(int durable) {
        String text =
                durable
                        + " of "
                        + state.length
                        + " chunks could be written, of which the loss of any "
                        + (toleratedLosses == 1 ? "node" : toleratedLosses + " nodes")
                        + (shape.region() == GLOBAL ? ", or of any region," : "")
                        + " must leave "
                        + shape.dataChunks();
        return isFull()
                ? new BlockStoreException(
                        BlockStoreException.Reason.NO_SPACE, "storage nodes are full: " + text)
                : new BlockStoreException(
                        BlockStoreException.Reason.UNREACHABLE,
                        "too few storage nodes answer: " + text);
    }
}
