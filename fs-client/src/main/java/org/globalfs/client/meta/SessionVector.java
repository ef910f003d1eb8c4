package org.globalfs.client.meta;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The highest instance of each partition that a session has seen. What the session reads is never
 * older; handing the vector to another session makes that one see everything that this one saw.
 */
public final class SessionVector {

    private final ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();
    private volatile long global;

    /** Through here {@link #globalMoved} has run; never above {@link #global}. */
    private volatile long told;

    private volatile Runnable globalMoved = () -> {};

    /**
     * Runs whenever the global partition's entry has grown, before any call of {@link #advance}
     * with the new value returns: so before whoever learned of it can act on it.
     */
    public void onGlobalMoved(Runnable listener) {
        globalMoved = listener;
    }

    public long seen(int partition) {
        return partition == 0 ? global : seen.getOrDefault(partition, 0L);
    }

    /** The global partition's entry. */
    public long globalSeen() {
        return global;
    }

    public void advance(int partition, long instance) {
        if (partition == 0) {
            if (instance > told) {
                advanceGlobal(instance);
            }
        } else if (instance > seen.getOrDefault(partition, 0L)) {
            seen.merge(partition, instance, Math::max);
        }
    }

    private synchronized void advanceGlobal(long instance) {
        if (instance > told) {
            global = Math.max(global, instance);
            globalMoved.run();
            told = global;
        }
    }

    public Map<Integer, Long> snapshot() {
        Map<Integer, Long> result = new TreeMap<>(seen);
        if (global > 0) {
            result.put(0, global);
        }
        return result;
    }

    public void merge(Map<Integer, Long> other) {
        other.forEach(this::advance);
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }
}
