package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;

/**
 * What the records appended so far promise for ever: each new segment of a log begins with it, so
 * that older ones can go.
 *
 * <p>A segment may go once a checkpoint covers all its instances <em>and</em> a summary or record
 * in the durable rest of the log says that they are decided: an acceptor that forgot a vote whose
 * instance it does not know to be decided would tell the next coordinator that the instance is
 * free.
 */
public final class LogSummary {

    private Ballot promised = Ballot.NONE;
    private Ballot opened = Ballot.NONE;
    private long base = 1;
    private long decided;
    private long lastTimestamp;
    private long incident;
    private LogRecord.@Nullable Members members;

    /** Takes each record once it is appended (or replayed), oldest first. */
    public void add(LogRecord record) {
        switch (record) {
            case LogRecord.Promised p -> promised = Ballot.max(promised, p.ballot());
            case LogRecord.Accepted a -> {
                promised = Ballot.max(promised, a.ballot());
                lastTimestamp = Math.max(lastTimestamp, a.batch().lastTimestamp());
            }
            case LogRecord.Opened o -> {
                opened = o.ballot();
                base = o.base();
            }
            case LogRecord.Chosen c -> {
                members(c.instance(), c.batch().membership());
                decided(c.instance(), c.batch().lastTimestamp());
            }
            case LogRecord.DecidedThrough d -> decided(d.instance(), d.lastTimestamp());
            case LogRecord.StartAfter s -> {
                members(s.instance(), s.membership());
                decided(s.instance(), s.lastTimestamp());
            }
            case LogRecord.VotesLost v -> incident = v.incident();
            case LogRecord.Members m -> {
                members(m.instance(), m.membership());
                decided(m.instance(), 0);
            }
        }
    }

    private void members(long instance, @Nullable Membership next) {
        if (next != null) {
            members = new LogRecord.Members(instance, next);
        }
    }

    private void decided(long instance, long timestamp) {
        decided = Math.max(decided, instance);
        lastTimestamp = Math.max(lastTimestamp, timestamp);
    }

    public long decided() {
        return decided;
    }

    public List<LogRecord> records() {
        List<LogRecord> records = new ArrayList<>();
        records.add(new LogRecord.Promised(promised));
        records.add(new LogRecord.Opened(opened, base));
        records.add(new LogRecord.DecidedThrough(decided, lastTimestamp));
        records.add(new LogRecord.VotesLost(incident));
        if (members != null) {
            records.add(members);
        }
        return records;
    }
}
