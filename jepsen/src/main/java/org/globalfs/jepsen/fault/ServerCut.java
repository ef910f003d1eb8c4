package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;

/**
 * A server that is cut off.
 *
 * @param others servers, and regions with the clients and ZooKeeper in them, that it neither
 *     reaches nor hears
 */
record ServerCut(String name, WanLab lab, String server, List<String> others) implements Fault {

    /** From everything. */
    static Fault ofAll(String name, TestedCluster cluster, String server) {
        List<String> others = otherServers(server);
        others.addAll(TestedCluster.REGIONS);
        return of(name, cluster, server, others);
    }

    /** From servers only: clients of whichever region go on asking it. */
    static Fault ofServers(String name, TestedCluster cluster, String server) {
        return of(name, cluster, server, otherServers(server));
    }

    private static Fault of(
            String name, TestedCluster cluster, String server, List<String> others) {
        return new ServerCut(name, cluster.around().lab().orElseThrow(), server, others);
    }

    private static List<String> otherServers(String server) {
        List<String> others = new ArrayList<>(TestedCluster.allServers());
        others.remove(server);
        return others;
    }

    @Override
    public String target() {
        return server;
    }

    @Override
    public void begin() throws IOException {
        lab.cutOff(server, others);
    }

    @Override
    public void end() throws IOException {
        lab.rejoin(server, others);
    }
}
