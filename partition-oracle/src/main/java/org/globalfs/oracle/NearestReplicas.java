package org.globalfs.oracle;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;

/**
 * Orders a partition's replicas by distance: same datacenter, same region, elsewhere; those not
 * announced come last.
 */
final class NearestReplicas {

    private final Topology topology;
    private final Discovery discovery;
    private final String region;
    private final String datacenter;

    NearestReplicas(Topology topology, Discovery discovery, String region, String datacenter) {
        this.topology = topology;
        this.discovery = discovery;
        this.region = region;
        this.datacenter = datacenter;
    }

    List<Topology.ReplicaSite> of(int partition) {
        List<Member> replicas = discovery.members(Role.REPLICA);
        Topology known = topology.including(replicas);
        List<Topology.ReplicaSite> sites = new ArrayList<>();
        for (Topology.Region candidate : known.regions()) {
            if (partition == Topology.GLOBAL || candidate.partition() == partition) {
                sites.addAll(candidate.replicas());
            }
        }
        Set<String> announced = new HashSet<>();
        for (Member member : replicas) {
            announced.add(member.id());
        }
        sites.sort(Comparator.comparingInt(site -> distance(known, site, announced)));
        return sites;
    }

    private int distance(Topology known, Topology.ReplicaSite site, Set<String> announced) {
        boolean near = known.regionOf(site.id()).name().equals(region);
        int distance = !near ? 2 : site.datacenter().equals(datacenter) ? 0 : 1;
        return announced.contains(Integer.toString(site.id())) ? distance : distance + 3;
    }
}
