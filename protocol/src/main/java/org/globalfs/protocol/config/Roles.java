package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What one server process does. */
public record Roles(
        Optional<ReplicaRole> replica,
        Optional<OracleRole> oracle,
        List<StorageRole> storage,
        Optional<ZooKeeperRole> zookeeper) {

    /** A metadata replica; its addresses are in the topology. */
    public record ReplicaRole(int id) {}

    /** A region's partition oracle. */
    public record OracleRole(int port) {}

    /** A storage node: a name unique in the cluster, its folder, and how much it may hold. */
    public record StorageRole(String id, int port, Path data, long capacityBytes) {}

    /** An embedded ZooKeeper server, for development only. */
    public record ZooKeeperRole(int port) {}

    public Roles {
        storage = List.copyOf(storage);
    }

    public boolean isEmpty() {
        return !needsTopology() && zookeeper.isEmpty();
    }

    /** Anything that belongs to a region. */
    public boolean needsTopology() {
        return replica.isPresent() || oracle.isPresent() || !storage.isEmpty();
    }
}
