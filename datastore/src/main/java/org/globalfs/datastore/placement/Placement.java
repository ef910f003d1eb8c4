package org.globalfs.datastore.placement;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;

/**
 * Placement of blocks in one region (or, as region 0, over all) by one placement epoch.
 *
 * <p>Each chunk draws straws of its own (weighted rendezvous hashing): first among the failure
 * domains that hold fewest chunks of the block so far, then among their unused nodes. A node that
 * joins so takes little more than its share, and chunks of a block never share a node. Failure
 * domains are datacenters within a region, and regions (datacenters within them) for region 0.
 * Domains draw alike whatever nodes they have: were they weighted, a new node would shuffle chunks
 * between them.
 */
public final class Placement {
    private static final long NODE_SALT = 0x6e6f6465L;
    private static final long DOMAIN_SALT = 0x646f6d61696eL;
    private static final long RANK_SALT = 0x72616e6bL;

    private final int region;
    private final Entry[] entries;
    private final Domain[] domains;
    private final BlockCode wanted;
    private final @Nullable BlockCode code;

    private record Entry(StorageSite site, long hash, int rack) {}

    private record Domain(String name, long hash, int[] members) {}

    private Placement(int region, Entry[] entries, Domain[] domains, BlockCode wanted) {
        this.region = region;
        this.entries = entries;
        this.domains = domains;
        this.wanted = wanted;
        this.code = fitting();
    }

    public static Placement of(Epoch epoch, int region) {
        List<StorageSite> sites = new ArrayList<>();
        for (StorageSite site : epoch.nodes()) {
            if (region == 0 || site.partition() == region) {
                sites.add(site);
            }
        }
        sites.sort(Comparator.comparing(StorageSite::id));
        Map<String, List<Integer>> members = new HashMap<>();
        List<String> names = new ArrayList<>();
        Map<String, Integer> racks = new HashMap<>();
        Entry[] entries = new Entry[sites.size()];
        for (int i = 0; i < entries.length; i++) {
            StorageSite site = sites.get(i);
            String domain = domain(region, site);
            String rack = site.region() + "/" + site.datacenter();
            racks.putIfAbsent(rack, racks.size());
            if (!names.contains(domain)) {
                names.add(domain);
            }
            members.computeIfAbsent(domain, d -> new ArrayList<>()).add(i);
            entries[i] = new Entry(site, hash(site.id()), racks.get(rack));
        }
        Domain[] domains = new Domain[names.size()];
        for (int d = 0; d < domains.length; d++) {
            String name = names.get(d);
            int[] indexes =
                    members.getOrDefault(name, List.of()).stream().mapToInt(i -> i).toArray();
            domains[d] = new Domain(name, hash(name), indexes);
        }
        return new Placement(
                region, entries, domains, region == 0 ? epoch.global() : epoch.regional());
    }

    /**
     * How many losses are survived is never traded in for a lack of nodes; how wide a block is
     * spread over the regions may be, since those are few.
     */
    private @Nullable BlockCode fitting() {
        if (region != 0) {
            return fits(wanted) ? wanted : null;
        }
        for (int data = wanted.dataChunks(); data >= 1; data--) {
            if (fits(wanted.withDataChunks(data))) {
                return wanted.withDataChunks(data);
            }
        }
        return null;
    }

    /** Whether blocks of this code have homes; the same for every block. */
    public boolean fits(BlockCode other) {
        return homes(0, 0, other.dataChunks(), other.parityChunks()) != null;
    }

    /** How new blocks are coded; null if none can be placed: see {@link #shortage}. */
    public @Nullable BlockCode code() {
        return code;
    }

    /** Every node of the region, in no particular order. */
    public List<StorageSite> nodes() {
        return Arrays.stream(entries).map(Entry::site).toList();
    }

    /**
     * The homes of a block's chunks, by chunk index; null if the region has not enough nodes and
     * domains for any whole domain, and any m nodes, to be lost: see {@link #shortage}.
     */
    public @Nullable List<StorageSite> homes(
            long idHigh, long idLow, int dataChunks, int parityChunks) {
        int chunks = dataChunks + parityChunks;
        long block = mix(idHigh ^ mix(idLow));
        boolean[] used = new boolean[entries.length];
        int[] inDomain = new int[domains.length];
        int[] inRack = new int[entries.length];
        List<StorageSite> homes = new ArrayList<>(chunks);
        for (int chunk = 0; chunk < chunks; chunk++) {
            int domain = drawDomain(block, chunk, used, inDomain);
            if (domain < 0 || inDomain[domain] >= parityChunks) {
                return null;
            }
            int node = drawNode(block, chunk, domains[domain], used, inRack);
            used[node] = true;
            inDomain[domain]++;
            inRack[entries[node].rack]++;
            homes.add(entries[node].site);
        }
        return homes;
    }

