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
import org.jspecify.annotations.Nullable;

/**
 * Shares of undecided coordinated operations, in memory and in {@link Table#INTENT}, and the locks
 * they hold.
 */
final class Intents {

    private final MutableRecords records;
    private final Locks locks = new Locks();
    private final Homes homes;
    private final Map<Long, Prepared> prepared = new TreeMap<>();

    /** What is held does not leave, so this stays true as long as it is held. */
    private final Map<Long, Held> held = new HashMap<>();

    /** Made once: a vote can carry a cargo, and is asked for after every instance. */
    private @Nullable List<VoteOp> votes;

    Intents(MutableRecords records, Homes homes) {
        this.records = records;
        this.homes = homes;
        records.scan(
                Table.INTENT,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    long transaction = Keys.getLong(key, 0);
                    Prepared share = Prepared.decode(value);
                    hold(transaction, share);
                    return true;
                });
    }

    Locks locks() {
        return locks;
    }

    private void hold(long transaction, Prepared share) {
        prepared.put(transaction, share);
        votes = null;
        held.put(transaction, Held.of(share, homes));
        locks.hold(transaction, share.locks());
    }

    void add(long transaction, Prepared share) {
        hold(transaction, share);
        records.put(Table.INTENT, Keys.of(transaction), share.encode());
    }

    /** Lets go of what the transaction holds; nothing happens when it holds nothing. */
    void remove(long transaction) {
        Prepared share = prepared.remove(transaction);
        if (share != null) {
            votes = null;
            held.remove(transaction);
            locks.release(share.locks());
            records.delete(Table.INTENT, Keys.of(transaction));
        }
    }

    /** What each undecided operation may change here. */
    Map<Long, Held> held() {
        return held.isEmpty() ? Map.of() : Map.copyOf(held);
    }

    /** Whether an undecided operation may change the inode, or a name in it. */
    boolean touches(long ino) {
        return held.values().stream().anyMatch(each -> each.inodes().contains(ino));
    }

    /**
     * This partition's votes on what it has not heard the decision of; the same list until there
     * are others.
     */
    List<VoteOp> votes(int partition) {
        List<VoteOp> known = votes;
        if (known == null) {
            List<VoteOp> made = new ArrayList<>();
            prepared.forEach((transaction, share) -> {
                Facts facts = share.facts();
                VoteOp vote = new VoteOp(transaction, partition, Math.max(0, facts.refusal()));
                vote.setDetail(facts.encode());
                made.add(vote);
            });
            known = List.copyOf(made);
            votes = known;
        }
        return known;
    }
}
