package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

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
    public synchronized Epoch change(UnaryOperator<Epoch> change) {
        Epoch last = newest();
        Epoch next = change.apply(last);
        if (!next.equals(last)) {
            epochs.add(next);
        }
        return next;
    }
}
