package org.globalfs.jepsen.fault;

import java.io.IOException;
import org.globalfs.jepsen.cluster.TestedCluster;

/** A server's disk on which nothing is free. */
record FullDisk(String name, TestedCluster cluster, String target) implements Fault {

    /** The region refuses what needs room: its clients do not go on, and are told so. */
    @Override
    public boolean spares(String client, String partition) {
        return !target.startsWith(partition) && !partition.equals(FaultKind.GLOBAL);
    }

    @Override
    public void begin() throws IOException {
        cluster.around().disks().orElseThrow().fill(target);
    }

    @Override
    public void end() throws IOException {
        cluster.around().disks().orElseThrow().free(target);
        cluster.start(java.util.List.of(target));
    }
}
