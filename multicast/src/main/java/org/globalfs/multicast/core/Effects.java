package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one or more events of one {@link RingCore} ask of its caller, who must
 *
 * <ol>
 *   <li>call {@link RingCore#flush} once after the events,
 *   <li>send {@link #sendNow} and append {@link #persist} to the log, in either order and without
 *       waiting,
 *   <li>when {@link #needsSync}: make the log durable through everything appended so far,
 *   <li>only then send {@link #sendAfterPersist}, and call {@link RingCore#onPersisted} with {@link
 *       #position}. (Without a sync, nothing is owed.)
 *   <li>deliver, answer reads; neither waits for the log, except that reads must see what was
 *       appended.
 * </ol>
 *
 * <p>Several sets of effects may wait for one sync. Messages may be lost; records must not.
 */
public final class Effects {

    private final List<LogRecord> persist = new ArrayList<>();
    private final List<Outbound> sendNow = new ArrayList<>();
    private final List<Outbound> sendAfterPersist = new ArrayList<>();
    private final List<Decision> deliver = new ArrayList<>();
    private final List<ReadDecided> reads = new ArrayList<>();
    private Message.@Nullable Voted vote;
    private int voteTo;
    private long position;
    private long behind = -1;
    private boolean sync;

    /** Records to append, in this order. */
    public List<LogRecord> persist() {
        return Collections.unmodifiableList(persist);
    }

    /** May leave before anything is durable. */
    public List<Outbound> sendNow() {
        return Collections.unmodifiableList(sendNow);
    }

    /**
     * Must not leave before everything in {@link #persist}, here and in earlier effects, is
     * durable.
     */
    public List<Outbound> sendAfterPersist() {
        if (vote == null) {
            return Collections.unmodifiableList(sendAfterPersist);
        }
        List<Outbound> all = new ArrayList<>(sendAfterPersist);
        all.add(new Outbound(voteTo, vote));
        return all;
    }

    /** Decided instances, consecutive, for the learner. */
    public List<Decision> deliver() {
        return Collections.unmodifiableList(deliver);
    }

    /** Catch-up requests of peers to be answered from the log. */
    public List<ReadDecided> reads() {
        return Collections.unmodifiableList(reads);
    }

    /**
     * The first instance still to be had anywhere, when this member needs a checkpoint; else -1.
     */
    public long behind() {
        return behind;
    }

    /**
     * Names the last record appended so far by the core; handed back in {@link
     * RingCore#onPersisted}.
     */
    public long position() {
        return position;
    }

    /** Whether something here waits for the log to be durable. */
    public boolean needsSync() {
        return sync || vote != null || !sendAfterPersist.isEmpty();
    }

    /** Makes the object ready for the next round of events. */
    public void clear() {
        persist.clear();
        sendNow.clear();
        sendAfterPersist.clear();
        deliver.clear();
        reads.clear();
        vote = null;
        behind = -1;
        sync = false;
    }

    void append(LogRecord record, long recordPosition) {
        persist.add(record);
        position = recordPosition;
        sync |= !record.lazy();
    }

    void send(int to, Message message) {
        sendNow.add(new Outbound(to, message));
    }

    void sendAfterPersist(int to, Message message) {
        sendAfterPersist.add(new Outbound(to, message));
    }

    /**
     * A vote replaces the one that still waits: votes are cumulative, and only the newest ballot's
     * matters.
     */
    void vote(int to, Message.Voted newest) {
        voteTo = to;
        vote = newest;
    }

    void deliver(Decision decision) {
        deliver.add(decision);
    }

    void read(ReadDecided read) {
        reads.add(read);
    }

    void behind(long firstAvailable) {
        behind = firstAvailable;
    }
}