    private int drawDomain(long block, int chunk, boolean[] used, int[] inDomain) {
        int best = -1;
        double bestStraw = 0;
        for (int d = 0; d < domains.length; d++) {
            if (!hasUnused(domains[d], used)) {
                continue;
            }
            double straw = straw(block, chunk, domains[d].hash ^ DOMAIN_SALT, 1);
            if (best < 0
                    || inDomain[d] < inDomain[best]
                    || inDomain[d] == inDomain[best] && straw < bestStraw) {
                best = d;
                bestStraw = straw;
            }
        }
        return best;
    }

    private static boolean hasUnused(Domain domain, boolean[] used) {
        for (int i : domain.members) {
            if (!used[i]) {
                return true;
            }
        }
        return false;
    }

    private int drawNode(long block, int chunk, Domain domain, boolean[] used, int[] inRack) {
        int best = -1;
        double bestStraw = 0;
        for (int i : domain.members) {
            if (used[i]) {
                continue;
            }
            double straw = straw(block, chunk, entries[i].hash ^ NODE_SALT, weight(i));
            int load = inRack[entries[i].rack];
            int bestLoad = best < 0 ? 0 : inRack[entries[best].rack];
            if (best < 0 || load < bestLoad || load == bestLoad && straw < bestStraw) {
                best = i;
                bestStraw = straw;
            }
        }
        return best;
    }

    private double weight(int entry) {
        return entries[entry].site.weight();
    }

    /**
     * Who takes a chunk in its home's place: a node that holds fewer than m of the block's chunks.
     * If it can be, one that leaves no failure domain with more than m; of those one that holds
     * fewest, in the domain that holds fewest, and the first such in order.
     *
     * @param order of {@link #ranking}; a node that is preferred may come before
     * @param held how many of the block's chunks each node holds, or is about to, by id
     * @param may whether a node comes into question
     * @return null: none does
     */
    public @Nullable StorageSite standIn(
            List<StorageSite> order,
            Map<String, Integer> held,
            int parityChunks,
            Predicate<StorageSite> may) {
        Map<String, Integer> inDomain = new HashMap<>();
        for (Entry entry : entries) {
            inDomain.merge(domain(entry.site), held.getOrDefault(entry.site.id(), 0), Integer::sum);
        }
        return order.stream()
                .filter(site -> held.getOrDefault(site.id(), 0) < parityChunks && may.test(site))
                .min(
                        Comparator.<StorageSite, Boolean>comparing(site ->
                                        inDomain.getOrDefault(domain(site), 0) >= parityChunks)
                                .thenComparing(site -> held.getOrDefault(site.id(), 0))
                                .thenComparing(site -> inDomain.getOrDefault(domain(site), 0)))
                .orElse(null);
    }

    private String domain(StorageSite site) {
        return domain(region, site);
    }

    private static String domain(int region, StorageSite site) {
        return region == 0 ? site.region() : site.datacenter();
    }

    /** All nodes in the block's own order: who stands in for a home that is down. */
    public List<StorageSite> ranking(long idHigh, long idLow) {
        long block = mix(idHigh ^ mix(idLow));
        double[] straws = new double[entries.length];
        List<Integer> order = new ArrayList<>(entries.length);
        for (int i = 0; i < entries.length; i++) {
            order.add(i);
            straws[i] = straw(block, -1, entries[i].hash ^ RANK_SALT, weight(i));
        }
        order.sort(Comparator.comparingDouble(i -> straws[i]));
        return order.stream().map(i -> entries[i].site).toList();
    }

    /** Why no block can be placed, and the mend. */
    public String shortage() {
        return shortage(region == 0 ? wanted.withDataChunks(1) : wanted);
    }

    /** Why no block of this code can be placed, and the mend. */
    public String shortage(BlockCode lacking) {
        int chunks = lacking.chunks();
        int needed = (chunks + lacking.parityChunks() - 1) / lacking.parityChunks();
        StringBuilder have = new StringBuilder();
        for (Domain domain : domains) {
            have.append(have.isEmpty() ? "" : ", ");
            have.append(domain.name).append(": ").append(domain.members.length);
        }
        return String.format(
                "RS(%d,%d) needs %d storage nodes spread evenly over at least %d %s; %s has %d (%s):"
                        + " start more storage nodes",
                lacking.dataChunks(),
                lacking.parityChunks(),
                chunks,
                needed,
                region == 0 ? "regions" : "datacenters",
                name(),
                entries.length,
                have);
    }

    private String name() {
        if (region == 0) {
            return "the cluster";
        }
        return "region " + (entries.length == 0 ? region : entries[0].site.region());
    }

    /**
     * The smallest straw wins, a node in proportion to its weight. StrictMath, since every host
     * must agree to the last bit.
     */
    private static double straw(long block, int chunk, long hash, double weight) {
        long bits = mix(block ^ mix(hash + chunk * 0x9e3779b97f4a7c15L));
        double uniform = ((bits >>> 11) + 0.5) * 0x1.0p-53;
        return -StrictMath.log(uniform) / weight;
    }

    private static long hash(String text) {
        long hash = 0xcbf29ce484222325L;
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
        }
        return mix(hash);
    }

    /** The finalizer of SplitMix64. */
    private static long mix(long value) {
        long z = value;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
