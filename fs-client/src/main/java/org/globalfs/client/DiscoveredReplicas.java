package org.globalfs.client;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.client.meta.Replica;
import org.globalfs.client.meta.ReplicaDirectory;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas that discovery has ever shown, at their newest addresses. A replica whose process
 * died stays listed: it is known from its silence, and comes back under the same id.
 */
final class DiscoveredReplicas implements ReplicaDirectory {

    private static final Logger LOG = LoggerFactory.getLogger(DiscoveredReplicas.class);

    private final Discovery discovery;
    private volatile List<Replica> replicas = List.of();

    DiscoveredReplicas(Discovery discovery) {
        this.discovery = discovery;
        discovery.onChange(this::refresh);
        refresh();
    }

    private synchronized void refresh() {
        List<Replica> next = new ArrayList<>();
        for (Member member : discovery.members(Role.REPLICA)) {
            Replica replica = replica(member);
            if (replica != null) {
                next.add(replica);
            }
        }
        for (Replica known : replicas) {
            if (next.stream().noneMatch(replica -> replica.id() == known.id())) {
                next.add(known);
            }
        }
        replicas = List.copyOf(next);
    }

    private static @org.jspecify.annotations.Nullable Replica replica(Member member) {
        try {
            return new Replica(
                    Integer.parseInt(member.id()),
                    member.partition(),
                    member.region(),
                    member.datacenter(),
                    member.address().host(),
                    member.address().port());
        } catch (NumberFormatException e) {
            LOG.warn("replica {} in discovery has no number as its id", member);
            return null;
        }
    }

    @Override
    public List<Replica> replicas() {
        return replicas;
    }
}
