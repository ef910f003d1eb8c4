package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.core.LogSummary;
import org.globalfs.multicast.core.PersistedState;
import org.jspecify.annotations.Nullable;

/**
 * A ring member's log: a crash keeps what was synced and a random part of what was appended after
 * it.
 */
class SimDisk {

    /** An instance's newest batch, and the end of the log after which it was first written. */
    private record Stored(Batch batch, long end) {}

    private final List<LogRecord> records = new ArrayList<>();
    private final Map<Long, Stored> newest = new HashMap<>();
    private int durable;
    private long trimmed;
    private long firstAvailable = 1;

    /** Whether messages that must wait for the disk do. */
    boolean waitsForSync() {
        return true;
    }

    void append(List<LogRecord> appended) {
        for (LogRecord record : appended) {
            records.add(record);
            index(record, end());
        }
    }

    private void index(LogRecord record, long end) {
        switch (record) {
            case LogRecord.Accepted a -> store(a.instance(), a.batch(), end);
            case LogRecord.Chosen c -> store(c.instance(), c.batch(), end);
            case LogRecord.StartAfter s ->
                    firstAvailable = Math.max(firstAvailable, s.instance() + 1);
            case LogRecord.Promised p -> {}
            case LogRecord.Opened o -> {}
            case LogRecord.DecidedThrough d -> {}
            case LogRecord.VotesLost v -> {}
            case LogRecord.Members m -> {}
        }
    }

    private void store(long instance, Batch batch, long end) {
        Stored former = newest.get(instance);
        if (former == null || !former.batch.equals(batch)) {
            newest.put(instance, new Stored(batch, end));
        }
    }

    /** Whether the disk was replaced, and what was on the old one matters after a crash now. */
    boolean votesLost() {
        PersistedState.Replay replay = new PersistedState.Replay();
        records.subList(0, durable).forEach(replay::add);
        return replay.state().incident() != 0;
    }

    /** Whether a crash now would leave the instance with this batch. */
    boolean durable(long instance, Batch batch) {
        Stored stored = newest.get(instance);
        return stored != null && stored.end <= trimmed + durable && stored.batch.equals(batch);
    }

    /** Counts every record ever appended, trimmed ones included. */
    long end() {
        return trimmed + records.size();
    }

    void synced(long end) {
        durable = Math.max(durable, (int) (end - trimmed));
    }

    void crash(Simulation simulation) {
        keep(durable + simulation.below(records.size() - durable + 1));
    }

    /** The worst crash: keeps nothing that was not synced. */
    void lose() {
        keep(durable);
    }

    /** The disk is replaced by an empty one; the state machine's is not. */
    void replace(long incident, long applied, long lastTimestamp, @Nullable Membership membership) {
        trimmed += records.size();
        records.clear();
        newest.clear();
        append(
                List.of(
                        new LogRecord.VotesLost(incident),
                        new LogRecord.StartAfter(applied, lastTimestamp, membership)));
        durable = records.size();
    }

    private void keep(int kept) {
        records.subList(kept, records.size()).clear();
        durable = kept;
        newest.clear();
        long end = trimmed;
        for (LogRecord record : records) {
            index(record, ++end);
        }
    }

    PersistedState recover() {
        PersistedState.Replay replay = new PersistedState.Replay();
        records.forEach(replay::add);
        return replay.state();
    }

    /**
     * Drops the oldest durable records that concern nothing beyond the instance, as whole segments
     * would be; and nothing that what is durable does not say to be decided.
     */
    void trim(long checkpointed) {
        long through = trimmable(checkpointed);
        LogSummary summary = new LogSummary();
        long last = 0;
        int count = 0;
        while (count < durable && instance(records.get(count)) <= through) {
            summary.add(records.get(count));
            last = Math.max(last, instance(records.get(count)));
            count++;
        }
        List<LogRecord> head = summary.records();
        if (count > head.size()) {
            records.subList(0, count).clear();
            records.addAll(0, head);
            trimmed += count - head.size();
            durable -= count - head.size();
            firstAvailable = Math.max(firstAvailable, last + 1);
            newest.keySet().removeIf(instance -> instance < firstAvailable);
        }
    }

    /** What may go of what a checkpoint covers. */
    long trimmable(long checkpointed) {
        LogSummary whole = new LogSummary();
        records.subList(0, durable).forEach(whole::add);
        return Math.min(checkpointed, whole.decided());
    }

    private static long instance(LogRecord record) {
        return switch (record) {
            case LogRecord.Accepted a -> a.instance();
            case LogRecord.Chosen c -> c.instance();
            case LogRecord.StartAfter s -> s.instance();
            case LogRecord.Promised p -> 0;
            case LogRecord.Opened o -> 0;
            case LogRecord.DecidedThrough d -> d.instance();
            case LogRecord.VotesLost v -> 0;
            case LogRecord.Members m -> m.instance();
        };
    }

    long firstAvailable() {
        return firstAvailable;
    }

    /** The newest batches of {@code from}..{@code through}, stopping at a hole. */
    List<Batch> read(long from, long through) {
        List<Batch> batches = new ArrayList<>();
        for (long instance = from; instance <= through; instance++) {
            Stored stored = newest.get(instance);
            if (stored == null) {
                break;
            }
            batches.add(stored.batch);
        }
        return batches;
    }
}
