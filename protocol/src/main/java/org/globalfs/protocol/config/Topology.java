package org.globalfs.protocol.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.discovery.Member;
import org.jspecify.annotations.Nullable;

/**
 * Which metadata replicas exist and where, the same on every server: election and ordering depend
 * on nothing else.
 */
public record Topology(String cluster, List<Region> regions) {
    /** The global partition and ring. */
    public static final int GLOBAL = 0;

    /** What people call the global partition; no region may be called so. */
    public static final String GLOBAL_NAME = "global";

    /** A region, and the number of its partition and ring. */
    public record Region(String name, int partition, List<ReplicaSite> replicas) {
        public Region {
            replicas = List.copyOf(replicas);
        }
    }

    /**
     * One metadata replica's place: where its rings and its clients reach it.
     *
     * @param added it is none of those that the rings began with, but was, or is to be, added to
     *     them later
     */
    public record ReplicaSite(
            int id, String datacenter, HostPort ring, HostPort rpc, boolean added) {

        /** One that the rings begin with. */
        public ReplicaSite(int id, String datacenter, HostPort ring, HostPort rpc) {
            this(id, datacenter, ring, rpc, false);
        }
    }

    public Topology {
        regions = List.copyOf(regions);
    }

    /** Every replica of every region, by id. */
    public List<ReplicaSite> replicas() {
        List<ReplicaSite> all = new ArrayList<>();
        for (Region region : regions) {
            all.addAll(region.replicas);
        }
        all.sort((a, b) -> Integer.compare(a.id, b.id));
        return all;
    }

    public Optional<Region> region(String name) {
        return regions.stream().filter(r -> r.name.equals(name)).findFirst();
    }

    public Optional<Region> region(int partition) {
        return regions.stream().filter(r -> r.partition == partition).findFirst();
    }

    /** The region that a replica lives in. */
    public Region regionOf(int replica) {
        for (Region region : regions) {
            for (ReplicaSite site : region.replicas) {
                if (site.id == replica) {
                    return region;
                }
            }
        }
        throw Invariant.broken("replica %s is not in the topology", replica);
    }

    public ReplicaSite replica(int id) {
        for (ReplicaSite site : regionOf(id).replicas) {
            if (site.id == id) {
                return site;
            }
        }
        throw Invariant.broken("replica %s is not in the topology", id);
    }

    /**
     * Ids of the acceptors that a ring begins with: all replicas for the global ring, else its
     * region's.
     */
    public int[] members(int ring) {
        List<ReplicaSite> sites =
                ring == GLOBAL
                        ? replicas()
                        : region(ring)
                                .orElseThrow(() -> Invariant.broken("no ring %s", ring))
                                .replicas();
        return sites.stream()
                .filter(site -> !site.added)
                .mapToInt(ReplicaSite::id)
                .sorted()
                .toArray();
    }

    /**
     * With the announced replicas that are not in it, in regions that are: those added since the
     * configuration was written. One whose announcement cannot be read is left out.
     */
    public Topology including(List<Member> announced) {
        List<Region> wider = new ArrayList<>();
        Set<Integer> known = new HashSet<>();
        replicas().forEach(site -> known.add(site.id));
        for (Region region : regions) {
            List<ReplicaSite> sites = new ArrayList<>(region.replicas);
            for (Member member : announced) {
                ReplicaSite site = member.region().equals(region.name) ? announced(member) : null;
                if (site != null && known.add(site.id)) {
                    sites.add(site);
                }
            }
            wider.add(new Region(region.name, region.partition, sites));
        }
        return new Topology(cluster, wider);
    }

    private static @Nullable ReplicaSite announced(Member member) {
        String ring = member.attributes().get("ring");
        if (ring == null) {
            return null;
        }
        try {
            int id = Integer.parseInt(member.id());
            HostPort address = HostPort.parse(ring);
            return new ReplicaSite(id, member.datacenter(), address, member.address(), true);
        } catch (IllegalArgumentException e) {
            return null; // discovery says so
        }
    }

    static Topology read(String cluster, Yaml parent) throws ConfigException {
        List<Region> regions = new ArrayList<>();
        Set<String> names = new HashSet<>();
        Set<Integer> partitions = new HashSet<>();
        Set<Integer> ids = new HashSet<>();
        Set<HostPort> addresses = new HashSet<>();
        for (Yaml yaml : parent.list("topology")) {
            String name = ServerConfig.name(yaml, "region");
            if (name.equals(GLOBAL_NAME)) {
                throw yaml.error("region", "'global' is every region's: give another name");
            }
            int partition = (int) yaml.integer("partition", 1, 0xffff);
            if (!names.add(name)) {
                throw yaml.error("region", "'" + name + "' is listed twice");
            }
            if (!partitions.add(partition)) {
                throw yaml.error("partition", partition + " is another region's: number each once");
            }
            List<ReplicaSite> replicas = new ArrayList<>();
            for (Yaml site : yaml.list("replicas")) {
                ReplicaSite replica =
                        new ReplicaSite(
                                (int) site.integer("id", 1, 0xffff),
                                ServerConfig.name(site, "datacenter"),
                                site.address("ring"),
                                site.address("rpc"),
                                site.flag("added", false));
                site.finish();
                if (!ids.add(replica.id)) {
                    throw site.error("id", replica.id + " is another replica's: number each once");
                }
                if (!addresses.add(replica.ring)) {
                    throw site.error("ring", replica.ring + " is used twice");
                }
                if (!addresses.add(replica.rpc)) {
                    throw site.error("rpc", replica.rpc + " is used twice");
                }
                replicas.add(replica);
            }
            yaml.finish();
            if (replicas.isEmpty()) {
                throw yaml.error("replicas", "is empty: a region needs at least one replica");
            }
            if (replicas.stream().allMatch(ReplicaSite::added)) {
                throw yaml.error(
                        "replicas",
                        "has only replicas with 'added: true': a ring begins with at least one other");
            }
            regions.add(new Region(name, partition, replicas));
        }
        if (regions.isEmpty()) {
            throw parent.error("topology", "is empty: list the regions");
        }
        return new Topology(cluster, regions);
    }
}
