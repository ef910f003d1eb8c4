package org.globalfs.replica.grants;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Updates that have ended, of which their sessions have not said yet that the answer has reached
 * all who read through them. Guarded by the table's lock.
 */
final class Unsettled {

    private final Map<Long, Set<Update>> byInode = new HashMap<>();
    private final Map<Long, Set<Update>> bySession = new HashMap<>();

    void add(Update update) {
        put(bySession, update.session, update);
        for (long ino : update.inodes) {
            put(byInode, ino, update);
        }
    }

    private static void put(Map<Long, Set<Update>> map, long key, Update update) {
        map.computeIfAbsent(key, k -> new LinkedHashSet<>(2)).add(update);
    }

    private static void remove(Map<Long, Set<Update>> map, long key, Update update) {
        Set<Update> updates = map.get(key);
        if (updates != null && updates.remove(update) && updates.isEmpty()) {
            map.remove(key);
        }
    }

    Collection<Update> of(long ino) {
        return byInode.getOrDefault(ino, Set.of());
    }

    int count(long session) {
        return bySession.getOrDefault(session, Set.of()).size();
    }

    /** The session has settled all updates of lower sequences but these. */
    void settled(long session, long below, Collection<Long> except) {
        Set<Update> updates = bySession.get(session);
        if (updates == null) {
            return;
        }
        updates.removeIf(update -> {
            boolean settled = update.sequence < below && !except.contains(update.sequence);
            if (settled) {
                forget(update);
            }
            return settled;
        });
        if (updates.isEmpty()) {
            bySession.remove(session);
        }
    }

    /** The session holds nothing any more. */
    void forget(long session) {
        Set<Update> updates = bySession.remove(session);
        if (updates != null) {
            updates.forEach(this::forget);
        }
    }

    private void forget(Update update) {
        for (long ino : update.inodes) {
            remove(byInode, ino, update);
        }
    }

    /** The session has given its grant of the inode back. */
    void given(long session, long ino) {
        for (Update update : of(ino)) {
            if (update.session == session) {
                update.stale.remove(ino);
            }
        }
    }
}
