package org.globalfs.multicast.core;

import org.globalfs.multicast.Entry;

/**
 * How proposals find the coordinator: the one who is it queues them, everybody else sends them on,
 * if need be through another member. Any may be lost on the way, and whoever made it proposes
 * again; so nothing here matters to agreement. One thread's, as {@link RingCore}.
 */
final class Proposals {

    private final Elections elections;

    Proposals(Elections elections) {
        this.elections = elections;
    }

    /** As {@link RingCore#onPropose(byte[], int[], Effects)}. */
    boolean propose(byte[] value, int[] destinations, Effects effects) {
        Leadership leadership = elections.leadership();
        if (leadership != null) {
            return leadership.enqueue(value, destinations);
        }
        return forward(new Message.Forward(value, destinations), effects);
    }

    /** As {@link RingCore#onPropose(Entry, Effects)}. */
    boolean propose(Entry entry, Effects effects) {
        Leadership leadership = elections.leadership();
        if (leadership != null) {
            return leadership.enqueue(entry);
        }
        return forward(new Message.ForwardEntry(entry), effects);
    }

    private boolean forward(Message message, Effects effects) {
        int to = elections.proposalsGoTo();
        if (to >= 0) {
            effects.send(to, message);
        }
        return to >= 0;
    }

    void onForward(int from, Message.Forward m, long nowNs, Effects effects) {
        Leadership taking = elections.taking();
        if (taking != null) {
            taking.enqueue(m.value(), m.destinations());
        } else {
            passOn(from, m, nowNs, effects);
        }
    }

    void onForward(int from, Message.ForwardEntry m, long nowNs, Effects effects) {
        Leadership taking = elections.taking();
        boolean forAll = m.entry() instanceof Entry.Skip || m.entry() instanceof Entry.Subscription;
        if (taking == null) {
            passOn(from, m, nowNs, effects);
        } else if (forAll) {
            taking.enqueue(m.entry());
        }
    }

    /** Only while a coordinator is heard: nothing goes round for longer than a lease. */
    private void passOn(int from, Message proposal, long nowNs, Effects effects) {
        int coordinator = elections.heard(nowNs);
        if (coordinator >= 0 && coordinator != from) {
            effects.send(coordinator, proposal);
        }
    }
}
