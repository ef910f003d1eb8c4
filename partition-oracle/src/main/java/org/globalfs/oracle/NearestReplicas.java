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
        List<Topology.ReplicaSite> sites = new ArrayList<>();
        for (Topology.Region candidate : topology.regions()) {
            if (partition == Topology.GLOBAL || candidate.partition() == partition) {
                sites.addAll(candidate.replicas());
            }
        }
        Set<String> announced = new HashSet<>();
        for (Member member : discovery.members(Role.REPLICA)) {
            announced.add(member.id());
        }
        sites.sort(Comparator.comparingInt(site -> distance(site, announced)));
        return sites;
    }

    private int distance(Topology.ReplicaSite site, Set<String> announced) {
        boolean near = topology.regionOf(site.id()).name().equals(region);
        int distance = !near ? 2 : site.datacenter().equals(datacenter) ? 0 : 1;
        return announced.contains(Integer.toString(site.id())) ? distance : distance + 3;
    }
}
