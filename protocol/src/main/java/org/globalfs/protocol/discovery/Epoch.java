package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * A version of the list of all storage nodes. Immutable once made; blocks name the one they were
 * placed by.
 *
 * @param nodes those that blocks are placed on
 * @param drained ids of nodes that an operator took out: they get no place until he lets them
 * @param regional how blocks of a region are coded
 * @param global how blocks that are spread over all regions are coded; where nodes or regions are
 *     too few for it, with as many data chunks as fit
 */
public record Epoch(
        int number,
        List<StorageSite> nodes,
        Set<String> drained,
        BlockCode regional,
        BlockCode global) {
    public static final BlockCode REGIONAL = new BlockCode(4, 2);
    public static final BlockCode GLOBAL = new BlockCode(9, 3);

    public Epoch {
        nodes = List.copyOf(nodes);
        drained = Set.copyOf(drained);
    }

    /** Without drained nodes, and coded as is the default. */
    public Epoch(int number, List<StorageSite> nodes) {
        this(number, nodes, Set.of(), REGIONAL, GLOBAL);
    }

    /** An epoch as others tell of it. */
    public static Epoch parse(int number, String text) throws IOException {
        return Records.epoch(number, text);
    }

    /** All but the number, for {@link #parse}. */
    public String text() {
        return Records.encode(this);
    }

    public boolean lists(String id) {
        return nodes.stream().anyMatch(site -> site.id().equals(id));
    }

    /** The next epoch, with this site under its id; this one if it says so, or keeps it out. */
    public Epoch with(StorageSite site) {
        if (nodes.contains(site) || drained.contains(site.id())) {
            return this;
        }
        List<StorageSite> next = others(site.id());
        next.add(site);
        next.sort(Comparator.comparing(StorageSite::id));
        return new Epoch(number + 1, next, drained, regional, global);
    }

    /** The next epoch, which the node has no place in; this one if it has none. */
    public Epoch drain(String id) {
        if (drained.contains(id)) {
            return this;
        }
        NavigableSet<String> out = new TreeSet<>(drained);
        out.add(id);
        return new Epoch(number + 1, others(id), out, regional, global);
    }

    /** The next epoch, which the node may join again. */
    public Epoch readmit(String id) {
        if (!drained.contains(id)) {
            return this;
        }
        NavigableSet<String> out = new TreeSet<>(drained);
        out.remove(id);
        return new Epoch(number + 1, nodes, out, regional, global);
    }

    /** The next epoch, whose new blocks are coded so; this one if they are already. */
    public Epoch coded(BlockCode nextRegional, BlockCode nextGlobal) {
        return nextRegional.equals(regional) && nextGlobal.equals(global)
                ? this
                : new Epoch(number + 1, nodes, drained, nextRegional, nextGlobal);
    }

    private List<StorageSite> others(String id) {
        List<StorageSite> others = new ArrayList<>(nodes);
        others.removeIf(node -> node.id().equals(id));
        return others;
    }
}
