package org.globalfs.datastore.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.HeldCode;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a store: where each is, how many there are and how coded, for whom they are kept,
 * and which were found damaged. Any thread reads; changes are made under the store's index lock.
 */
final class ChunkTable {
    private final ChunkIndex index;
    private final SegmentFolder files;
    private final FaultPoints faults;
    private final Set<ChunkKey> corrupt = ConcurrentHashMap.newKeySet();
    private volatile Counts counts = new Counts();
    private volatile @Nullable ChunkKey drawn;

    /** What all chunks come to. */
    private static final class Counts {
        final Map<Code, AtomicLong> codes = new ConcurrentHashMap<>();
        final Map<String, NavigableSet<ChunkKey>> handoffs = new ConcurrentHashMap<>();
        final AtomicLong liveBytes = new AtomicLong();
        final AtomicLong chunks = new AtomicLong();
    }

    private record Code(int region, int dataChunks, int parityChunks) {
        static Code of(ChunkShape shape) {
            return new Code(shape.region(), shape.dataChunks(), shape.parityChunks());
        }
    }

    ChunkTable(ChunkIndex index, SegmentFolder files, FaultPoints faults) {
        this.index = index;
        this.files = files;
        this.faults = faults;
    }

    /** At the start, of a row that is in the index already. */
    void found(ChunkKey key, ChunkIndex.Row row) {
        noteAdded(counts, key, row.dataBytes(), row.shape(), row.home());
    }

    /**
     * What is in the index now is all there is: it was made anew. Nobody sees a part of it counted:
     * a node that is drained would be taken for empty.
     */
    void recount() {
        Counts fresh = new Counts();
        index.forEach(
                (key, row) -> noteAdded(fresh, key, row.dataBytes(), row.shape(), row.home()));
        counts = fresh;
        corrupt.removeIf(key -> index.get(key) == null);
    }

    @Nullable ChunkLocation location(ChunkKey key) {
        faults.lookingUp(key);
        ChunkIndex.Row row = index.get(key);
        return row == null ? null : location(row);
    }

    /** Whether the chunk is here, and not known to be damaged. */
    boolean has(ChunkKey key) {
        return location(key) != null && !corrupt.contains(key);
    }

    /** Null: its segment has just gone, as all in it was dead. */
    private @Nullable ChunkLocation location(ChunkIndex.Row row) {
        SegmentFile segment = files.segment(row.segment());
        return segment == null
                ? null
                : new ChunkLocation(
                        segment,
                        row.offset(),
                        row.recordBytes(),
                        row.dataBytes(),
                        row.shape(),
                        row.home());
    }

    /** The chunk is at this place from now on; returns where it was. */
    @Nullable ChunkLocation replace(ChunkKey key, ChunkLocation location) {
        ChunkLocation old = location(key);
        index.put(key, location.row());
        noteAdded(counts, key, location.dataBytes(), location.shape(), location.home());
        if (old != null) {
            noteRemoved(key, old, location.home());
        }
        return old;
    }

    /** As {@link #replace}, where only the place changes. */
    void relocate(ChunkKey key, ChunkLocation to) {
        index.put(key, to.row());
    }

    /** Returns where the chunk was; null: it was nowhere. */
    @Nullable ChunkLocation remove(ChunkKey key) {
        ChunkLocation old = location(key);
        if (old != null) {
            index.remove(key);
            noteRemoved(key, old, null);
            corrupt.remove(key);
        }
        return old;
    }

    private void noteAdded(
            Counts to, ChunkKey key, int bytes, ChunkShape shape, @Nullable String home) {
        to.chunks.incrementAndGet();
        to.codes.computeIfAbsent(Code.of(shape), code -> new AtomicLong()).incrementAndGet();
        long all = Math.max(1, to.liveBytes.addAndGet(bytes));
        if (ThreadLocalRandom.current().nextLong(all) < bytes) {
            drawn = key;
        }
        if (home != null) {
            to.handoffs.computeIfAbsent(home, node -> new ConcurrentSkipListSet<>()).add(key);
        }
    }

    private void noteRemoved(ChunkKey key, ChunkLocation location, @Nullable String nowKeptFor) {
        Counts from = counts;
        from.chunks.decrementAndGet();
        AtomicLong coded = from.codes.get(Code.of(location.shape()));
        if (coded != null) {
            coded.decrementAndGet();
        }
        from.liveBytes.addAndGet(-location.dataBytes());
        String home = location.home();
        if (home != null && !home.equals(nowKeptFor)) {
            NavigableSet<ChunkKey> keys = from.handoffs.get(home);
            if (keys != null) {
                keys.remove(key);
            }
        }
    }

    /** Chunks after `after` (null: from the first) in key order. */
    List<Map.Entry<ChunkKey, ChunkLocation>> list(@Nullable ChunkKey after, int limit) {
        List<Map.Entry<ChunkKey, ChunkLocation>> found = new ArrayList<>();
        List<Map.Entry<ChunkKey, ChunkIndex.Row>> rows = index.list(after, limit);
        while (!rows.isEmpty() && found.size() < limit) {
            for (Map.Entry<ChunkKey, ChunkIndex.Row> row : rows) {
                ChunkLocation location = location(row.getValue());
                if (location != null) {
                    found.add(Map.entry(row.getKey(), location));
                }
            }
            rows =
                    found.size() == rows.size()
                            ? List.of()
                            : index.list(rows.getLast().getKey(), limit - found.size());
        }
        return found;
    }

    /** The chunk that is the last one in key order; null: there is none. */
    @Nullable ChunkKey last() {
        return index.last();
    }

    /**
     * One of all that were ever added, by chance, and each byte of them as likely to be in it: it
     * may be gone. Null: there was none.
     */
    @Nullable ChunkKey drawn() {
        return drawn;
    }

    long chunks() {
        return counts.chunks.get();
    }

    /** How its chunks are coded. */
    List<HeldCode> codes() {
        List<HeldCode> held = new ArrayList<>();
        counts.codes.forEach((code, count) -> {
            if (count.get() > 0) {
                held.add(
                        new HeldCode(code.region, code.dataChunks, code.parityChunks, count.get()));
            }
        });
        return held;
    }

    /** Bytes of chunks that can be read. */
    long liveBytes() {
        return counts.liveBytes.get();
    }

    /** Nodes that chunks are kept for, and those chunks. */
    Map<String, NavigableSet<ChunkKey>> handoffs() {
        return counts.handoffs;
    }

    /** How many are kept for some of those nodes. */
    long handoffChunks(Predicate<String> homes) {
        long sum = 0;
        for (Map.Entry<String, NavigableSet<ChunkKey>> kept : counts.handoffs.entrySet()) {
            sum += homes.test(kept.getKey()) ? kept.getValue().size() : 0;
        }
        return sum;
    }

    /** Chunks that were found damaged and are not mended yet. */
    Set<ChunkKey> corrupt() {
        return corrupt;
    }
}
