package org.globalfs.bench.agar;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.globalfs.bench.lab.Wan;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.protocol.config.CachePolicyKind;

/**
 * Configuration of the lab and of the servers in it: a namespace for each region's storage nodes,
 * and one for the clients and the cache. By name these are in Frankfurt, too; they are apart from
 * its nodes so that the way to those has a length.
 */
final class LiveConfig {
    static final String CLUSTER = "agar";

    /** The namespace of clients and cache. */
    static final String CLIENTS = "clients";

    /**
     * With TCP's first window of ten segments a chunk takes one round trip, as the paper's
     * latencies are of whole chunks; also on a connection that was idle.
     */
    private static final int MTU_BYTES = 16_000;

    private static final int ZOOKEEPER_PORT = 7000;
    private static final int STORAGE_PORT = 7001;
    private static final int CACHE_PORT = 7010;
    private static final int UNUSED_PORT = 7020;
    private static final int NODES = Setting.CHUNKS / Setting.REGIONS.size();

    private LiveConfig() {}

    /** A region's name as servers and the lab use it. */
    static String name(int region) {
        return Setting.REGIONS.get(region).toLowerCase(Locale.ROOT).replaceAll("[^a-z]+", "-");
    }

    /** The lab without delays: the clients' region is the last one. */
    static String lab() {
        StringBuilder config = new StringBuilder();
        for (int region = 0; region < Setting.REGIONS.size(); region++) {
            config.append("region ").append(name(region)).append('\n');
        }
        return config + "region " + CLIENTS + "\nmtu " + MTU_BYTES + "\n";
    }

    static String zookeeper(List<Wan.Region> regions) {
        return host(regions.getFirst()) + ":" + ZOOKEEPER_PORT;
    }

    private static String host(Wan.Region region) {
        return region.address().getHostAddress();
    }

    /** A region's server with its storage nodes, the first one's with ZooKeeper. */
    static String storage(int region, List<Wan.Region> regions, Path data) {
        StringBuilder yaml = head(region, name(region), regions.get(region), regions, data);
        yaml.append("  storage:\n");
        for (int node = 0; node < NODES; node++) {
            yaml.append("    - id: ")
                    .append(name(region))
                    .append('-')
                    .append(node + 1)
                    .append('\n');
            yaml.append("      port: ").append(STORAGE_PORT + node).append('\n');
            yaml.append("      reserve: 64MiB\n");
        }
        if (region == 0) {
            yaml.append("  zookeeper:\n    port: ").append(ZOOKEEPER_PORT).append('\n');
        }
        return appendTopology(yaml, regions);
    }

    /**
     * The cache's server.
     *
     * @param periodMs from one plan to the next
     */
    static String cache(
            CachePolicyKind kind,
            int chunks,
            double megabytes,
            long periodMs,
            List<Wan.Region> regions,
            Path data) {
        StringBuilder yaml = head(0, "cache", regions.getLast(), regions, data);
        yaml.append("  cache:\n    port: ").append(CACHE_PORT).append('\n');
        yaml.append("    reserve: 64MiB\n    capacity: ")
                .append(capacityBytes(megabytes))
                .append("\n    policy: ")
                .append(kind.name().toLowerCase(Locale.ROOT))
                .append("\n    period: ")
                .append(periodMs)
                .append("ms\n");
        if (chunks > 0) {
            yaml.append("    chunks: ").append(chunks).append('\n');
        }
        return appendTopology(yaml, regions);
    }

    /** On disk, for as many chunks as the simulation gives room to. */
    static long capacityBytes(double megabytes) {
        int chunkBytes = Math.ceilDiv(Setting.OBJECT_BYTES, Setting.DATA_CHUNKS);
        return new Setting(AgarBench.SKEW, megabytes, 0).capacityChunks()
                * SegmentStore.recordBytes(chunkBytes);
    }

    private static StringBuilder head(
            int region, String name, Wan.Region place, List<Wan.Region> regions, Path data) {
        return new StringBuilder(
                """
                name: %s
                cluster: %s
                zookeeper: %s
                bind: %s
                region: %s
                datacenter: a
                data: %s
                roles:
                """
                        .formatted(
                                name,
                                CLUSTER,
                                zookeeper(regions),
                                host(place),
                                name(region),
                                data));
    }

    /** Replicas are listed, as every region has some, but none runs. */
    private static String appendTopology(StringBuilder yaml, List<Wan.Region> regions) {
        yaml.append("topology:\n");
        for (int region = 0; region < Setting.REGIONS.size(); region++) {
            String host = host(regions.get(region));
            yaml.append(
                    """
                      - region: %s
                        partition: %d
                        replicas:
                          - id: %d
                            datacenter: a
                            ring: %s:%d
                            rpc: %s:%d
                    """
                            .formatted(
                                    name(region),
                                    region + 1,
                                    region + 1,
                                    host,
                                    UNUSED_PORT,
                                    host,
                                    UNUSED_PORT + 1));
        }
        return yaml.toString();
    }
}
