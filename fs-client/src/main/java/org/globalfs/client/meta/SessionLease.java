package org.globalfs.client.meta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
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
 *
 * <p>Of each partition one renewal is under way at a time, so that none that says less of what is
 * open comes after one that says more. Whoever else wants one waits for its turn no longer than it
 * has patience for.
 */
public final class SessionLease {

    private static final Logger LOG = LoggerFactory.getLogger(SessionLease.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int MARGIN_PART = 8;
    private static final int RENEWALS_A_LEASE = 3;

    /**
     * However long the lease is: replicas collect a file a minute after its unlink, unless they
     * have heard meanwhile that it is open.
     */
    private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(20);

    private static final long CANCELLED_POLL_NS = 50_000_000;
    private static final int NOBODY_ANSWERS = -1;

    /** Others wait for their turn, and a mount may have very many files open. */
    private static final long FINDING_NS = 2_000_000_000;

    private final MetadataClient client;
    private final Duration length;
    private final Duration interval;
    private final ConcurrentMap<Integer, Term> terms = new ConcurrentHashMap<>();
    private volatile Supplier<Set<Long>> openInodes = Set::of;
    private volatile IntConsumer lapsed = partition -> {};

    /** The lease in one partition. */
    private static final class Term {
        final int partition;
        final List<Long> known = new ArrayList<>();

        /** Held while a renewal is under way; fair, as one follows another while nobody answers. */
        final ReentrantLock renewing = new ReentrantLock(true);

        volatile boolean due;
        volatile long sentNs;
        volatile long untilNs;
        volatile boolean begun;
        private boolean over;
        private boolean complained;

        /** Guarded by {@link #renewing}. */
        private long lapses = -1;

        /** The last inode that was looked for elsewhere; guarded by {@link #renewing}. */
        private long sought;

        Term(int partition) {
            this.partition = partition;
        }

        /** Whether that has happened just now. */
        synchronized boolean runsOut() {
            return begun && System.nanoTime() - untilNs >= 0 && lapse();
        }

        /** False: it is known already. */
        synchronized boolean lapse() {
            boolean news = !over;
            over = true;
            return news;
        }

        /** Whether the log is to say that it cannot be renewed: once until it is. */
        synchronized boolean complain() {
            boolean news = !complained;
            complained = true;
            return news;
        }

        /** Whether the log had said that it cannot be. */
        synchronized boolean renewed(long sent, long until) {
            boolean again = complained;
            sentNs = sent;
            untilNs = until;
            begun = true;
            over = false;
            complained = false;
            return again;
        }
    }

    public SessionLease(MetadataClient client, Duration length) {
        this.client = client;
        this.length = length;
        Duration part = length.dividedBy(RENEWALS_A_LEASE);
        this.interval = part.compareTo(LONGEST_INTERVAL) < 0 ? part : LONGEST_INTERVAL;
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

    /** How often it is to be renewed, and how long one attempt may take. */
    public Duration interval() {
        return interval;
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
        BooleanSupplier enough = () -> term.begun && term.untilNs - System.nanoTime() > halfNs;
        return enough.getAsBoolean() || renew(term, List.of(), patience, enough) || runs(partition);
    }

    /** Whether a renewal was answered that was sent after that. */
    public boolean renewedSince(int partition, long ns) {
        Term term = terms.get(partition);
        return term != null && term.begun && term.sentNs - ns > 0;
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
     * @return false: nobody answered, or it was refused
     */
    public boolean renew(int partition, Collection<Long> unfenced, Patience patience) {
        return renew(term(partition), unfenced, patience, () -> false);
    }

    /**
     * @param enough the renewal of somebody else before has made this one needless
     */
    private boolean renew(
            Term term, Collection<Long> unfenced, Patience patience, BooleanSupplier enough) {
        int errno = NOBODY_ANSWERS;
        while (errno == NOBODY_ANSWERS && begin(term, patience)) {
            try {
                errno = enough.getAsBoolean() ? 0 : tryRenew(term, unfenced, patience);
            } finally {
                term.renewing.unlock();
            }
        }
        if (errno != 0 && term.complain()) {
            LOG.warn(
                    "session {} is not renewed in partition {}: {}",
                    client.session().id(),
                    term.partition,
                    errno == NOBODY_ANSWERS ? "nobody answers" : "errno " + errno);
        }
        return errno == 0;
    }

    /** Waits until no other renewal is under way. False: no longer. */
    private static boolean begin(Term term, Patience patience) {
        try {
            while (!patience.over()) {
                long waitNs = Math.clamp(patience.leftNs(), 1, CANCELLED_POLL_NS);
                if (term.renewing.tryLock(waitNs, TimeUnit.NANOSECONDS)) {
                    return true;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /**
     * For an interval at most: then others have their turn, what is open is another thing, and an
     * update without an answer has replicas keep what they have answered this session since.
     *
     * @return the errno, or {@link #NOBODY_ANSWERS}
     */
    private int tryRenew(Term term, Collection<Long> unfenced, Patience patience) {
        expire(term);
        term.due = false;
        List<Long> open = openIn(term.partition);
        List<Long> known = takeKnown(term.partition);
        RenewSessionOp op =
                new RenewSessionOp(open)
                        .setLeaseMs((int) length.toMillis())
                        .setKnown(known)
                        .setUnfenced(List.copyOf(unfenced));
        long sentNs = System.nanoTime();
        long untilNs = sentNs + Math.min(patience.leftNs(), interval.toNanos());
        Answer<UpdateReply> answer =
                client.update(
                        term.partition,
                        SYSTEM,
                        UpdateOp.renewSession(op),
                        Patience.until(untilNs, patience::cancelled));
        int errno = answer.answered() ? answer.reply().getErrno() : NOBODY_ANSWERS;
        if (errno == 0) {
            renewed(term, sentNs, answer.reply());
        } else {
            giveBackKnown(term.partition, known);
        }
        if (errno == NOBODY_ANSWERS && term.partition != 0) {
            findOpen(term, patience);
        }
        return errno;
    }

    private List<Long> openIn(int partition) {
        List<Long> open = new ArrayList<>();
        for (long ino : openInodes.get()) {
            if (client.homes().of(ino) == partition) {
                open.add(ino);
            }
        }
        return open;
    }

    /**
     * What has left a partition that is silent must be claimed where it is, or it is collected
     * there once nothing names it. Goes on where it ended the last time.
     */
    private void findOpen(Term term, Patience patience) {
        NavigableSet<Long> open = new TreeSet<>(openIn(term.partition));
        List<Long> inTurn = new ArrayList<>(open.tailSet(term.sought, false));
        inTurn.addAll(open.headSet(term.sought, true));
        // The next renewal may be answered, and must not come too late for that.
        long untilNs = System.nanoTime() + Math.min(FINDING_NS, interval.toNanos() / 4);
        Patience finding = Patience.until(untilNs, patience::cancelled);
        for (long ino : inTurn) {
            if (finding.over() || !client.find(ino, finding)) {
                return;
            }
            term.sought = ino;
            int home = client.homes().of(ino);
            if (home != term.partition) {
                term(home).due = true;
            }
        }
    }

    private void renewed(Term term, long sentNs, UpdateReply reply) {
        long lapses = reply.getLapses();
        if (term.lapses >= 0 && lapses > term.lapses && term.lapse()) {
            lapsed.accept(term.partition);
        }
        term.lapses = lapses;
        if (reply.isSetHomes()) {
            reply.getHomes().values().forEach(home -> term(home).due = true);
        }
        long untilNs = sentNs + length.toNanos() / MARGIN_PART * (MARGIN_PART - 1);
        if (term.renewed(sentNs, untilNs)) {
            LOG.info(
                    "session {} is renewed in partition {} again",
                    client.session().id(),
                    term.partition);
        }
    }

    /** Partitions to which inodes that are open have moved: they do not know that yet. */
    Set<Integer> due() {
        Set<Integer> result = new TreeSet<>();
        for (Term term : terms.values()) {
            if (term.due) {
                result.add(term.partition);
            }
        }
        return result;
    }

    /** Looks for leases that have run out without an answer to any renewal. */
    public void check() {
        terms.values().forEach(this::expire);
    }

    private void expire(Term term) {
        if (term.runsOut()) {
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
