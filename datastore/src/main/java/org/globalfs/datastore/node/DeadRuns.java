package org.globalfs.datastore.node;

import java.util.Arrays;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The dead runs of a segment, by offset: dead records that lie next to each other are one. There
 * are very many of them in all of a node's segments, so each takes 12 bytes, and some more only
 * until its header is on disk. Not thread-safe: the segment's monitor guards it.
 */
final class DeadRuns {
    private static final int FIELDS = 3;
    private static final int LENGTH = 1;
    private static final int PUNCHED = 2;

    /** Room for one in so many more is made at a time. */
    private static final int SPARE_PART = 8;

    /** Room for so many times as many is given back. */
    private static final int MOST_ROOM = 4;

    /** Offset, length and punched bytes of one after the other. */
    private int[] runs = new int[0];

    private int count;
    private long bytes;
    private long punchedBytes;

    /** Deaths that the headers of runs were last written for, by the runs' offsets. */
    private final TreeMap<Integer, Long> unsynced = new TreeMap<>();

    /**
     * Dead bytes that follow each other.
     *
     * @param offset where its header stands
     * @param length bytes from there on
     * @param punched bytes of it that the disk has got back
     */
    record Run(int offset, int length, int punched) {
        private int end() {
            return offset + length;
        }
    }

    int count() {
        return count;
    }

    /** Of all runs. */
    long bytes() {
        return bytes;
    }

    /** Bytes that the disk has got back. */
    long punchedBytes() {
        return punchedBytes;
    }

    /** In order of their offsets. */
    void forEach(Consumer<Run> visit) {
        for (int i = 0; i < count; i++) {
            visit.accept(run(i));
        }
    }

    /** Whether what lies there is dead. */
    boolean covers(int offset) {
        Run before = floor(offset);
        return before != null && before.end() > offset;
    }

    /** The last one that begins there or before; null: there is none. */
    @Nullable Run floor(int offset) {
        int at = firstFrom(offset + 1) - 1;
        return at < 0 ? null : run(at);
    }

    /** What a run will be that begins or grows by these bytes, of which none is dead yet. */
    Run joined(int offset, int length) {
        Run run = new Run(offset, length, 0);
        int next = firstFrom(offset);
        if (next > 0 && run(next - 1).end() == offset) {
            run = union(run(next - 1), run);
        }
        if (next < count && run(next).offset == run.end()) {
            run = union(run, run(next));
        }
        return run;
    }

    private static Run union(Run a, Run b) {
        return new Run(a.offset, a.length + b.length, a.punched + b.punched);
    }

    /** A run whose header is on disk, in place of those within it. */
    void put(Run run) {
        int from = firstFrom(run.offset);
        int to = firstFrom(run.end());
        for (int i = from; i < to; i++) {
            bytes -= runs[i * FIELDS + LENGTH];
            punchedBytes -= runs[i * FIELDS + PUNCHED];
        }
        unsynced.subMap(run.offset, run.end()).clear();
        replace(from, to);
        runs[from * FIELDS] = run.offset;
        runs[from * FIELDS + LENGTH] = run.length;
        runs[from * FIELDS + PUNCHED] = run.punched;
        bytes += run.length;
        punchedBytes += run.punched;
    }

    /**
     * As {@link #put(Run)}, of a run whose header is not on disk yet.
     *
     * @param death the number of the one that it was written for
     */
    void put(Run run, long death) {
        put(run);
        unsynced.put(run.offset, death);
    }

    /** The headers that were written for deaths up to this one are on disk. */
    void synced(long death) {
        unsynced.values().removeIf(of -> of <= death);
    }

    boolean isSynced(Run run) {
        return !unsynced.containsKey(run.offset);
    }

    /** The disk has got so much of a run back, in all. */
    void punched(Run run, int punched) {
        int at = firstFrom(run.offset);
        punchedBytes += punched - runs[at * FIELDS + PUNCHED];
        runs[at * FIELDS + PUNCHED] = punched;
    }

    /** Makes place for one where those from `from` to before `to` are. */
    private void replace(int from, int to) {
        int after = count + from + 1 - to;
        if (after * FIELDS > runs.length) {
            resize(after);
        }
        System.arraycopy(runs, to * FIELDS, runs, (from + 1) * FIELDS, (count - to) * FIELDS);
        count = after;
        if (after * FIELDS * MOST_ROOM < runs.length) {
            resize(after);
        }
    }

    private void resize(int forCount) {
        runs = Arrays.copyOf(runs, (forCount + forCount / SPARE_PART) * FIELDS);
    }

    private Run run(int at) {
        int first = at * FIELDS;
        return new Run(runs[first], runs[first + LENGTH], runs[first + PUNCHED]);
    }

    /** Index of the first one that begins there or behind. */
    private int firstFrom(int offset) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (runs[middle * FIELDS] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
