package org.globalfs.client.meta;

/**
 * A reply and where it came from.
 *
 * @param partition whose state answered
 * @param replica who answered; -1: nobody did before the time-out, and the reply is this client's
 *     own EIO
 * @param sentNs when the answered attempt was sent, in {@link System#nanoTime} terms: leases count
 *     from here
 */
public record Answer<R>(R reply, int partition, int replica, long sentNs) {

    public boolean answered() {
        return replica >= 0;
    }
}
