package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Placement epochs within one process, for tests and tools. */
public final class InMemoryPlacementEpochs implements PlacementEpochs {
    private final List<Epoch> epochs = new ArrayList<>(List.of(new Epoch(0, List.of())));

    @Override
    public synchronized Epoch newest() {
        return epochs.getLast();
    }

    @Override
    public synchronized Epoch epoch(int number) throws IOException {
        if (number < 0 || number >= epochs.size()) {
            throw new IOException("placement epoch " + number + " is not known");
        }
        return epochs.get(number);
    }

    @Override
    public synchronized Epoch join(StorageSite site) {
        Epoch last = newest();
        if (last.nodes().contains(site)) {
            return last;
        }
        List<StorageSite> nodes = new ArrayList<>(last.nodes());
        nodes.removeIf(node -> node.id().equals(site.id()));
        nodes.add(site);
        nodes.sort(Comparator.comparing(StorageSite::id));
        Epoch next = new Epoch(last.number() + 1, nodes);
        epochs.add(next);
        return next;
    }
}
