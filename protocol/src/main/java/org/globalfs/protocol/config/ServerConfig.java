package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.globalfs.protocol.config.Roles.OracleRole;
import org.globalfs.protocol.config.Roles.ReplicaRole;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.Roles.ZooKeeperRole;
import org.globalfs.protocol.discovery.BlockCode;

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
    private static final long DEFAULT_CAPACITY_BYTES = 1L << 40;

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
        String bind = yaml.optionalText("bind").orElse("127.0.0.1");
        String advertise = yaml.optionalText("advertise").orElse(bind);
        if (advertise.equals("0.0.0.0") || advertise.equals("::")) {
            throw yaml.error(
                    "advertise", "others cannot reach " + advertise + ": give this host's address");
        }
        Durability durability = yaml.choice("durability", Durability.class, Durability.DISK);
        Rings rings = Rings.read(yaml);
        Roles roles = roles(yaml, data);
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
            blocks.check(yaml, roles, topology);
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

    private static Roles roles(Yaml yaml, Path data) throws ConfigException {
        Yaml roles = yaml.mapping("roles");
        Optional<Yaml> replica = roles.optionalMapping("replica");
        Optional<Yaml> oracle = roles.optionalMapping("oracle");
        Optional<Yaml> zookeeper = roles.optionalMapping("zookeeper");
        Optional<ReplicaRole> replicaRole = Optional.empty();
        Optional<OracleRole> oracleRole = Optional.empty();
        Optional<ZooKeeperRole> zookeeperRole = Optional.empty();
        if (replica.isPresent()) {
            replicaRole =
                    Optional.of(
                            new ReplicaRole(
                                    (int) replica.get().integer("id", 1, 0xffff),
                                    reserve(replica.get(), ReplicaRole.DEFAULT_RESERVE),
                                    replica.get()
                                            .durationMs(
                                                    "sweepPeriod",
                                                    ReplicaRole.DEFAULT_SWEEP_PERIOD_MS),
                                    replica.get()
                                            .durationMs(
                                                    "sweepGrace",
                                                    ReplicaRole.DEFAULT_SWEEP_GRACE_MS)));
            replica.get().finish();
        }
        if (oracle.isPresent()) {
            oracleRole = Optional.of(new OracleRole(oracle.get().port("port")));
            oracle.get().finish();
        }
        if (zookeeper.isPresent()) {
            zookeeperRole = Optional.of(new ZooKeeperRole(zookeeper.get().port("port")));
            zookeeper.get().finish();
        }
        Optional<Yaml> cache = roles.optionalMapping("cache");
        Optional<CacheRole> cacheRole = Optional.empty();
        if (cache.isPresent()) {
            cacheRole = Optional.of(cache(cache.get(), data));
        }
        List<StorageRole> storage = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (Yaml node : roles.optionalList("storage")) {
            String id = name(node, "id");
            if (!ids.add(id)) {
                throw node.error("id", "'" + id + "' is another storage node's: name each once");
            }
            int port = node.port("port");
            Path folder =
                    node.has("data") ? node.file("data") : data.resolve("storage").resolve(id);
            storage.add(
                    new StorageRole(
                            id,
                            port,
                            folder,
                            node.sizeBytes("capacity", DEFAULT_CAPACITY_BYTES),
                            reserve(node, StorageRole.DEFAULT_RESERVE),
                            node.durationMs("scrubPeriod", StorageRole.DEFAULT_SCRUB_PERIOD_MS),
                            node.sizeBytes(
                                    "scrubBandwidth", StorageRole.DEFAULT_SCRUB_BYTES_PER_SECOND),
                            node.durationMs("repairGrace", StorageRole.DEFAULT_REPAIR_GRACE_MS),
                            node.sizeBytes(
                                    "repairBandwidth",
                                    StorageRole.DEFAULT_REPAIR_BYTES_PER_SECOND)));
            node.finish();
        }
        roles.finish();
        Roles result = new Roles(replicaRole, oracleRole, storage, cacheRole, zookeeperRole);
        if (result.isEmpty()) {
            throw yaml.error(
                    "roles",
                    "is empty: name at least one of replica, oracle, storage, cache, zookeeper");
        }
        return result;
    }

    private static CacheRole cache(Yaml yaml, Path data) throws ConfigException {
        boolean fixed = yaml.has("chunks");
        CacheRole cache =
                new CacheRole(
                        yaml.port("port"),
                        yaml.has("data") ? yaml.file("data") : data.resolve("cache"),
                        yaml.sizeBytes("capacity", CacheRole.DEFAULT_CAPACITY_BYTES),
                        reserve(yaml, CacheRole.DEFAULT_RESERVE),
                        yaml.choice("policy", CachePolicyKind.class, CachePolicyKind.AGAR),
                        fixed
                                ? (int) yaml.integer("chunks", 1, BlockCode.MAX_DATA_CHUNKS)
                                : CacheRole.DEFAULT_CHUNKS,
                        yaml.durationMs("period", CacheRole.DEFAULT_PERIOD_MS),
                        yaml.sizeBytes("fetchBandwidth", CacheRole.DEFAULT_FETCH_BYTES_PER_SECOND));
        if (fixed && cache.policy() == CachePolicyKind.AGAR) {
            throw yaml.error(
                    "chunks", "is for the policies lru, lfu and tiny_lfu: agar decides by itself");
        }
        for (String key : List.of("capacity", "period", "fetchBandwidth")) {
            long value =
                    switch (key) {
                        case "capacity" -> cache.capacityBytes();
                        case "period" -> cache.periodMs();
                        default -> cache.fetchBytesPerSecond();
                    };
            if (value < 1) {
                throw yaml.error(key, "is 0: give more, or remove the role");
            }
        }
        yaml.finish();
        return cache;
    }

    private static DiskReserve reserve(Yaml role, DiskReserve otherwise) throws ConfigException {
        return role.has("reserve") ? DiskReserve.exactly(role.sizeBytes("reserve", 0)) : otherwise;
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
