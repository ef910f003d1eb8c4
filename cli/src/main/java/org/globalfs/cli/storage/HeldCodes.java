package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.cli.storage.StorageNodes.Node;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.HeldCode;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Epoch;
import org.jspecify.annotations.Nullable;

/**
 * How the blocks are coded that storage nodes hold chunks of: also those that were written under an
 * earlier code, or when there were more nodes.
 */
final class HeldCodes {
    /** By region, and then by node. */
    private final Map<Integer, Map<String, Set<BlockCode>>> byRegion = new HashMap<>();

    private final List<String> silent = new ArrayList<>();

    private HeldCodes() {}

    /** Asks those of the nodes that are announced. */
    static HeldCodes of(Collection<Node> nodes, String cluster, int timeoutMs) {
        HeldCodes held = new HeldCodes();
        for (Node node : nodes) {
            HostPort address = node.address();
            if (address == null) {
                continue;
            }
            try (StorageConnection connection =
                    new StorageConnection(address, cluster, node.id(), timeoutMs)) {
                connection.codes().forEach(code -> held.note(node.id(), code));
            } catch (IOException e) {
                held.silent.add(node.id());
            }
        }
        return held;
    }

    private void note(String node, HeldCode code) {
        boolean sound =
                code.dataChunks() >= 1
                        && code.dataChunks() <= BlockCode.MAX_DATA_CHUNKS
                        && code.parityChunks() >= 1
                        && code.parityChunks() <= BlockCode.MAX_PARITY_CHUNKS;
        if (sound) {
            byRegion.computeIfAbsent(code.region(), region -> new HashMap<>())
                    .computeIfAbsent(node, id -> new LinkedHashSet<>())
                    .add(new BlockCode(code.dataChunks(), code.parityChunks()));
        }
    }

    /** Nodes that are announced and did not say. */
    List<String> silent() {
        return silent;
    }

    /**
     * Why blocks could be kept no longer as they are, or the node would keep what it holds, if it
     * had no place any more; null: neither.
     */
    @Nullable String shortage(Epoch before, Epoch after, Node node) {
        for (int region : new int[] {node.partition(), 0}) {
            Map<String, Set<BlockCode>> held = byRegion.getOrDefault(region, Map.of());
            Set<BlockCode> all = new LinkedHashSet<>();
            held.values().forEach(all::addAll);
            String shortage = DistributedBlockStore.shortage(before, after, region, all);
            if (shortage != null) {
                return shortage;
            }
            Placement next = Placement.of(after, region);
            for (BlockCode code : held.getOrDefault(node.id(), Set.of())) {
                if (!next.fits(code)) {
                    return next.shortage(code);
                }
            }
        }
        return null;
    }
}
