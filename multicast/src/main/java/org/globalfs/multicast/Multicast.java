package org.globalfs.multicast;

import java.util.concurrent.CompletableFuture;

/**
 * Ordered, durable broadcast to the rings this process belongs to. All methods may be called from
 * any thread and never block on the network or the disk.
 */
public interface Multicast extends AutoCloseable {

    /**
     * What {@link #coordinator} answers while no coordinator is known, and {@link #leaseInstance}
     * without a lease.
     */
    int NONE = -1;

    /**
     * Hands a value to the ring's coordinator, in this process or another. No promise of delivery:
     * a fail-over may lose it, and a retry may have it delivered twice, so the receiver's session
     * table makes it exactly-once.
     *
     * @param destinations the partitions concerned; read for ring 0 only, empty elsewhere
     * @return false: no coordinator known or its queue is full; try again later
     */
    boolean propose(int ring, byte[] value, int[] destinations);

    /**
     * As {@link #propose}, for what its proposer may order only as the ring's coordinator: if this
     * process is not, or stops to be before the value has its place, the value is dropped and not
     * handed on.
     */
    boolean proposeHere(int ring, byte[] value);

    /**
     * Has every learner of a group follow a further ring, from the same place of the merged order
     * on. Like a proposed value, it may be lost, and be asked for again.
     *
     * @param through a ring that the group follows already, which orders it
     * @param from where the learners begin to count: a position, not far back, that a learner of
     *     the ring has; {@link RingPosition#start} in a new ring. What is before the subscription's
     *     own place in the merged order is not delivered.
     */
    boolean subscribe(int through, int group, RingPosition from);

    /** Has every learner of a group follow the ring no longer; the last one cannot be left. */
    boolean unsubscribe(int through, int group, int ring);

    /** Replica id of the ring's coordinator as far as known here, or {@link #NONE}. */
    int coordinator(int ring);

    /**
     * The term in which this process coordinates the ring: another number each time that it becomes
     * the coordinator; {@link #NONE} while it is not. What {@link #proposeHere} took in a term is
     * executed, once, unless the term ends before.
     */
    long term(int ring);

    default boolean isCoordinator(int ring) {
        return term(ring) != NONE;
    }

    /**
     * Linearizable read point: state that executed this instance reflects every command
     * acknowledged before this call. {@link #NONE}: this process is not the coordinator or holds no
     * lease now.
     */
    long leaseInstance(int ring);

    /**
     * The same without a lease, for a round trip to a majority: the instance once it is confirmed,
     * {@link #NONE} if this process is not the coordinator, or does not stay it until then. A
     * majority that does not answer keeps it waiting until the coordinator steps down.
     */
    CompletableFuture<Long> readIndex(int ring);

    /**
     * Milliseconds for which nobody else can become coordinator; 0 without lease. What grants may
     * rely on.
     */
    long leaseRemainingMs(int ring);

    RingStatus status(int ring);

    /** Who takes part in the ring, as far as this process has learned. */
    Membership membership(int ring);

    /**
     * Begins a change of a ring's membership, if this process is its coordinator. A change that is
     * {@link MembershipChange.Result#PROPOSED} may still be undone by a fail-over: {@link
     * #membership} tells when it is in force.
     */
    CompletableFuture<MembershipChange.Outcome> change(int ring, MembershipChange change);

    /**
     * The state of the ring up to this instance is durable outside the log, which may be trimmed up
     * to there.
     */
    void checkpointed(int ring, long instance);

    /**
     * The merged state is durable outside the logs up to there. Of rings that it does not follow,
     * everything may be trimmed.
     */
    void checkpointed(MergePosition position);

    /**
     * While true, the log keeps nothing beyond need, neither for peers that lag nor for itself:
     * others want the disk's space. Takes effect as the log is trimmed. Peers that live but execute
     * nothing hold the logs of all members back, unless the coordinator's is kept short.
     */
    void keepLogShort(boolean isShort);

    /**
     * The state of ring 0 executed this instance: {@link ImportSource} may now have more to import.
     */
    void globalExecuted(long instance);

    /** Stops delivery, closes connections and the log. Waits until every thread ended. */
    @Override
    void close();
}
