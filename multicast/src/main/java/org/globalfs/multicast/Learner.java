package org.globalfs.multicast;

import java.util.List;

/**
 * The consumer of one ring's order. Called on the ring's delivery thread only; an exception stops
 * the process.
 */
public interface Learner extends RingState {

    /**
     * Executes one instance. Instances come consecutively from {@code applied() + 1}, without gap.
     * An implementation that waits for something in here must stop waiting when its owner closes.
     */
    void deliver(long instance, List<Entry> entries);

    /**
     * The log is trimmed everywhere reachable beyond this learner. It must take over a checkpoint
     * from a peer that raises {@link #applied} to at least {@code firstAvailable - 1} before it
     * returns; it is called again otherwise.
     */
    void behind(long firstAvailable);
}
