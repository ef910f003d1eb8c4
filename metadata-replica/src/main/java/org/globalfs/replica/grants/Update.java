package org.globalfs.replica.grants;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.replica.grants.Footprint.Name;

/** A session's update, from its beginning to when its session has settled it. */
public final class Update {

    /** A grant that was asked back, and the recall's number. */
    record Demand(Session session, long number) {}

    final long session;
    final long sequence;
    final List<Name> names;
    final Set<Long> inodes = new HashSet<>();
    final List<Demand> demands = new ArrayList<>();

    /**
     * What the session held of {@code inodes} when the update was executed, and still does: until
     * it has the answer it believes there what was before.
     */
    final Set<Long> stale = new HashSet<>();

    /** Of the table's clock. */
    long stamp;

    long endedAt;

    /** It may have been proposed. */
    volatile boolean admitted;

    boolean executed;
    boolean refused;

    /** Another session has read one of {@code inodes} since it began. */
    boolean seen;

    private volatile boolean ended;

    Update(long session, long sequence, List<Name> names) {
        this.session = session;
        this.sequence = sequence;
        this.names = names;
    }

    public boolean ended() {
        return ended;
    }

    void end(long clock) {
        endedAt = clock;
        ended = true;
    }
}
