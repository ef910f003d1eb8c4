package org.globalfs.jepsen.fault;

import java.io.IOException;
import org.globalfs.jepsen.cluster.TestedCluster;

/** What happens to a server, of the one that coordinates a partition when it begins. */
final class CoordinatorFault implements Fault {

    /** The fault of a server. */
    interface OfServer {
        Fault of(String server);
    }

    private final TestedCluster cluster;
    private final String partition;
    private final OfServer kind;
    private Fault fault;

    /**
     * @param partition a region, or {@code global}
     * @param otherwise the server, when nobody knows the coordinator
     */
    CoordinatorFault(TestedCluster cluster, String partition, String otherwise, OfServer kind) {
        this.cluster = cluster;
        this.partition = partition;
        this.kind = kind;
        fault = kind.of(otherwise);
    }

    @Override
    public void aim() throws IOException {
        cluster.coordinator(partition).ifPresent(server -> fault = kind.of(server));
    }

    @Override
    public String name() {
        return fault.name();
    }

    @Override
    public String target() {
        return fault.target() + " of " + partition;
    }

    @Override
    public boolean spares(String client, String needed) {
        return fault.spares(client, needed);
    }

    @Override
    public void begin() throws IOException {
        fault.begin();
    }

    @Override
    public void end() throws IOException {
        fault.end();
    }
}
