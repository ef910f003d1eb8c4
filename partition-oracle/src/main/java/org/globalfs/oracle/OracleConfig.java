package org.globalfs.oracle;

import java.nio.file.Path;
import java.util.Optional;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.PlacementPolicy;

/**
 * Which region's oracle this is, and where.
 *
 * @param advertise the host that others reach it by
 * @param port 0 takes a free one
 * @param policyFile says which trees move by themselves; without it none do
 * @param reportPeriodMs how often mounts and oracles report use
 */
public record OracleConfig(
        Topology topology,
        String region,
        String datacenter,
        String bind,
        String advertise,
        int port,
        PlacementPolicy policy,
        Optional<Path> policyFile,
        long reportPeriodMs) {

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
                server.advertise(),
                role.port(),
                PlacementPolicy.standard(),
                role.policy(),
                role.reportPeriodMs());
    }

    Topology.Region home() {
        return topology.region(region)
                .orElseThrow(() -> Invariant.broken("region %s is not in the topology", region));
    }
}
