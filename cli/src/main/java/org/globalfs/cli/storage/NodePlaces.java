package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.List;
import org.globalfs.cli.Failure;
import org.globalfs.cli.storage.StorageNodes.Node;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.PlacementEpochs;

/** Storage nodes. */
public final class NodePlaces implements PassPlaces {
    private static final int ANSWER_MS = 5_000;

    private final String cluster;
    private final StorageNodes nodes;

    public NodePlaces(String cluster, Discovery discovery, PlacementEpochs epochs) {
        this.cluster = cluster;
        this.nodes = new StorageNodes(discovery, epochs);
    }

    @Override
    public List<Place> all() {
        return nodes.all().values().stream().map(NodePlaces::place).toList();
    }

    @Override
    public Place place(String id) throws Failure {
        return place(nodes.node(id));
    }

    private static Place place(Node node) {
        return new Place(node.id(), node.address() != null, node.placed());
    }

    @Override
    public PassTarget open(String id) throws IOException {
        HostPort address = nodes.address(id);
        if (address == null) {
            throw new IOException("it is down");
        }
        return new Target(id, new StorageConnection(address, cluster, id, ANSWER_MS));
    }

    private record Target(String id, StorageConnection connection) implements PassTarget {
        @Override
        public String answeredBy() {
            return id;
        }

        @Override
        public ScrubProgress scrub() throws IOException {
            return connection.scrub();
        }

        @Override
        public ScrubProgress beginScrub(long bytesPerSecond) throws IOException {
            return connection.beginScrub(bytesPerSecond);
        }

        @Override
        public RepairProgress repair() throws IOException {
            return connection.repair();
        }

        @Override
        public RepairProgress beginRepair() throws IOException {
            return connection.beginRepair();
        }

        @Override
        public void close() throws IOException {
            connection.close();
        }
    }

    @Override
    public Words words() {
        return new Words(
                "no storage node runs",
                "other nodes",
                "start nodes that are down and replace disks that fail, see 'globalfs datastore"
                        + " status' and the nodes' logs, then scrub again",
                "are nodes down, silent or full? See 'globalfs datastore status'; what can be"
                        + " done later is tried again by itself");
    }
}
