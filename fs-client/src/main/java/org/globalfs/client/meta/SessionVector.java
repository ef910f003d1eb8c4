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

    public long seen(int partition) {
        return partition == 0 ? global : seen.getOrDefault(partition, 0L);
    }

    /** The global partition's entry. */
    public long globalSeen() {
        return global;
    }

    public void advance(int partition, long instance) {
        if (partition == 0) {
            if (instance > global) {
                advanceGlobal(instance);
            }
        } else if (instance > seen.getOrDefault(partition, 0L)) {
            seen.merge(partition, instance, Math::max);
        }
    }

    private synchronized void advanceGlobal(long instance) {
        global = Math.max(global, instance);
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
