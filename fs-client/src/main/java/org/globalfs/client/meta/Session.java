package org.globalfs.client.meta;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One client's identity to the replicated state: numbers its updates, knows which are answered and
 * which are settled, and what was seen. Any thread may use it.
 *
 * <p>An update is <i>settled</i> once its answer has reached all who read through this session: the
 * caches say what it says, or nothing.
 */
public final class Session {

    /** Longer than an update that nobody waits for any more can be under way. */
    private static final long ABANDONED_NS = 150_000_000_000L;

    private static final int MAX_UNSETTLED = 1_000;

    /** The innermost of this thread, of whichever session. */
    private static final ThreadLocal<@Nullable Taking> TAKING = new ThreadLocal<>();

    private final long id;
    private final SessionVector vector = new SessionVector();
    private final TreeSet<Long> unanswered = new TreeSet<>();
    private final TreeSet<Long> unsettled = new TreeSet<>();

    /** Unsettled ones that are not waited for: their threads wait. */
    private final Set<Long> deferring = new HashSet<>();

    private final Map<Long, Long> abandonedUntilNs = new HashMap<>();
    private long lastSequence;

    /**
     * Which updates are settled: those of sequences lower than {@code below}, except {@code
     * unsettled}.
     */
    public record Settled(long below, List<Long> unsettled) {}

    /** To be closed by the thread that opened it, once it has passed on what it was answered. */
    public final class Taking implements AutoCloseable {
        private final @Nullable Taking outer;
        private final List<Long> answered = new ArrayList<>(1);

        private Taking(@Nullable Taking outer) {
            this.outer = outer;
        }

        @Override
        public void close() {
            if (outer == null) {
                TAKING.remove();
            } else {
                TAKING.set(outer);
            }
            Taking wider = of(outer);
            if (wider == null) {
                settle(answered);
            } else {
                wider.answered.addAll(answered);
            }
        }

        private boolean isOf(Session session) {
            return session == Session.this;
        }
    }

    /** To be closed by the thread that opened it. */
    public final class Deferring implements AutoCloseable {
        private final List<Long> sequences;

        private Deferring(List<Long> sequences) {
            this.sequences = sequences;
        }

        @Override
        public void close() {
            synchronized (Session.this) {
                sequences.forEach(deferring::remove);
            }
        }
    }

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

    /** The sequence of a new update, which counts as unanswered and unsettled from now on. */
    public synchronized long nextSequence() {
        lastSequence++;
        unanswered.add(lastSequence);
        unsettled.add(lastSequence);
        return lastSequence;
    }

    /**
     * The update got its reply. It is settled with that, or, if this thread is {@link #taking},
     * when that ends.
     */
    public void answered(long sequence) {
        synchronized (this) {
            unanswered.remove(sequence);
        }
        Taking open = of(TAKING.get());
        if (open == null) {
            settle(List.of(sequence));
        } else {
            open.answered.add(sequence);
        }
    }

    /**
     * Nobody waits for the update's reply any more: should it still come to a replica after a later
     * update of this session, it is refused there. Until then it may take effect.
     */
    public synchronized void abandoned(long sequence) {
        unanswered.remove(sequence);
        abandonedUntilNs.put(sequence, System.nanoTime() + ABANDONED_NS);
    }

    /** Every lower sequence is answered. */
    public synchronized long answeredBelow() {
        return unanswered.isEmpty() ? lastSequence + 1 : unanswered.first();
    }

    /** What this thread is answered until this is closed is settled then. */
    public Taking taking() {
        Taking opened = new Taking(TAKING.get());
        TAKING.set(opened);
        return opened;
    }

    /**
     * This thread is about to wait for requests of others that are under way. Until that is closed
     * {@link #awaitSettled} does not wait for what this thread was answered: they would wait for
     * each other.
     */
    public Deferring deferring() {
        List<Long> sequences = new ArrayList<>(1);
        for (Taking open = of(TAKING.get()); open != null; open = of(open.outer)) {
            sequences.addAll(open.answered);
        }
        synchronized (this) {
            deferring.addAll(sequences);
            notifyAll();
        }
        return new Deferring(sequences);
    }

    /** The innermost of this session. */
    private @Nullable Taking of(@Nullable Taking innermost) {
        Taking taking = innermost;
        while (taking != null && !taking.isOf(this)) {
            taking = taking.outer;
        }
        return taking;
    }

    private synchronized void settle(List<Long> sequences) {
        sequences.forEach(unsettled::remove);
        notifyAll();
    }

    /** Returns once these are settled, or {@link #deferring}, or after {@code limitNs}. */
    public synchronized void awaitSettled(Collection<Long> sequences, long limitNs)
            throws InterruptedException {
        long deadlineNs = System.nanoTime() + limitNs;
        for (long leftNs = limitNs;
                leftNs > 0 && sequences.stream().anyMatch(this::isAwaited);
                leftNs = deadlineNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        }
    }

    private synchronized boolean isAwaited(long sequence) {
        return unsettled.contains(sequence) && !deferring.contains(sequence);
    }

    /** As seen by everyone. */
    public Settled settled() {
        return settled(Set.of());
    }

    /**
     * As seen by this thread, which knows what it was answered; nobody waits for abandoned ones.
     */
    public synchronized Settled settledHere() {
        Set<Long> known = new HashSet<>(abandonedUntilNs.keySet());
        for (Taking open = of(TAKING.get()); open != null; open = of(open.outer)) {
            known.addAll(open.answered);
        }
        return settled(known);
    }

    private synchronized Settled settled(Set<Long> known) {
        if (!abandonedUntilNs.isEmpty()) {
            long nowNs = System.nanoTime();
            abandonedUntilNs
                    .entrySet()
                    .removeIf(abandoned -> {
                        boolean over = nowNs - abandoned.getValue() >= 0;
                        if (over) {
                            unsettled.remove(abandoned.getKey());
                        }
                        return over;
                    });
        }
        List<Long> some =
                unsettled.stream()
                        .filter(sequence -> !known.contains(sequence))
                        .limit(MAX_UNSETTLED)
                        .toList();
        long below = some.size() < MAX_UNSETTLED ? lastSequence + 1 : some.getLast() + 1;
        return new Settled(below, some);
    }
}
