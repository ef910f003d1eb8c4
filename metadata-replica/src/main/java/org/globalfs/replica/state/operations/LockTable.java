package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.LockRecord;
import org.globalfs.replica.state.model.LockRecord.State;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/**
 * All rows of {@link Table#FILE_LOCK}, in memory too, by inode, session and waiting owner. A new
 * row's number is above all there are, so that among requests that wait the lower came first.
 *
 * <p>Fences are apart from an inode's locks: of mounts that died there can be any number, for as
 * long as their sessions are remembered, and no lock has to walk them or counts with them.
 */
final class LockTable {

    private final MutableRecords records;
    private final Map<Long, NavigableMap<Long, LockRecord>> inodes = new HashMap<>();

    /** What is held of an inode, again, so that a long queue need not be walked to find it. */
    private final Map<Long, NavigableMap<Long, LockRecord>> held = new HashMap<>();

    /** An inode's fences, by session. */
    private final Map<Long, NavigableMap<Long, Row>> fences = new HashMap<>();

    private final TreeSet<Long> numbers = new TreeSet<>();

    /** A session's rows, fences too, by number. */
    private final Map<Long, NavigableMap<Long, Row>> sessions = new HashMap<>();

    /** What an owner of fcntl(2) locks waits for, by number. */
    private final Map<Owner, NavigableMap<Long, Row>> waiting = new HashMap<>();

    record Owner(long session, long owner) {
        static Owner of(LockRecord row) {
            return new Owner(row.session(), row.owner());
        }
    }

    /** A row, and where it is. */
    record Row(long ino, long number, LockRecord lock) {}

    LockTable(MutableRecords records) {
        this.records = records;
        records.scan(
                Table.FILE_LOCK,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    index(
                            new Row(
                                    Keys.getLong(key, 0),
                                    Keys.getLong(key, 8),
                                    LockRecord.decode(value)));
                    return true;
                });
    }

    private void index(Row row) {
        numbers.add(row.number);
        long session = row.lock.session();
        if (row.lock.is(State.FENCE)) {
            fences.computeIfAbsent(row.ino, key -> new TreeMap<>()).put(session, row);
        } else {
            inodes.computeIfAbsent(row.ino, key -> new TreeMap<>()).put(row.number, row.lock);
        }
        if (row.lock.is(State.HELD)) {
            held.computeIfAbsent(row.ino, key -> new TreeMap<>()).put(row.number, row.lock);
        }
        sessions.computeIfAbsent(session, key -> new TreeMap<>()).put(row.number, row);
        if (waits(row.lock)) {
            waiting.computeIfAbsent(Owner.of(row.lock), key -> new TreeMap<>())
                    .put(row.number, row);
        }
    }

    private static boolean waits(LockRecord lock) {
        return lock.is(State.WAITING) && lock.kind() == LockKind.POSIX;
    }

    void add(long ino, LockRecord lock) {
        long number = numbers.isEmpty() ? 1 : numbers.last() + 1;
        index(new Row(ino, number, lock));
        records.put(Table.FILE_LOCK, Keys.of(ino, number), lock.encode());
    }

    void remove(Row row) {
        numbers.remove(row.number);
        if (row.lock.is(State.FENCE)) {
            drop(fences, row.ino, row.lock.session());
        } else {
            drop(inodes, row.ino, row.number);
        }
        if (row.lock.is(State.HELD)) {
            drop(held, row.ino, row.number);
        }
        drop(sessions, row.lock.session(), row.number);
        if (waits(row.lock)) {
            drop(waiting, Owner.of(row.lock), row.number);
        }
        records.delete(Table.FILE_LOCK, Keys.of(row.ino, row.number));
    }

    private static <K, V> void drop(Map<K, NavigableMap<Long, V>> index, K key, long which) {
        NavigableMap<Long, V> rows = Objects.requireNonNull(index.get(key));
        rows.remove(which);
        if (rows.isEmpty()) {
            index.remove(key);
        }
    }

    /** Rows of an inode but fences, in the order of their numbers; the list is the caller's. */
    List<Row> of(long ino) {
        return rows(ino, inodes.get(ino));
    }

    /** An inode's locks that are held, in the order of their numbers; the list is the caller's. */
    List<Row> heldOf(long ino) {
        return rows(ino, held.get(ino));
    }

    private static List<Row> rows(long ino, @Nullable NavigableMap<Long, LockRecord> index) {
        List<Row> result = new ArrayList<>(index == null ? 0 : index.size());
        if (index != null) {
            index.forEach((number, lock) -> result.add(new Row(ino, number, lock)));
        }
        return result;
    }

    /** An inode's locks that are held, without a copy. */
    Collection<LockRecord> held(long ino) {
        NavigableMap<Long, LockRecord> rows = held.get(ino);
        return rows == null ? List.of() : rows.values();
    }

    /** What keeps a session from changing an inode, if anything does. */
    @Nullable Row fence(long session, long ino) {
        NavigableMap<Long, Row> rows = fences.get(ino);
        return rows == null ? null : rows.get(session);
    }

    /** An inode's fences; the list is the caller's. */
    List<Row> fencesOf(long ino) {
        return rows(fences.get(ino));
    }

    /** How many rows an inode has, without fences. */
    int countOf(long ino) {
        NavigableMap<Long, LockRecord> rows = inodes.get(ino);
        return rows == null ? 0 : rows.size();
    }

    int countOfSession(long session) {
        NavigableMap<Long, Row> rows = sessions.get(session);
        return rows == null ? 0 : rows.size();
    }

    /** Rows of a session in the order of their numbers; the list is the caller's. */
    List<Row> ofSession(long session) {
        return rows(sessions.get(session));
    }

    /** What an owner of fcntl(2) locks waits for. */
    List<Row> waitsOf(Owner owner) {
        return rows(waiting.get(owner));
    }

    private static List<Row> rows(@Nullable NavigableMap<Long, Row> index) {
        return index == null ? new ArrayList<>() : new ArrayList<>(index.values());
    }
}
