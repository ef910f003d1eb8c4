package org.globalfs.multicast.log;

/**
 * One record of the log.
 *
 * <p>A kind below {@link #FIRST_INSTANCE_KIND} is <em>meta</em>: the newest of each (ring, kind) is
 * what counts, and it is carried forward when segments are trimmed. Other kinds belong to an
 * instance: the newest of each (ring, instance) counts, and can be read back until trimmed.
 */
public record StoredRecord(int ring, int kind, long ballot, long instance, byte[] payload) {

    /**
     * {@code ballot}: the acceptor's promise. The log carries forward the highest ballot of any of
     * the ring's records.
     */
    public static final int PROMISED = 1;

    /** {@code instance}: decided through here. */
    public static final int DECIDED_THROUGH = 2;

    /** {@code instance}: a checkpoint replaced everything through here. */
    public static final int START_AFTER = 3;

    /** {@code ballot} and {@code instance}: the acceptor takes part in the ballot from there on. */
    public static final int OPENED = 4;

    /**
     * {@code instance}: number of the incident in which the ring's earlier votes were lost; 0: none
     * that still matters.
     */
    public static final int VOTES_LOST = 5;

    /**
     * {@code instance}: decided through here; from the next one on the ring has this membership.
     */
    public static final int MEMBERS = 6;

    /**
     * {@code instance}: the log itself dropped everything of the ring through here, all of it
     * checkpointed and so decided.
     */
    public static final int TRIMMED = 48;

    public static final int FIRST_INSTANCE_KIND = 64;
    public static final int ACCEPTED = 64;
    public static final int CHOSEN = 65;

    /** Last record of a segment. */
    static final int SEAL = 63;

    public boolean isMeta() {
        return kind < FIRST_INSTANCE_KIND;
    }
}
