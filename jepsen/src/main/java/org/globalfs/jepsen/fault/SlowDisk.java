package org.globalfs.jepsen.fault;

import java.io.IOException;
import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.TestedCluster;

/** A server's disk that stands still most of the time. */
final class SlowDisk implements Fault {
    private static final int STILL_MS = 400;
    private static final int WORKS_MS = 100;

    private final String name;
    private final String server;
    private final Alternation alternation;

    SlowDisk(String name, TestedCluster cluster, String server) {
        this.name = name;
        this.server = server;
        Disks disks = cluster.around().disks().orElseThrow();
        alternation =
                new Alternation(
                        () -> disks.freeze(server),
                        () -> STILL_MS,
                        () -> disks.thaw(server),
                        () -> WORKS_MS);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String target() {
        return server;
    }

    @Override
    public boolean spares(String client, String partition) {
        return true;
    }

    @Override
    public void begin() {
        alternation.begin();
    }

    @Override
    public void end() throws IOException {
        alternation.end();
    }
}
