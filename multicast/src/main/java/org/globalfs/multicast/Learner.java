package org.globalfs.multicast;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The consumer of one ring's order. Called on the ring's delivery thread only; an exception stops
 * the process.
 */
public interface Learner {

    /**
     * Highest instance the state has executed: delivery resumes after it. 0 when nothing was
     * executed yet.
     */
    long applied();

    /**
     * Timestamp of the newest command in what {@link #applied} covers, 0 if none: timestamps of the
     * ring go on above it.
     */
    long lastTimestamp();

    /** The newest membership of the ring in what {@link #applied} covers, null if none. */
    @Nullable Membership membership();

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
