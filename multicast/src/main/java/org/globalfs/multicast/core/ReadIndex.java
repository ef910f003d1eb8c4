package org.globalfs.multicast.core;

/**
 * A read without a lease, waiting for its coordinator to be confirmed. It sees everything that was
 * acknowledged before it began once a majority has answered a heartbeat that was sent after: none
 * of them had promised a higher ballot by then, so nobody else had acknowledged anything.
 *
 * @param ballot of the coordinator
 * @param sinceNs when it began, by the coordinator's clock
 * @param instance whose execution the read must wait for as well
 */
public record ReadIndex(Ballot ballot, long sinceNs, long instance) {

    /** What is known of it. */
    public enum State {
        WAITING,
        CONFIRMED,
        /** The coordinator is none any more: the read must begin anew. */
        LOST
    }
}
