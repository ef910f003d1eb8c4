package org.globalfs.client.meta;

import java.security.SecureRandom;
import java.util.TreeSet;

/**
 * One client's identity to the replicated state: numbers its updates, knows which are answered, and
 * what was seen.
 */
public final class Session {

    private final long id;
    private final SessionVector vector = new SessionVector();
    private final TreeSet<Long> unanswered = new TreeSet<>();
    private long lastSequence;

    public Session(long id) {
        this.id = id;
    }

    /** A session of a new, random identity. */
    public static Session begin() {
        SecureRandom random = new SecureRandom();
        long id = 0;
        while (id == 0) {
            id = random.nextLong() & Long.MAX_VALUE;
        }
        return new Session(id);
    }

    public long id() {
        return id;
    }

    public SessionVector vector() {
        return vector;
    }

    /** The sequence of a new update, which counts as unanswered from now on. */
    public synchronized long nextSequence() {
        lastSequence++;
        unanswered.add(lastSequence);
        return lastSequence;
    }

    /**
     * The update got its reply, or nobody waits for one: should it still come to a replica after a
     * later update of this session, it is refused there.
     */
    public synchronized void answered(long sequence) {
        unanswered.remove(sequence);
    }

    /** Every lower sequence is answered. */
    public synchronized long answeredBelow() {
        return unanswered.isEmpty() ? lastSequence + 1 : unanswered.first();
    }
}
