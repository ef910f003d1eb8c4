package org.globalfs.multicast.core;

import org.globalfs.protocol.Invariant;

/** The core's side of the log: numbers the records and knows how far they are durable. */
final class Journal {

    private long appended;
    private long durable;

    /** The position of the record, which is durable once {@link #durable()} has reached it. */
    long append(LogRecord record, Effects effects) {
        effects.append(record, ++appended);
        return appended;
    }

    void onPersisted(long position) {
        Invariant.check(
                position <= appended,
                "log persisted to %s but only %s records were appended",
                position,
                appended);
        durable = Math.max(durable, position);
    }

    long appended() {
        return appended;
    }

    long durable() {
        return durable;
    }
}
