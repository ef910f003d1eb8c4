package org.globalfs.multicast.core;

import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;

/**
 * What an acceptor keeps on disk, appended in the order in which it is emitted. After a crash the
 * log must be a prefix of what was appended, at least as long as the last completed sync; {@link
 * PersistedState} rebuilds the state from it.
 */
public sealed interface LogRecord {

    /** Whether the record may wait for the next sync that something else needs. */
    default boolean lazy() {
        return false;
    }

    /** No ballot below this one will get this acceptor's vote. */
    record Promised(Ballot ballot) implements LogRecord {}

    /**
     * A vote; it also promises its ballot. When an instance is decided, the newest record of it has
     * the decided value. A vote in a ballot that no {@link Opened} has named yet does not count
     * until one does.
     */
    record Accepted(long instance, Ballot ballot, Batch batch) implements LogRecord {}

    /**
     * The votes of this ballot before this record count from now on, together; those of earlier
     * ballots in {@code base} and above do not any more. Like a promise it must outlive the
     * trimming of the log.
     */
    record Opened(Ballot ballot, long base) implements LogRecord {}

    /**
     * A decided value learned from a peer: every instance through this one is decided, and in this
     * log unless trimmed.
     */
    record Chosen(long instance, Batch batch) implements LogRecord {}

    /**
     * Every instance through this one is decided, and its newest record in this log is the decided
     * value.
     */
    record DecidedThrough(long instance, long lastTimestamp) implements LogRecord {
        @Override
        public boolean lazy() {
            return true;
        }
    }

    /**
     * What this member promised and voted for before this record is lost, in the incident with this
     * number; with 0, it no longer matters. Like a promise it must outlive the trimming of the log.
     */
    record VotesLost(long incident) implements LogRecord {}

    /**
     * Everything through this instance is decided, and its newest record in this log is the decided
     * value; from the next one on the ring has this membership. Votes above the instance that were
     * given before are void. Comes before any other record that says that the instance is decided,
     * but a {@link Chosen} with the membership in it. Like a promise it must outlive the trimming
     * of the log.
     */
    record Members(long instance, Membership membership) implements LogRecord {}

    /**
     * A checkpoint replaced everything through this instance: what the log has of it need not be
     * decided or complete. With the newest membership in it, if any, as in {@link Members}.
     */
    record StartAfter(long instance, long lastTimestamp, @Nullable Membership membership)
            implements LogRecord {}
}
