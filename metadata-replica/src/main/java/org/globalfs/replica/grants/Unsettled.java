package org.globalfs.replica.grants;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Updates that have ended, of which their sessions have not said yet that the answer has reached
 * all who read through them: of a busy session, those of the last third of a second. Found by inode
 * and session in the order of their ends, so that a session that works alone in a directory pays
 * for none of its own. Guarded by the table's lock.
 */
final class Unsettled {

    private final Map<Long, Map<Long, NavigableMap<Long, Update>>> byInode = new HashMap<>();
    private final Map<Long, NavigableMap<Long, Update>> bySession = new HashMap<>();

    void add(Update update) {
        bySession
                .computeIfAbsent(update.session, key -> new TreeMap<>())
                .put(update.endedAt, update);
        for (long ino : update.inodes) {
            byInode.computeIfAbsent(ino, key -> new HashMap<>(2))
                    .computeIfAbsent(update.session, key -> new TreeMap<>())
                    .put(update.endedAt, update);
        }
    }

    /**
     * All of an inode.
     *
     * @param exceptSession whose updates are left out; 0: nobody's
     */
    void forEach(long ino, long exceptSession, Consumer<Update> action) {
        byInode.getOrDefault(ino, Map.of())
                .forEach((session, updates) -> {
                    if (session != exceptSession) {
                        updates.values().forEach(action);
                    }
                });
    }

    /** A session's of an inode that ended after this time of the table's clock. */
    Collection<Update> after(long ino, long session, long clock) {
        NavigableMap<Long, Update> updates = byInode.getOrDefault(ino, Map.of()).get(session);
        return updates == null ? List.of() : updates.tailMap(clock, false).values();
    }

    int count(long session) {
        NavigableMap<Long, Update> updates = bySession.get(session);
        return updates == null ? 0 : updates.size();
    }

    /** The session has settled all updates of lower sequences but these. */
    void settled(long session, long below, Collection<Long> except) {
        NavigableMap<Long, Update> updates = bySession.get(session);
        if (updates == null) {
            return;
        }
        updates.values()
                .removeIf(update -> {
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
        NavigableMap<Long, Update> updates = bySession.remove(session);
        if (updates != null) {
            updates.values().forEach(this::forget);
        }
    }

    private void forget(Update update) {
        for (long ino : update.inodes) {
            byInode.computeIfPresent(
                    ino,
                    (key, sessions) -> {
                        sessions.computeIfPresent(
                                update.session,
                                (session, updates) -> {
                                    updates.remove(update.endedAt);
                                    return updates.isEmpty() ? null : updates;
                                });
                        return sessions.isEmpty() ? null : sessions;
                    });
        }
    }

    /** The session has given its grant of the inode back. */
    void given(long session, long ino) {
        after(ino, session, Long.MIN_VALUE).forEach(update -> update.stale.remove(ino));
    }
}
