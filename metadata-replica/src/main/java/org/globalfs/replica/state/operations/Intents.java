package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;

/**
 * Shares of undecided coordinated operations, in memory and in {@link Table#INTENT}, and the locks
 * they hold.
 */
final class Intents {

    private final MutableRecords records;
    private final Locks locks = new Locks();
    private final Map<Long, Prepared> prepared = new TreeMap<>();

    Intents(MutableRecords records) {
        this.records = records;
        records.scan(
                Table.INTENT,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    long transaction = Keys.getLong(key, 0);
                    Prepared share = Prepared.decode(value);
                    prepared.put(transaction, share);
                    locks.hold(transaction, share.locks());
                    return true;
                });
    }

    Locks locks() {
        return locks;
    }

    void add(long transaction, Prepared share) {
        prepared.put(transaction, share);
        locks.hold(transaction, share.locks());
        records.put(Table.INTENT, Keys.of(transaction), share.encode());
    }

    /** Lets go of what the transaction holds; nothing happens when it holds nothing. */
    void remove(long transaction) {
        Prepared share = prepared.remove(transaction);
        if (share != null) {
            locks.release(share.locks());
            records.delete(Table.INTENT, Keys.of(transaction));
        }
    }

    /** What each undecided operation may change here. */
    Map<Long, Held> held(int partition) {
        if (prepared.isEmpty()) {
            return Map.of();
        }
        Map<Long, Held> held = new HashMap<>();
        prepared.forEach((transaction, share) -> held.put(transaction, Held.of(share, partition)));
        return held;
    }

    /** This partition's votes on what it has not heard the decision of. */
    List<VoteOp> votes(int partition) {
        List<VoteOp> votes = new ArrayList<>();
        prepared.forEach((transaction, share) -> {
            VoteOp vote = new VoteOp(transaction, partition, Math.max(0, share.facts().refusal()));
            vote.setDetail(share.facts().encode());
            votes.add(vote);
        });
        return votes;
    }
}
