package org.globalfs.bench.multicast.member;

/** What is measured: an ordered, replicated log, seen from one of its members. */
interface MeasuredLog extends AutoCloseable {
    /** Answer of {@link #coordinator} while none is known. */
    int NONE = -1;

    /** Called with each value that is acknowledged at this member. */
    @FunctionalInterface
    interface Acknowledged {
        void value(long id);
    }

    /** Hands a value in; false: not now. May be lost when the coordinator changes. */
    boolean propose(byte[] value);

    /** The member that orders, as far as known here, or {@link #NONE}. */
    int coordinator();

    @Override
    void close();
}
