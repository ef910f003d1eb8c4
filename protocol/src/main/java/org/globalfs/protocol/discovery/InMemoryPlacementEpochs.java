package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Placement epochs within one process, for tests and tools. */
public final class InMemoryPlacementEpochs implements PlacementEpochs {
    private final NavigableMap<Integer, Epoch> epochs =
            new TreeMap<>(Map.of(0, new Epoch(0, List.of())));

    @Override
    public synchronized Epoch newest() {
        return epochs.lastEntry().getValue();
    }

    @Override
    public synchronized Epoch epoch(int number) throws IOException {
        Epoch known = epochs.get(number);
        if (known == null) {
            throw new IOException("placement epoch " + number + " is not known");
        }
        return known;
    }

    @Override
    public synchronized void learn(Epoch epoch) {
        epochs.putIfAbsent(epoch.number(), epoch);
    }

    @Override
    public synchronized Epoch change(UnaryOperator<Epoch> change) {
        Epoch last = newest();
        Epoch next = change.apply(last);
        if (!next.equals(last)) {
            epochs.put(next.number(), next);
        }
        return next;
    }
}
