package org.globalfs.jepsen.fault;

import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.TestedCluster;

/** A server's disk that stands still most of the time. */
final class SlowDisk {
    private static final int STILL_MS = 400;
    private static final int WORKS_MS = 100;

    private SlowDisk() {}

    static Fault of(String name, TestedCluster cluster, String server) {
        Disks disks = cluster.around().disks().orElseThrow();
        return new Alternation(
                name,
                server,
                () -> disks.freeze(server),
                () -> STILL_MS,
                () -> disks.thaw(server),
                () -> WORKS_MS);
    }
}
