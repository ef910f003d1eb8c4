package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.globalfs.protocol.config.Roles.OracleRole;
import org.globalfs.protocol.config.Roles.ReplicaRole;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.Roles.ZooKeeperRole;
import org.globalfs.protocol.discovery.BlockCode;

/** Reads the key `roles` of a server's configuration. */
final class RolesReader {
    private static final long DEFAULT_CAPACITY_BYTES = 1L << 40;

    private RolesReader() {}

    /**
     * @param data the server's folder
     */
    static Roles read(Yaml yaml, Path data) throws ConfigException {
        Yaml roles = yaml.mapping("roles");
        Optional<Yaml> replica = roles.optionalMapping("replica");
        Optional<Yaml> oracle = roles.optionalMapping("oracle");
        Optional<Yaml> zookeeper = roles.optionalMapping("zookeeper");
        Optional<Yaml> cache = roles.optionalMapping("cache");
        Optional<ReplicaRole> replicaRole = Optional.empty();
        Optional<OracleRole> oracleRole = Optional.empty();
        Optional<ZooKeeperRole> zookeeperRole = Optional.empty();
        Optional<CacheRole> cacheRole = Optional.empty();
        if (replica.isPresent()) {
            replicaRole = Optional.of(replica(replica.get()));
        }
        if (oracle.isPresent()) {
            oracleRole = Optional.of(oracle(oracle.get()));
        }
        if (zookeeper.isPresent()) {
            zookeeperRole = Optional.of(new ZooKeeperRole(zookeeper.get().port("port")));
            zookeeper.get().finish();
        }
        if (cache.isPresent()) {
            cacheRole = Optional.of(cache(cache.get(), data));
        }
        List<StorageRole> storage = storage(roles, data);
        roles.finish();
        Roles result = new Roles(replicaRole, oracleRole, storage, cacheRole, zookeeperRole);
        if (result.isEmpty()) {
            throw yaml.error(
                    "roles",
                    "is empty: name at least one of replica, oracle, storage, cache, zookeeper");
        }
        return result;
    }

    private static ReplicaRole replica(Yaml yaml) throws ConfigException {
        ReplicaRole replica =
                new ReplicaRole(
                        (int) yaml.integer("id", 1, 0xffff),
                        reserve(yaml, ReplicaRole.DEFAULT_RESERVE),
                        yaml.durationMs("sweepPeriod", ReplicaRole.DEFAULT_SWEEP_PERIOD_MS),
                        yaml.durationMs("sweepGrace", ReplicaRole.DEFAULT_SWEEP_GRACE_MS),
                        yaml.sizeBytes(
                                "followBandwidth", ReplicaRole.DEFAULT_FOLLOW_BYTES_PER_SECOND));
        yaml.finish();
        return replica;
    }

    private static OracleRole oracle(Yaml yaml) throws ConfigException {
        OracleRole oracle =
                new OracleRole(
                        yaml.port("port"),
                        yaml.has("policy") ? Optional.of(yaml.file("policy")) : Optional.empty(),
                        yaml.durationMs("reportPeriod", OracleRole.DEFAULT_REPORT_PERIOD_MS));
        if (oracle.reportPeriodMs() < 100 || oracle.reportPeriodMs() > 3_600_000) {
            throw yaml.error("reportPeriod", "is not between 100ms and 1h");
        }
        yaml.finish();
        return oracle;
    }

    private static List<StorageRole> storage(Yaml roles, Path data) throws ConfigException {
        List<StorageRole> storage = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (Yaml node : roles.optionalList("storage")) {
            String id = ServerConfig.name(node, "id");
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
                            capacity(node),
                            reserve(node, StorageRole.DEFAULT_RESERVE),
                            node.durationMs("scrubPeriod", StorageRole.DEFAULT_SCRUB_PERIOD_MS),
                            node.sizeBytes(
                                    "scrubBandwidth", StorageRole.DEFAULT_SCRUB_BYTES_PER_SECOND),
                            node.durationMs("repairGrace", StorageRole.DEFAULT_REPAIR_GRACE_MS),
                            node.sizeBytes(
                                    "repairBandwidth", StorageRole.DEFAULT_REPAIR_BYTES_PER_SECOND),
                            compactionBytesPerSecond(node),
                            node.decimal(
                                    "weight",
                                    StorageRole.LEAST_WEIGHT,
                                    StorageRole.MOST_WEIGHT,
                                    1)));
            node.finish();
        }
        return storage;
    }

    private static long capacity(Yaml node) throws ConfigException {
        long bytes = node.sizeBytes("capacity", DEFAULT_CAPACITY_BYTES);
        if (bytes < StorageRole.LEAST_CAPACITY_BYTES) {
            throw node.error(
                    "capacity",
                    "is "
                            + bytes
                            + " bytes, and a storage node needs 64MiB at least: give more, with"
                            + " its unit, such as 500GiB");
        }
        return bytes;
    }

    private static long compactionBytesPerSecond(Yaml node) throws ConfigException {
        String key = "compactionBandwidth";
        long bytes = node.sizeBytes(key, StorageRole.DEFAULT_COMPACTION_BYTES_PER_SECOND);
        if (bytes < StorageRole.LEAST_COMPACTION_BYTES_PER_SECOND) {
            throw node.error(
                    key,
                    "is "
                            + bytes
                            + " bytes a second, and what is deleted would fill the disk: give 1MiB"
                            + " at least");
        }
        return bytes;
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
}
