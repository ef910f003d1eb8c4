package org.globalfs.multicast.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.AcceptedValue;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a recovered log into each ring's state, as {@link PersistedState.Replay}
 * does, but keeps votes as bytes until they are known to be above the decided prefix, because all
 * but the last few of a long log are below it.
 */
final class RecoveredRings {
    private static final class Ring {
        private final TreeMap<Long, StoredRecord> accepted = new TreeMap<>();
        private final TreeMap<Long, StoredRecord> unopened = new TreeMap<>();
        private long promised;
        private long opened;
        private long base = 1;
        private long decided;
        private long lastTimestamp;
        private long incident;
        private @Nullable Membership membership;

        /** The newest membership is said by nothing that outlives trimming. */
        private LogRecord.@Nullable Members unmarked;

        void add(StoredRecord record) {
            promised = Math.max(promised, record.ballot());
            switch (record.kind()) {
                case StoredRecord.ACCEPTED -> {
                    if (record.instance() > decided) {
                        (record.ballot() == opened ? accepted : unopened)
                                .put(record.instance(), record);
                    }
                }
                case StoredRecord.OPENED -> {
                    if (record.ballot() > opened) {
                        open(record);
                    }
                }
                case StoredRecord.CHOSEN -> {
                    Batch batch = LogCodec.batch(record);
                    Membership newest = batch.membership();
                    if (members(record.instance(), newest) && newest != null) {
                        unmarked = new LogRecord.Members(record.instance(), newest);
                    }
                    decidedThrough(record.instance(), batch.lastTimestamp());
                }
                case StoredRecord.START_AFTER -> {
                    marked(record.instance(), LogCodec.startMembership(record));
                    decidedThrough(record.instance(), LogCodec.timestamp(record));
                }
                case StoredRecord.DECIDED_THROUGH ->
                        decidedThrough(record.instance(), LogCodec.timestamp(record));
                // The record that calls the dropped votes decided may not have reached the disk.
                case StoredRecord.TRIMMED -> decidedThrough(record.instance(), 0);
                case StoredRecord.VOTES_LOST -> incident = record.instance();
                case StoredRecord.MEMBERS -> marked(record.instance(), LogCodec.membership(record));
                default -> {}
            }
        }

        private void open(StoredRecord record) {
            opened = record.ballot();
            base = record.instance();
            witness(accepted.tailMap(base, true));
            accepted.tailMap(base, true).clear();
            witness(unopened);
            unopened.values().removeIf(vote -> vote.ballot() != opened);
            accepted.putAll(unopened);
            unopened.clear();
        }

        private void marked(long instance, @Nullable Membership newest) {
            members(instance, newest);
            if (unmarked != null
                    && newest != null
                    && newest.generation() >= unmarked.membership().generation()) {
                unmarked = null;
            }
        }

        /** Whether the membership is newer than those of earlier records. */
        private boolean members(long instance, @Nullable Membership newest) {
            if (newest != null
                    && (membership == null || newest.generation() > membership.generation())) {
                membership = newest;
                promised = Math.max(promised, LogCodec.pack(new Ballot(newest.generation(), 0, 0)));
                witness(accepted);
                accepted.clear();
                witness(unopened);
                unopened.clear();
                decidedThrough(instance, 0);
                return true;
            }
            return false;
        }

        /**
         * Votes that are given up count for the clock all the same; decided ones are in the record
         * that says so.
         */
        private void witness(Map<Long, StoredRecord> votes) {
            for (StoredRecord vote : votes.values()) {
                lastTimestamp = Math.max(lastTimestamp, LogCodec.batch(vote).lastTimestamp());
            }
        }

        private void decidedThrough(long instance, long timestamp) {
            decided = Math.max(decided, instance);
            lastTimestamp = Math.max(lastTimestamp, timestamp);
            accepted.headMap(decided, true).clear();
            unopened.headMap(decided, true).clear();
        }

        PersistedState state() {
            witness(accepted);
            witness(unopened);
            List<AcceptedValue> votes = new ArrayList<>(accepted.size());
            for (StoredRecord vote : accepted.values()) {
                votes.add(
                        new AcceptedValue(
                                vote.instance(),
                                LogCodec.unpack(vote.ballot()),
                                LogCodec.batch(vote)));
            }
            return new PersistedState(
                    LogCodec.unpack(promised),
                    LogCodec.unpack(opened),
                    base,
                    decided,
                    lastTimestamp,
                    votes,
                    incident,
                    membership);
        }
    }

    private final Map<Integer, Ring> rings = new HashMap<>();

    void add(StoredRecord record) {
        rings.computeIfAbsent(record.ring(), r -> new Ring()).add(record);
    }

    /**
     * The rings whose newest membership only the record of its instance tells, because the process
     * stopped between that record and the next: to be appended, as the former may be trimmed.
     */
    Map<Integer, LogRecord> unmarkedMemberships() {
        Map<Integer, LogRecord> unmarked = new HashMap<>();
        rings.forEach((number, ring) -> {
            if (ring.unmarked != null) {
                unmarked.put(number, ring.unmarked);
            }
        });
        return unmarked;
    }

    PersistedState state(int number) {
        Ring ring = rings.get(number);
        return ring == null ? PersistedState.FRESH : ring.state();
    }
}
