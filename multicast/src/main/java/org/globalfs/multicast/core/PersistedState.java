package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;

/**
 * An acceptor's state as its log tells it.
 *
 * @param membership the newest that is decided; null while it is the one that the ring began with
 * @param incident in which earlier votes were lost, see {@link LogRecord.VotesLost}; 0: none
 */
public record PersistedState(
        Ballot promised,
        Ballot opened,
        long base,
        long decided,
        long lastTimestamp,
        List<AcceptedValue> accepted,
        long incident,
        @Nullable Membership membership) {

    /** Of a member that never ran. */
    public static final PersistedState FRESH =
            new PersistedState(Ballot.NONE, Ballot.NONE, 1, 0, 0, List.of(), 0, null);

    public PersistedState {
        accepted = List.copyOf(accepted);
    }

    /** Takes the records of a log from its oldest to its newest. */
    public static final class Replay {
        private final TreeMap<Long, AcceptedValue> accepted = new TreeMap<>();
        private final TreeMap<Long, AcceptedValue> unopened = new TreeMap<>();
        private Ballot promised = Ballot.NONE;
        private Ballot opened = Ballot.NONE;
        private long base = 1;
        private long decided;
        private long lastTimestamp;
        private long incident;
        private @Nullable Membership membership;

        public void add(LogRecord record) {
            switch (record) {
                case LogRecord.Promised p -> promised = Ballot.max(promised, p.ballot());
                case LogRecord.Accepted a -> {
                    promised = Ballot.max(promised, a.ballot());
                    lastTimestamp = Math.max(lastTimestamp, a.batch().lastTimestamp());
                    if (a.instance() > decided) {
                        (a.ballot().equals(opened) ? accepted : unopened)
                                .put(
                                        a.instance(),
                                        new AcceptedValue(a.instance(), a.ballot(), a.batch()));
                    }
                }
                case LogRecord.Opened o -> {
                    if (o.ballot().above(opened)) {
                        open(o);
                    }
                }
                case LogRecord.Chosen c -> {
                    members(c.instance(), c.batch().membership());
                    decidedThrough(c.instance(), c.batch().lastTimestamp());
                }
                case LogRecord.DecidedThrough d -> decidedThrough(d.instance(), d.lastTimestamp());
                case LogRecord.StartAfter s -> {
                    members(s.instance(), s.membership());
                    decidedThrough(s.instance(), s.lastTimestamp());
                }
                case LogRecord.VotesLost v -> incident = v.incident();
                case LogRecord.Members m -> members(m.instance(), m.membership());
            }
        }

        private void open(LogRecord.Opened record) {
            opened = record.ballot();
            base = record.base();
            promised = Ballot.max(promised, opened);
            accepted.tailMap(base, true).clear();
            unopened.values().removeIf(value -> !value.ballot().equals(opened));
            accepted.putAll(unopened);
            unopened.clear();
        }

        private void members(long instance, @Nullable Membership next) {
            if (next != null
                    && (membership == null || next.generation() > membership.generation())) {
                membership = next;
                promised = Ballot.max(promised, Ballot.floor(next.generation()));
                accepted.clear();
                unopened.clear();
                decidedThrough(instance, 0);
            }
        }

        private void decidedThrough(long instance, long timestamp) {
            decided = Math.max(decided, instance);
            lastTimestamp = Math.max(lastTimestamp, timestamp);
            accepted.headMap(decided, true).clear();
            unopened.headMap(decided, true).clear();
        }

        public PersistedState state() {
            return new PersistedState(
                    promised,
                    opened,
                    base,
                    decided,
                    lastTimestamp,
                    new ArrayList<>(accepted.values()),
                    incident,
                    membership);
        }
    }
}
