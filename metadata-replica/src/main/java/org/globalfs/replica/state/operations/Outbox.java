package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Verdict;
import org.globalfs.replica.state.model.VerdictCodec;

/**
 * What the instance being executed in partition 0 means for other partitions, until it is stored
 * with the instance.
 */
final class Outbox {

    private final Map<Integer, List<Verdict>> verdicts = new TreeMap<>();
    private long timestamp;
    private long nowNs;

    /** The stamp and time of the command now executing. */
    void stamp(long commandTimestamp, long commandTimeNs) {
        timestamp = commandTimestamp;
        nowNs = commandTimeNs;
    }

    long nowNs() {
        return nowNs;
    }

    long timestamp() {
        return timestamp;
    }

    void send(int partition, Verdict verdict) {
        verdicts.computeIfAbsent(partition, key -> new ArrayList<>()).add(verdict);
    }

    /** Effects that partition 0 decided alone. */
    void effects(List<Effect> effects) {
        for (int partition : new TreeSet<>(effects.stream().map(Effect::partition).toList())) {
            List<Effect> own = effects.stream().filter(e -> e.partition() == partition).toList();
            send(partition, new Verdict.Commit(timestamp, 0, own));
        }
    }

    /** Stores everything sent under this instance. */
    void store(MutableRecords records, long instance) {
        verdicts.forEach((partition, list) ->
                records.put(
                        Table.VERDICT, Keys.of(partition, instance), VerdictCodec.encode(list)));
        verdicts.clear();
    }
}
