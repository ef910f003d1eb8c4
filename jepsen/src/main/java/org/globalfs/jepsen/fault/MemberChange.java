package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.List;
import org.globalfs.jepsen.cluster.AddedServer;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.jspecify.annotations.Nullable;

/** A new server takes the place of a region's replica, and gives it back. */
final class MemberChange implements Fault {
    private final String name;
    private final TestedCluster cluster;
    private final String server;
    private @Nullable AddedServer added;

    MemberChange(String name, TestedCluster cluster, String server) {
        this.name = name;
        this.cluster = cluster;
        this.server = server;
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
    public void begin() throws IOException {
        AddedServer now = cluster.prepareServer(server);
        added = now;
        cluster.start(List.of(now.name()));
        cluster.ring("replace", now.insteadOf(), now.id());
    }

    @Override
    public void end() throws IOException {
        AddedServer now = added;
        if (now == null) {
            return;
        }
        cluster.ring("replace", now.id(), now.insteadOf());
        cluster.removeServer(now);
    }
}
