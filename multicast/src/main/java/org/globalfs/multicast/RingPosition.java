package org.globalfs.multicast;

/**
 * How far a merged learner is in one ring.
 *
 * @param instance the last one taken; delivery goes on behind it
 * @param position the ring's logical position after that instance
 * @param from logical position below which the ring's instances are passed over instead of
 *     delivered, because their place in the merged order was before the subscription; 0 in a ring
 *     followed from the start
 */
public record RingPosition(int ring, long instance, long position, long from) {

    /** Before the first instance of a ring. */
    public static RingPosition start(int ring) {
        return new RingPosition(ring, 0, 0, 0);
    }
}
