package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.List;
import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.TestedCluster;

/** Servers whose power is cut: they are dead, and their disks have what was synced only. */
final class PowerCut implements Fault {
    private final TestedCluster cluster;
    private final List<String> servers;
    private final ProcessFault dead;

    PowerCut(String name, TestedCluster cluster, List<String> servers) {
        this.cluster = cluster;
        this.servers = servers;
        dead = new ProcessFault(name, cluster, servers, true);
    }

    @Override
    public String name() {
        return dead.name();
    }

    @Override
    public String target() {
        return dead.target();
    }

    @Override
    public boolean spares(String client, String partition) {
        return dead.spares(client, partition);
    }

    private Disks disks() {
        return cluster.around().disks().orElseThrow();
    }

    /** The disks first: between the two, processes find that nothing can be written any more. */
    @Override
    public void begin() throws IOException {
        for (String server : servers) {
            disks().cutPower(server);
        }
        dead.begin();
    }

    @Override
    public void end() throws IOException {
        for (String server : servers) {
            disks().restorePower(server);
        }
        dead.end();
    }
}
