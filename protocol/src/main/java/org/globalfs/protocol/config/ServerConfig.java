package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.Invariant;

/**
 * One server process: where it is, what it does, and the cluster that it belongs to.
 *
 * @param name what {@code status} and logs call the process
 * @param zookeeper ZooKeeper's connect string
 * @param region empty for a process that only hosts ZooKeeper, as are the two below
 * @param bind the address to listen at; loopback unless the file says otherwise
 * @param advertise the address that others reach this process by
 * @param blocks where the content of files is
 */
public record ServerConfig(
        String name,
        String cluster,
        String zookeeper,
        String region,
        String datacenter,
        Topology topology,
        Path data,
        String bind,
        String advertise,
        Durability durability,
        Rings rings,
        Roles roles,
        BlockStorage blocks) {
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}");

    public static ServerConfig read(Path file) throws ConfigException {
        Yaml yaml = Yaml.read(file);
        ServerConfig config = read(yaml);
        yaml.finish();
        return config;
    }

    /** The partition and ring of this process's region. */
    public int partition() {
        return topology.region(region)
                .orElseThrow(() -> Invariant.broken("region %s is not in the topology", region))
                .partition();
    }

    private static ServerConfig read(Yaml yaml) throws ConfigException {
        String cluster = name(yaml, "cluster");
        String zookeeper = yaml.text("zookeeper");
        Path data = yaml.file("data");
        String bind = yaml.host("bind").orElse("127.0.0.1");
        String advertise = yaml.host("advertise").orElse(bind);
        if (HostPort.isWildcard(advertise)) {
            throw yaml.error(
                    "advertise", "others cannot reach " + advertise + ": give this host's address");
        }
        Durability durability = yaml.choice("durability", Durability.class, Durability.DISK);
        Rings rings = Rings.read(yaml);
        Roles roles = RolesReader.read(yaml, data);
        BlockStorage blocks = BlockStorage.read(yaml);
        boolean placed = roles.needsTopology();
        String region = placed || yaml.has("region") ? name(yaml, "region") : "";
        String datacenter = placed || yaml.has("datacenter") ? name(yaml, "datacenter") : "";
        Topology topology =
                placed || yaml.has("topology")
                        ? Topology.read(cluster, yaml)
                        : new Topology(cluster, List.of());
        String name =
                yaml.has("name")
                        ? name(yaml, "name")
                        : placed ? region + "-" + datacenter : "zookeeper";
        if (placed) {
            checkPlace(yaml, topology, region, datacenter, roles);
            checkReach(yaml, topology, advertise);
            blocks.check(yaml, roles, topology);
            OwnPlaces.check(yaml, roles, topology);
        }
        return new ServerConfig(
                name,
                cluster,
                zookeeper,
                region,
                datacenter,
                topology,
                data,
                bind,
                advertise,
                durability,
                rings,
                roles,
                blocks);
    }

    /** Others would look for this process on their own machine. */
    private static void checkReach(Yaml yaml, Topology topology, String advertise)
            throws ConfigException {
        if (!HostPort.isLoopback(advertise)) {
            return;
        }
        for (Topology.Region region : topology.regions()) {
            for (Topology.ReplicaSite site : region.replicas()) {
                if (!HostPort.isLoopback(site.rpc().host())) {
                    throw yaml.error(
                            "advertise",
                            "others, such as replica "
                                    + site.id()
                                    + " at "
                                    + site.rpc()
                                    + ", cannot reach "
                                    + advertise
                                    + ": give this host's address, and 'bind' one to listen at");
                }
            }
        }
    }

    private static void checkPlace(
            Yaml yaml, Topology topology, String region, String datacenter, Roles roles)
            throws ConfigException {
        Topology.Region home = topology.region(region).orElse(null);
        if (home == null) {
            List<String> names = topology.regions().stream().map(Topology.Region::name).toList();
            throw yaml.error(
                    "region",
                    "'" + region + "' is not in the topology (" + String.join(", ", names) + ")");
        }
        if (roles.replica().isEmpty()) {
            return;
        }
        int id = roles.replica().get().id();
        for (Topology.ReplicaSite site : home.replicas()) {
            if (site.id() == id) {
                if (!site.datacenter().equals(datacenter)) {
                    throw yaml.error(
                            "datacenter",
                            "'"
                                    + datacenter
                                    + "' but the topology puts replica "
                                    + id
                                    + " in "
                                    + site.datacenter());
                }
                return;
            }
        }
        throw yaml.error(
                "roles.replica.id", "replica " + id + " is not in the topology's region " + region);
    }

    /** A name that is also usable in paths and in ZooKeeper. */
    static String name(Yaml yaml, String key) throws ConfigException {
        String text = yaml.text(key);
        if (!NAME.matcher(text).matches()) {
            throw yaml.error(
                    key, "'" + text + "' is not a name: use letters, digits, '.', '_', '-'");
        }
        return text;
    }
}
