package org.globalfs.replica.service;

import java.nio.file.Path;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Rings;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;

/**
 * Which replica this is, and where.
 *
 * @param folder its own; made when absent
 * @param bind the address to listen at; the ports are the topology's
 * @param reserve while its disk has less free, updates that need room are refused
 */
public record ReplicaConfig(
        Topology topology,
        int id,
        Path folder,
        String bind,
        Durability durability,
        Rings rings,
        DiskReserve reserve,
        ReplicaOptions options) {

    /**
     * The replica role of a server.
     *
     * @param replicas how many there are in this process, at least 1: they share its heap
     */
    public static ReplicaConfig of(ServerConfig server, int replicas) {
        Roles.ReplicaRole role =
                server.roles()
                        .replica()
                        .orElseThrow(() ->
                                Invariant.broken("server %s has no replica role", server.name()));
        return new ReplicaConfig(
                server.topology(),
                role.id(),
                server.data().resolve("replica-" + role.id()),
                server.bind(),
                server.durability(),
                server.rings(),
                role.reserve(),
                ReplicaOptions.defaults()
                        .sweeping(role.sweepPeriodMs(), role.sweepGraceMs())
                        .following(role.followBytesPerSecond())
                        .sharing(replicas));
    }

    Topology.Region region() {
        return topology.regionOf(id);
    }

    Topology.ReplicaSite site() {
        return topology.replica(id);
    }
}
