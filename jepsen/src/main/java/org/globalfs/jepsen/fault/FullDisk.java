package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.List;
import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * Disks without room: of one server to the last byte, so that it ends when it has to write, or of
 * all of a region's as far as their replicas' reserve.
 */
record FullDisk(String name, TestedCluster cluster, List<String> servers) implements Fault {
    /** Below the reserve of a replica, and enough for its log and state while the fault lasts. */
    private static final long LEFT_BYTES = 150L << 20;

    @Override
    public String target() {
        return String.join(" ", servers);
    }

    /** Where all refuse what needs room their clients do not go on, but are told why. */
    @Override
    public boolean spares(String client, String partition) {
        return servers.size() == 1
                || TestedCluster.servers(client).stream().noneMatch(servers::contains)
                        && servers.stream().noneMatch(server -> server.startsWith(partition));
    }

    private Disks disks() {
        return cluster.around().disks().orElseThrow();
    }

    @Override
    public void begin() throws IOException {
        for (String server : servers) {
            disks().fill(server, servers.size() == 1 ? 0 : LEFT_BYTES);
        }
    }

    @Override
    public void end() throws IOException {
        for (String server : servers) {
            disks().free(server);
        }
        cluster.start(servers);
    }
}
