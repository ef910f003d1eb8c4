package org.globalfs.datastore.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Which nodes a block's chunks are asked for, and what their answers told: the homes, newest and
 * former ones, and all others. Not thread-safe: the reader's. A chunk counts as damaged only once
 * every home of it has answered that it has no whole one.
 */
final class ChunkSources {
    private final BlockClientContext context;
    private final Lane lane;
    private final BlockRef ref;
    private final int chunkBytes;
    private final List<StorageSite> homes;
    private final List<StorageSite> formerHomes;
    private final List<StorageSite> nodes;
    private final List<Integer> damaged = new ArrayList<>();
    private final List<Exchange> fetched = new ArrayList<>();

    /** By chunk: not at its home, which it may not have been moved to yet. */
    private final boolean[] homeLacks;

    /** By chunk: some node is to look at what it has of it. */
    private final boolean[] checked;

    private boolean unsure;

    /**
     * @param homes by chunk
     * @param formerHomes likewise, where the block was written
     * @param nodes all that may keep chunks of it
     */
    ChunkSources(
            BlockClientContext context,
            Lane lane,
            BlockRef ref,
            int chunkBytes,
            List<StorageSite> homes,
            List<StorageSite> formerHomes,
            List<StorageSite> nodes) {
        this.context = context;
        this.lane = lane;
        this.ref = ref;
        this.chunkBytes = chunkBytes;
        this.homes = homes;
        this.formerHomes = formerHomes;
        this.nodes = nodes;
        homeLacks = new boolean[homes.size()];
        checked = new boolean[homes.size()];
    }

    StorageSite home(int chunk) {
        return homes.get(chunk);
    }

    StorageSite formerHome(int chunk) {
        return formerHomes.get(chunk);
    }

    /** The home that is to be asked: the former one, once the newest has said that it lacks it. */
    StorageSite homeToAsk(int chunk) {
        return homeLacks[chunk] ? formerHomes.get(chunk) : homes.get(chunk);
    }

    /** All nodes that may keep chunks of the block. */
    List<StorageSite> nodes() {
        return nodes;
    }

    boolean isSuspect(StorageSite site) {
        return context.detector().isSuspect(site.id());
    }

    ChunkKey key(int chunk) {
        return new ChunkKey(ref.getIdHigh(), ref.getIdLow(), chunk);
    }

    /**
     * Asks a node for a range of a chunk.
     *
     * @param tag what the reader knows the exchange by
     * @param from of the chunk
     */
    Exchange fetch(
            int tag, StorageSite site, int chunk, int from, int bytes, byte[] target, int at) {
        Exchange exchange =
                Exchange.get(
                        site.id(),
                        tag,
                        lane.nextRequest(),
                        key(chunk),
                        from,
                        bytes,
                        chunkBytes,
                        checked[chunk] || lane.isInBackground(),
                        target,
                        at);
        lane.send(exchange, context.directory().address(site));
        fetched.add(exchange);
        return exchange;
    }

    /** Whether something that was asked for before then has not come. */
    boolean isOutstanding(long beforeNs) {
        return fetched.stream().anyMatch(each -> !each.done() && each.sentNs - beforeNs < 0);
    }

    /**
     * Notes how long nodes took; the read has what it needs.
     *
     * @param hedgedNs when others were asked instead of those that had not answered; before anybody
     *     was asked, when none were
     */
    void noteTimes(long hedgedNs, long nowNs) {
        NodeTimes times = context.nodeTimes();
        for (Exchange each : fetched) {
            if (!each.done()) {
                if (each.sentNs - hedgedNs < 0) {
                    times.overtaken(each.node, each.mostBytes(), nowNs - each.sentNs);
                }
            } else if (each.status() != null) {
                times.answered(each.node, each.mostBytes(), each.answeredNs - each.sentNs);
            }
        }
    }

    /** From now on the chunk is looked at where it is asked for. */
    void mustBeChecked(int chunk) {
        checked[chunk] = true;
    }

    /** Some node that may have what is missing could not be asked. */
    void unsure() {
        unsure = true;
    }

    /** Whether nodes that did not answer, or could not, may have what is missing. */
    boolean isUnsure() {
        return unsure;
    }

    /**
     * Notes why a node did not give a chunk. True: the chunk is not at its home, and may be where
     * it was before.
     */
    boolean failed(Exchange exchange, int chunk) {
        ChunkStatus status = exchange.status();
        if (status == null) {
            unsure = true;
            context.detector().unreachable(exchange.node, String.valueOf(exchange.failure()));
            return false;
        }
        context.detector().answered(exchange.node);
        if (status != ChunkStatus.NOT_FOUND && status != ChunkStatus.CORRUPT) {
            unsure = true;
            return false;
        }
        boolean atHome = homes.get(chunk).id().equals(exchange.node);
        StorageSite former = formerHomes.get(chunk);
        if (atHome && !homeLacks[chunk] && !former.id().equals(exchange.node)) {
            homeLacks[chunk] = true;
            return !context.detector().isSuspect(former.id());
        }
        boolean atLast = former.id().equals(exchange.node) || atHome;
        if (atLast && !damaged.contains(chunk)) {
            damaged.add(chunk);
        }
        return false;
    }

    /** Chunks that their homes lack or hold damaged, found on the way. */
    List<Integer> damaged() {
        return damaged;
    }

    /** All that answered are asked again, wherever they had told that chunks are not. */
    void startOver() {
        unsure = false;
        Arrays.fill(homeLacks, false);
    }
}
