package org.globalfs.oracle;

import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.PlacementPolicy;

/**
 * Which region's oracle this is, and where.
 *
 * @param port 0 takes a free one
 */
public record OracleConfig(
        Topology topology,
        String region,
        String datacenter,
        String bind,
        int port,
        PlacementPolicy policy) {

    /** The oracle role of a server. */
    public static OracleConfig of(ServerConfig server) {
        Roles.OracleRole role =
                server.roles()
                        .oracle()
                        .orElseThrow(() ->
                                Invariant.broken("server %s has no oracle role", server.name()));
        return new OracleConfig(
                server.topology(),
                server.region(),
                server.datacenter(),
                server.bind(),
                role.port(),
                PlacementPolicy.standard());
    }

    Topology.Region home() {
        return topology.region(region)
                .orElseThrow(() -> Invariant.broken("region %s is not in the topology", region));
    }
}
