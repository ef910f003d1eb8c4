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
 */
final class LockTable {

    private final MutableRecords records;
    private final Map<Long, NavigableMap<Long, LockRecord>> inodes = new HashMap<>();
    private final TreeSet<Long> numbers = new TreeSet<>();

    /** Numbers of a session's rows, each with its inode. */
    private final Map<Long, NavigableMap<Long, Long>> sessions = new HashMap<>();

    /** What an owner of fcntl(2) locks waits for: inodes by the numbers of the rows. */
    private final Map<Owner, NavigableMap<Long, Long>> waiting = new HashMap<>();

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
        inodes.computeIfAbsent(row.ino, key -> new TreeMap<>()).put(row.number, row.lock);
        sessions.computeIfAbsent(row.lock.session(), key -> new TreeMap<>())
                .put(row.number, row.ino);
        if (waits(row.lock)) {
            waiting.computeIfAbsent(Owner.of(row.lock), key -> new TreeMap<>())
                    .put(row.number, row.ino);
        }
    }

    private static boolean waits(LockRecord lock) {
        return lock.is(State.WAITING) && lock.kind() == LockKind.POSIX;
    }

    boolean isEmpty() {
        return numbers.isEmpty();
    }

    void add(long ino, LockRecord lock) {
        long number = numbers.isEmpty() ? 1 : numbers.last() + 1;
        index(new Row(ino, number, lock));
        records.put(Table.FILE_LOCK, Keys.of(ino, number), lock.encode());
    }

    void remove(Row row) {
        numbers.remove(row.number);
        drop(inodes, row.ino, row.number);
        drop(sessions, row.lock.session(), row.number);
        if (waits(row.lock)) {
            drop(waiting, Owner.of(row.lock), row.number);
        }
        records.delete(Table.FILE_LOCK, Keys.of(row.ino, row.number));
    }

    private static <K, V> void drop(Map<K, NavigableMap<Long, V>> index, K key, long number) {
        NavigableMap<Long, V> rows = Objects.requireNonNull(index.get(key));
        rows.remove(number);
        if (rows.isEmpty()) {
            index.remove(key);
        }
    }

    /** Rows of an inode in the order of their numbers; the list is the caller's. */
    List<Row> of(long ino) {
        NavigableMap<Long, LockRecord> rows = inodes.get(ino);
        List<Row> result = new ArrayList<>(rows == null ? 0 : rows.size());
        if (rows != null) {
            rows.forEach((number, lock) -> result.add(new Row(ino, number, lock)));
        }
        return result;
    }

    /** An inode's locks, without a copy. */
    Collection<LockRecord> locks(long ino) {
        NavigableMap<Long, LockRecord> rows = inodes.get(ino);
        return rows == null ? List.of() : rows.values();
    }

    int countOf(long ino) {
        NavigableMap<Long, LockRecord> rows = inodes.get(ino);
        return rows == null ? 0 : rows.size();
    }

    int countOfSession(long session) {
        NavigableMap<Long, Long> rows = sessions.get(session);
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

    private List<Row> rows(@Nullable NavigableMap<Long, Long> index) {
        List<Row> result = new ArrayList<>(index == null ? 0 : index.size());
        if (index != null) {
            index.forEach((number, ino) ->
                    result.add(
                            new Row(
                                    ino,
                                    number,
                                    Objects.requireNonNull(
                                            Objects.requireNonNull(inodes.get(ino)).get(number)))));
        }
        return result;
    }
}
