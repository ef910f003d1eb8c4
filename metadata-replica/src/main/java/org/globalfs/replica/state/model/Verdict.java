package org.globalfs.replica.state.model;

import java.util.List;

/** What one command of ring 0 means for one other partition. */
public sealed interface Verdict {

    /** Hybrid clock stamp of the command in ring 0 that led to this. */
    long timestamp();

    /**
     * Lock what the operation touches here and vote. A zero inode means that partition 0 does not
     * know it.
     */
    record Prepare(long timestamp, long transaction, long source, long target, byte[] command)
            implements Verdict {}

    /**
     * Apply these effects and release the transaction's locks; transaction 0: there was no prepare.
     */
    record Commit(long timestamp, long transaction, List<Effect> effects) implements Verdict {}

    /** Release the transaction's locks. */
    record Abort(long timestamp, long transaction) implements Verdict {}
}
