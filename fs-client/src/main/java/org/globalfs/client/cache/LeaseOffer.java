package org.globalfs.client.cache;

/**
 * What a reply says of this session's lease at a coordinator.
 *
 * @param replica the coordinator
 * @param number which of the leases that it gave this session one after the other; 0: it does not
 *     number them
 * @param sentNs when the request was sent, in {@link System#nanoTime} terms
 * @param ms how long the lease runs from then; 0: it grants nothing
 */
public record LeaseOffer(int replica, long number, long sentNs, int ms) {}
