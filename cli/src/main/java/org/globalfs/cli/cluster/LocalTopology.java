package org.globalfs.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.globalfs.protocol.HostPort;

/**
 * The cluster that {@code quickstart} and {@code up} make: 3 regions of 3 datacenters, and which
 * process listens at which of a block of consecutive ports.
 */
final class LocalTopology {
    static final List<String> REGIONS = List.of("us-west", "us-east", "eu-west");
    static final List<String> DATACENTERS = List.of("a", "b", "c");
    static final String ZOOKEEPER = "zookeeper";
    static final String POLICY = "policy";
    static final int PORTS = 48;
    private static final int STORAGE_PER_DATACENTER = 2;

    /** Where all regions are unless told otherwise: on this machine. */
    static final List<String> LOOPBACK = List.of("127.0.0.1", "127.0.0.1", "127.0.0.1");

    private final String cluster;
    private final int basePort;
    private final List<String> hosts;

    /**
     * @param hosts each region's address, with ZooKeeper in the first; or ZooKeeper's address, and
     *     each datacenter's
     */
    LocalTopology(String cluster, int basePort, List<String> hosts) {
        this.cluster = cluster;
        this.basePort = basePort;
        this.hosts = hosts;
    }

    /** Whether there are as many addresses as a cluster can be made for. */
    static boolean fits(List<String> hosts) {
        return hosts.size() == REGIONS.size()
                || hosts.size() == 1 + REGIONS.size() * DATACENTERS.size();
    }

    private String host(int region, int datacenter) {
        return hosts.get(hosts.size() == REGIONS.size() ? region : replica(region, datacenter));
    }

    /** The server processes of the cluster, ZooKeeper first. */
    static List<String> servers() {
        List<String> names = new ArrayList<>();
        names.add(ZOOKEEPER);
        for (String region : REGIONS) {
            for (String datacenter : DATACENTERS) {
                names.add(region + "-" + datacenter);
            }
        }
        return names;
    }

    static List<String> mounts() {
        return REGIONS.stream().map(LocalTopology::mount).toList();
    }

    static String mount(String region) {
        return "mount-" + region;
    }

    String zooKeeperYaml() {
        return """
        # Generated once; yours to edit. Keys: docs/operations.md.
        name: zookeeper
        cluster: %s
        zookeeper: %s
        bind: %s
        data: ../data/zookeeper
        roles:
          zookeeper:
            port: %d
        """
                .formatted(cluster, zooKeeper(), quoted(hosts.getFirst()), basePort);
    }

    /** For all oracles. */
    static String policyYaml() {
        return """
        # Which trees move to those who use them. Generated once; yours to edit, read again when it
        # changes. Keys: docs/operations.md.
        rules:
          - path: /
            move: off
        """;
    }

    String serverYaml(int region, int datacenter) {
        String name = REGIONS.get(region) + "-" + DATACENTERS.get(datacenter);
        int id = replica(region, datacenter);
        StringBuilder yaml = new StringBuilder();
        yaml.append(
                """
                # Generated once; yours to edit. Keys: docs/operations.md.
                name: %s
                cluster: %s
                zookeeper: %s
                bind: %s
                region: %s
                datacenter: %s
                data: ../data/%s
                durability: disk
                roles:
                  replica:
                    id: %d
                """
                        .formatted(
                                name,
                                cluster,
                                zooKeeper(),
                                quoted(host(region, datacenter)),
                                REGIONS.get(region),
                                DATACENTERS.get(datacenter),
                                name,
                                id));
        if (datacenter == 0) {
            yaml.append("  oracle:\n    port: ").append(basePort + 21 + region).append('\n');
            yaml.append("    policy: ").append(POLICY).append(".yaml\n");
        }
        yaml.append("  storage:\n");
        for (int node = 0; node < STORAGE_PER_DATACENTER; node++) {
            int port = basePort + 24 + (id - 1) * STORAGE_PER_DATACENTER + node;
            yaml.append("    - id: ").append(name).append('-').append(node + 1).append('\n');
            yaml.append("      port: ").append(port).append('\n');
        }
        if (datacenter == 0) {
            yaml.append("  cache:\n    port: ").append(basePort + 42 + region).append('\n');
        }
        appendTopology(yaml);
        return yaml.toString();
    }

    String mountYaml(int region) {
        return String.format(
                Locale.ROOT,
                """
                # Generated once; yours to edit. Keys: docs/operations.md.
                cluster: %s
                zookeeper: %s
                region: %s
                """,
                cluster,
                zooKeeper(),
                REGIONS.get(region));
    }

    private void appendTopology(StringBuilder yaml) {
        yaml.append("topology:\n");
        for (int region = 0; region < REGIONS.size(); region++) {
            yaml.append("  - region: ").append(REGIONS.get(region)).append('\n');
            yaml.append("    partition: ").append(region + 1).append('\n');
            yaml.append("    replicas:\n");
            for (int datacenter = 0; datacenter < DATACENTERS.size(); datacenter++) {
                String host = host(region, datacenter);
                int id = replica(region, datacenter);
                yaml.append("      - id: ").append(id).append('\n');
                yaml.append("        datacenter: ")
                        .append(DATACENTERS.get(datacenter))
                        .append('\n');
                yaml.append(
                        "        ring: %s%n        rpc: %s%n"
                                .formatted(
                                        address(host, basePort + id),
                                        address(host, basePort + 10 + id)));
            }
        }
    }

    private String zooKeeper() {
        return address(hosts.getFirst(), basePort);
    }

    private static String address(String host, int port) {
        return quoted(new HostPort(host, port).toString());
    }

    /** What YAML would not take for a text otherwise: an IPv6 address. */
    private static String quoted(String address) {
        return address.indexOf(':') == address.lastIndexOf(':') ? address : '"' + address + '"';
    }

    private static int replica(int region, int datacenter) {
        return region * DATACENTERS.size() + datacenter + 1;
    }
}
