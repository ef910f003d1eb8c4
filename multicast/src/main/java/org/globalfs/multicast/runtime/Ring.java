package org.globalfs.multicast.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.RingStatus;
import org.globalfs.multicast.core.Effects;
import org.globalfs.multicast.core.ReadIndex;
import org.globalfs.multicast.core.RingCore;
import org.globalfs.multicast.wire.LogCodec;
import org.jctools.queues.MpscArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ring in this process: its core, which only the event loop touches, and what other threads may
 * know of it.
 */
final class Ring {
    private static final Logger log = LoggerFactory.getLogger(Ring.class);
    private static final int PROPOSALS = 8192;

    /** A coordinator whose learner lags by more instances takes nothing new. */
    private static final long MOST_UNDELIVERED = 16384;

    private static final int MOST_READS = 4096;

    /** Heartbeats wait for the end of a turn. */
    private static final int PROPOSED_BYTES_A_TURN = 4 << 20;

    final int number;

    /** To whom messages for all go: everybody but this process. */
    List<Integer> others;

    final RingCore core;
    final RingInput input;
    final Effects effects = new Effects();

    /**
     * @param handOn to the coordinator, when that is another process
     */
    private record Proposal(Entry entry, boolean handOn) {}

    private final MpscArrayQueue<Proposal> proposals = new MpscArrayQueue<>(PROPOSALS);

    /** Events came in since the last flush of the core. */
    boolean touched;

    /** The core took no more: what waits has no need to wake the loop. */
    private boolean stalled;

    private record WaitingRead(ReadIndex read, CompletableFuture<Long> answer) {}

    private final List<WaitingRead> reads = new ArrayList<>();

    private volatile int coordinator = Multicast.NONE;
    private int toldCoordinator = Multicast.NONE;
    private volatile int proposalsGoTo = Multicast.NONE;
    private volatile long term = Multicast.NONE;
    private volatile long leaseInstance = Multicast.NONE;
    private volatile long leaseUntilNs = Long.MIN_VALUE;
    private volatile long decided;
    private volatile long ballot;
    private volatile boolean rejoining;
    private final AtomicLong checkpointed = new AtomicLong();
    private volatile boolean isShort;
    private volatile Membership membership;
    private final int self;

    Ring(int number, int self, RingCore core, RingInput input) {
        this.number = number;
        this.self = self;
        this.membership = core.membership();
        this.others = membership.others(self);
        this.core = core;
        this.input = input;
        this.decided = core.decided();
        this.rejoining = core.rejoining();
    }

    // ---- any thread

    boolean offer(Entry entry, boolean handOn) {
        boolean swamped = leading() && decided - input.delivered() > MOST_UNDELIVERED;
        return !swamped
                && proposalsGoTo != Multicast.NONE
                && proposals.offer(new Proposal(entry, handOn));
    }

    int coordinator() {
        return coordinator;
    }

    int proposalsGoTo() {
        return proposalsGoTo;
    }

    boolean leading() {
        return term != Multicast.NONE;
    }

    /**
     * The ballot under which this replica coordinates; {@link Multicast#NONE} while it does not.
     */
    long term() {
        return term;
    }

    /**
     * The lease first, then the instance: an instance published later than the lease is only
     * further.
     */
    long leaseInstance(long nowNs) {
        return leaseUntilNs > nowNs ? leaseInstance : Multicast.NONE;
    }

    long leaseRemainingNs(long nowNs) {
        long untilNs = leaseUntilNs;
        // Compared first: from a coordinator's without a lease nothing can be subtracted.
        return leading() && untilNs > nowNs ? untilNs - nowNs : 0;
    }

    /** The learner needs no log through this instance any more. */
    void checkpointed(long instance) {
        checkpointed.accumulateAndGet(instance, Math::max);
    }

    /** While true, its log keeps nothing for members that lag. */
    void keepShort(boolean value) {
        isShort = value;
    }

    Membership membership() {
        return membership;
    }

    RingStatus status(long nowNs, long firstAvailable, Iterable<Integer> reachable) {
        List<Integer> connected = new ArrayList<>();
        connected.add(self);
        Membership now = membership;
        for (int peer : reachable) {
            if (now.contains(peer)) {
                connected.add(peer);
            }
        }
        connected.sort(null);
        return new RingStatus(
                number,
                now.generation(),
                now.acceptors(),
                now.learners(),
                coordinator,
                ballot,
                decided,
                input.delivered(),
                firstAvailable,
                leaseRemainingNs(nowNs) / 1_000_000,
                List.copyOf(connected),
                rejoining);
    }

    // ---- event loop

    /** Begins a read without a lease. */
    void read(long nowNs, CompletableFuture<Long> answer) {
        ReadIndex read = core.onRead(nowNs);
        if (read == null || reads.size() >= MOST_READS) {
            answer.complete((long) Multicast.NONE);
        } else {
            reads.add(new WaitingRead(read, answer));
        }
    }

    /** After {@link #publish}. */
    void answerReads() {
        reads.removeIf(waiting -> {
            ReadIndex.State state = core.state(waiting.read);
            if (state != ReadIndex.State.WAITING) {
                boolean confirmed = state == ReadIndex.State.CONFIRMED;
                waiting.answer.complete(confirmed ? waiting.read.instance() : Multicast.NONE);
            }
            return state != ReadIndex.State.WAITING;
        });
    }

    /** Before a tick. */
    void reportProgress() {
        core.onProgress(input.delivered(), checkpointed.get());
        core.keepShort(isShort);
    }

    /** Hands waiting proposals to the core, as many as it takes and one turn should. */
    void propose() {
        stalled = false;
        int bytes = 0;
        for (Proposal next = proposals.peek();
                next != null && bytes < PROPOSED_BYTES_A_TURN;
                next = proposals.peek()) {
            if (next.handOn || core.leading()) {
                if (!taken(next.entry)) {
                    stalled = true;
                    return;
                }
                bytes += next.entry instanceof Entry.Command command ? command.value().length : 0;
                touched = true;
            }
            proposals.poll();
        }
    }

    private boolean taken(Entry entry) {
        return entry instanceof Entry.Command command
                ? core.onPropose(command.value(), command.destinations(), effects)
                : core.onPropose(entry, effects);
    }

    boolean hasNewProposals() {
        return !stalled && !proposals.isEmpty();
    }

    /** Whether the ring's membership is another one than at the last call; then it is published. */
    boolean membershipChanged() {
        Membership now = core.membership();
        if (now.generation() == membership.generation()) {
            return false;
        }
        log.info("ring {}: its membership is now {}", number, now);
        membership = now;
        others = now.others(self);
        return true;
    }

    /**
     * Before anything decided is handed on, so that no command is acknowledged that a lease read
     * could miss.
     */
    void publish(long nowNs) {
        long remaining = core.leaseRemainingNs(nowNs);
        leaseInstance = core.leaseInstance(nowNs);
        leaseUntilNs = remaining > 0 ? nowNs + remaining : Long.MIN_VALUE;
        coordinator = core.coordinator();
        if (coordinator != toldCoordinator && coordinator != Multicast.NONE) {
            toldCoordinator = coordinator;
            log.info("ring {}: replica {} coordinates", number, coordinator);
        }
        proposalsGoTo = core.proposalsGoTo();
        decided = core.decided();
        ballot = LogCodec.pack(core.ballot());
        term = core.leading() ? ballot : Multicast.NONE;
        if (rejoining && !core.rejoining()) {
            rejoining = false;
            log.info("ring {}: this replica takes part again", number);
        }
    }
}
