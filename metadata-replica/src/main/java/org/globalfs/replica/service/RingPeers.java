package org.globalfs.replica.service;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.RpcClient;
import org.jspecify.annotations.Nullable;

/**
 * Who takes part in this replica's rings, by its own state, and clients of the others: from the
 * topology, or, for those added since it was written, from discovery. Thread-safe.
 */
final class RingPeers implements AutoCloseable {

    private final int self;
    private final Topology topology;
    private final Discovery discovery;
    private final Map<Integer, List<Integer>> first;
    private final Map<Integer, HostedPartition> partitions;
    private final Map<HostPort, RpcClient> clients =
            new TreeMap<>((a, b) -> a.toString().compareTo(b.toString()));

    /**
     * @param first the acceptors that each ring began with
     */
    RingPeers(
            int self,
            Topology topology,
            Discovery discovery,
            Map<Integer, List<Integer>> first,
            Map<Integer, HostedPartition> partitions) {
        this.self = self;
        this.topology = topology;
        this.discovery = discovery;
        this.first = Map.copyOf(first);
        this.partitions = partitions;
    }

    private List<Integer> members(int ring) {
        Membership changed = changed(ring);
        return changed == null
                ? first.getOrDefault(ring, List.of())
                : changed.members().stream().map(Membership.Member::id).toList();
    }

    private @Nullable Membership changed(int ring) {
        HostedPartition partition = partitions.get(ring);
        return partition == null ? null : partition.membership();
    }

    /**
     * Whether this replica's state is one that the ring keeps up to date: it holds everything up to
     * when the replica was added, and the replica was not removed since, nor was the state lost.
     */
    boolean serves(int ring) {
        HostedPartition partition = partitions.get(ring);
        if (partition != null && partition.isLost()) {
            return false;
        }
        Membership changed = changed(ring);
        return changed == null
                ? first.getOrDefault(ring, List.of()).contains(self)
                : changed.contains(self);
    }

    /**
     * Clients of the ring's other members, as far as their addresses are known; without a state of
     * whoever may be one.
     */
    List<RpcClient> others(int ring) {
        List<RpcClient> others = new ArrayList<>();
        Set<Integer> members = new LinkedHashSet<>(members(ring));
        HostedPartition partition = partitions.get(ring);
        if (partition != null && partition.isLost()) {
            // Who was added was in the state.
            configured(ring).forEach(site -> members.add(site.id()));
        }
        for (int id : members) {
            if (id != self) {
                address(id).ifPresent(address -> others.add(client(address)));
            }
        }
        return others;
    }

    private List<Topology.ReplicaSite> configured(int ring) {
        return ring == Topology.GLOBAL
                ? topology.replicas()
                : topology.region(ring).map(Topology.Region::replicas).orElse(List.of());
    }

    /** Whether the address of every other member is known. */
    boolean knowsAll(int ring) {
        return members(ring).stream().allMatch(id -> id == self || address(id).isPresent());
    }

    private Optional<HostPort> address(int id) {
        for (Topology.ReplicaSite site : topology.replicas()) {
            if (site.id() == id) {
                return Optional.of(site.rpc());
            }
        }
        return discovery.members(Role.REPLICA).stream()
                .filter(member -> member.id().equals(Integer.toString(id)))
                .map(Member::address)
                .findFirst();
    }

    private synchronized RpcClient client(HostPort address) {
        return clients.computeIfAbsent(address, a -> new RpcClient(a.host(), a.port()));
    }

    @Override
    public synchronized void close() {
        clients.values().forEach(RpcClient::close);
    }
}
