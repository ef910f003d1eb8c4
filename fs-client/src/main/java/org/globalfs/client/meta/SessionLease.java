package org.globalfs.client.meta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The session's lease in each partition, as far as this client can be sure of it. It counts from
 * before a renewal was sent, and a part of it is left for clocks that do not run equally; the
 * partition counts all of it from the renewal's execution. So what ends with the lease has ended
 * here first.
 */
public final class SessionLease {

    private static final Logger LOG = LoggerFactory.getLogger(SessionLease.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int MARGIN_PART = 8;

    private final MetadataClient client;
    private final Duration length;
    private final ConcurrentMap<Integer, Term> terms = new ConcurrentHashMap<>();
    private final Set<Integer> due = ConcurrentHashMap.newKeySet();
    private volatile Supplier<Set<Long>> openInodes = Set::of;
    private volatile IntConsumer lapsed = partition -> {};

    /** The lease in one partition. The monitor is held while it is renewed. */
    private static final class Term {
        final int partition;
        final List<Long> known = new ArrayList<>();
        volatile long untilNs;
        volatile boolean begun;
        volatile boolean over;
        long lapses = -1;

        Term(int partition) {
            this.partition = partition;
        }
    }

    public SessionLease(MetadataClient client, Duration length) {
        this.client = client;
        this.length = length;
    }

    /** Which inodes the session holds open, as renewals say. */
    public void claims(Supplier<Set<Long>> inodes) {
        openInodes = inodes;
    }

    /**
     * Called when the lease in a partition has, or may have, run out: locks there are lost. Must
     * not block.
     */
    public void onLapse(IntConsumer action) {
        lapsed = action;
    }

    public Duration length() {
        return length;
    }

    MetadataClient client() {
        return client;
    }

    private Term term(int partition) {
        return terms.computeIfAbsent(partition, Term::new);
    }

    /** Whether nobody can have ended the lease yet. */
    public boolean runs(int partition) {
        Term term = terms.get(partition);
        return term != null && term.begun && System.nanoTime() - term.untilNs < 0;
    }

    /** Renews when less than half is left; false: it runs no more, and nobody answers. */
    public boolean ensure(int partition, Patience patience) {
        Term term = term(partition);
        long halfNs = length.toNanos() / 2;
        if (term.begun && term.untilNs - System.nanoTime() > halfNs) {
            return true;
        }
        return renew(partition, List.of(), patience) || runs(partition);
    }

    /** The outcome of a lock request that waited was learned; the next renewal or lock says so. */
    public void know(int partition, long request) {
        Term term = term(partition);
        synchronized (term.known) {
            term.known.add(request);
        }
    }

    /** Outcomes to tell with the next command. */
    public List<Long> takeKnown(int partition) {
        Term term = term(partition);
        synchronized (term.known) {
            List<Long> taken = List.copyOf(term.known);
            term.known.clear();
            return taken;
        }
    }

    /** Nobody answered the command that was to tell these. */
    public void giveBackKnown(int partition, List<Long> taken) {
        Term term = term(partition);
        synchronized (term.known) {
            term.known.addAll(taken);
        }
    }

    /**
     * Renews the lease in one partition.
     *
     * @param unfenced inodes whose locks were lost and of which nothing written before is under way
     * @return false: nobody answered
     */
    public boolean renew(int partition, Collection<Long> unfenced, Patience patience) {
        Term term = term(partition);
        synchronized (term) {
            expire(term);
            List<Long> open = new ArrayList<>();
            for (long ino : openInodes.get()) {
                if (client.homes().of(ino) == partition) {
                    open.add(ino);
                }
            }
            List<Long> known = takeKnown(partition);
            RenewSessionOp op =
                    new RenewSessionOp(open)
                            .setLeaseMs((int) length.toMillis())
                            .setKnown(known)
                            .setUnfenced(List.copyOf(unfenced));
            long sentNs = System.nanoTime();
            Answer<UpdateReply> answer =
                    client.update(partition, SYSTEM, UpdateOp.renewSession(op), patience);
            if (!answer.answered() || answer.reply().getErrno() != 0) {
                giveBackKnown(partition, known);
                LOG.warn(
                        "session {} is not renewed in partition {}: {}",
                        client.session().id(),
                        partition,
                        answer.answered()
                                ? "errno " + answer.reply().getErrno()
                                : "nobody answers");
                return false;
            }
            long lapses = answer.reply().getLapses();
            if (term.lapses >= 0 && lapses > term.lapses && !term.over) {
                lapsed.accept(partition);
            }
            if (answer.reply().isSetHomes()) {
                due.addAll(answer.reply().getHomes().values());
            }
            term.lapses = lapses;
            term.untilNs = sentNs + length.toNanos() / MARGIN_PART * (MARGIN_PART - 1);
            term.begun = true;
            term.over = false;
            return true;
        }
    }

    /** Partitions to which inodes that are open have moved: they do not know that yet. */
    Set<Integer> takeDue() {
        Set<Integer> taken = new TreeSet<>(due);
        due.removeAll(taken);
        return taken;
    }

    /** Looks for leases that have run out without an answer to any renewal. */
    public void check() {
        terms.values().forEach(this::expire);
    }

    private void expire(Term term) {
        if (term.begun && !term.over && System.nanoTime() - term.untilNs >= 0) {
            term.over = true;
            LOG.warn(
                    "the lease of session {} in partition {} has run out",
                    client.session().id(),
                    term.partition);
            lapsed.accept(term.partition);
        }
    }

    /** Partitions in which the session has done anything that a renewal keeps. */
    Set<Integer> partitions() {
        Set<Integer> result = new TreeSet<>(client.updatedPartitions());
        result.addAll(terms.keySet());
        for (long ino : openInodes.get()) {
            result.add(client.homes().of(ino));
        }
        return result;
    }

    /** Ends the session in one partition. */
    void end(int partition, Patience patience) {
        RenewSessionOp op = new RenewSessionOp(List.of()).setEnded(true);
        Answer<?> answer = client.update(partition, SYSTEM, UpdateOp.renewSession(op), patience);
        if (!answer.answered()) {
            LOG.warn(
                    "session {} is not ended in partition {}: nobody answers; its lease ends",
                    client.session().id(),
                    partition);
        }
    }
}
