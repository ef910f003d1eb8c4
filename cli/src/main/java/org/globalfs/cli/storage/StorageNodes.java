package org.globalfs.cli.storage;

import java.util.Map;
import java.util.TreeMap;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;

/** The storage nodes that are known: those that are placed, drained or announced. */
final class StorageNodes {
    private final Discovery discovery;
    private final PlacementEpochs epochs;

    /**
     * @param address where it listens; null: it is not announced
     * @param placed whether it has a place in the newest epoch
     */
    record Node(
            String id,
            String region,
            int partition,
            String datacenter,
            @Nullable HostPort address,
            boolean placed) {}

    StorageNodes(Discovery discovery, PlacementEpochs epochs) {
        this.discovery = discovery;
        this.epochs = epochs;
    }

    /** By id. */
    Map<String, Node> all() {
        return of(epochs.newest());
    }

    Node node(String id) throws Failure {
        Map<String, Node> nodes = all();
        Node node = nodes.get(id);
        if (node == null) {
            throw new Failure(
                    ExitCode.USAGE,
                    "no storage node '" + id + "' is known: " + String.join(", ", nodes.keySet()));
        }
        return node;
    }

    /** Where it listens now; null: it is not announced. */
    @Nullable HostPort address(String id) {
        for (Member member : discovery.members(Role.STORAGE)) {
            if (member.id().equals(id)) {
                return member.address();
            }
        }
        return null;
    }

    Map<String, Node> of(Epoch epoch) {
        Map<String, Node> nodes = new TreeMap<>();
        for (String id : epoch.drained()) {
            nodes.put(id, new Node(id, "", 0, "", null, false));
        }
        for (StorageSite site : epoch.nodes()) {
            nodes.put(
                    site.id(),
                    new Node(
                            site.id(),
                            site.region(),
                            site.partition(),
                            site.datacenter(),
                            null,
                            true));
        }
        for (Member member : discovery.members(Role.STORAGE)) {
            nodes.put(
                    member.id(),
                    new Node(
                            member.id(),
                            member.region(),
                            member.partition(),
                            member.datacenter(),
                            member.address(),
                            epoch.lists(member.id())));
        }
        return nodes;
    }
}
