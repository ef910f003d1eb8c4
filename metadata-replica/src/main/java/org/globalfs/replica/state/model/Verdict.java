package org.globalfs.replica.state.model;

import java.util.List;

/** What one command of ring 0 means for one other partition. */
public sealed interface Verdict {

    /** Hybrid clock stamp of the command in ring 0 that led to this. */
    long timestamp();

    /**
     * Lock what the operation touches here and vote. A zero inode means that partition 0 does not
     * know it.
     *
     * @param source of inodes that move to another partition: the one that they leave
     * @param moves a directory gets another parent, or partition: all directories here keep their
     *     parents until the decision
     * @param starts directories from which the vote tells where their chain of parents leads
     */
    record Prepare(
            long timestamp,
            long transaction,
            long source,
            long target,
            byte[] command,
            boolean moves,
            List<Long> starts)
            implements Verdict {

        /** Of an operation that moves no directory. */
        public Prepare(long timestamp, long transaction, long source, long target, byte[] command) {
            this(timestamp, transaction, source, target, command, false, List.of());
        }
    }

    /**
     * Apply these effects and release the transaction's locks; transaction 0: there was no prepare.
     */
    record Commit(long timestamp, long transaction, List<Effect> effects) implements Verdict {}

    /** Release the transaction's locks. */
    record Abort(long timestamp, long transaction) implements Verdict {}
}
