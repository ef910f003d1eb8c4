package org.globalfs.replica.state;

import java.util.List;

/**
 * A coordinated operation that partition 0 has prepared and not decided. A replica that sees it
 * undecided for too long proposes a DecideOp in ring 0, which aborts it.
 *
 * @param transaction instance and index of the prepare in ring 0
 * @param timestamp hybrid clock stamp of the prepare
 * @param missingVotes partitions that have not voted yet
 */
public record PendingTransaction(long transaction, long timestamp, List<Integer> missingVotes) {}
