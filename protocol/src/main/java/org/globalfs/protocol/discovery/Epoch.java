package org.globalfs.protocol.discovery;

import java.util.List;

/**
 * A version of the list of all storage nodes. Immutable once made; blocks name the one they were
 * placed by.
 */
public record Epoch(int number, List<StorageSite> nodes) {
    public Epoch {
        nodes = List.copyOf(nodes);
    }
}
