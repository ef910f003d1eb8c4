package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Unpacker;

/**
 * A coordinated operation between its prepare and its decision, as partition 0 keeps it.
 *
 * @param participants partitions other than 0 that vote
 * @param votes what came in so far; partition 0's own is there from the start
 */
record Transaction(
        long id,
        long timestamp,
        byte[] command,
        Set<Integer> participants,
        Map<Integer, Facts> votes) {

    private static final int FORMAT = 1;

    List<Integer> missing() {
        List<Integer> missing = new ArrayList<>(participants);
        missing.removeAll(votes.keySet());
        return missing;
    }

    Facts facts() {
        Facts all = Facts.NONE;
        for (Facts facts : votes.values()) {
            all = all.with(facts);
        }
        return all;
    }

    /** Of inodes that move, and once all have voted: the partition that they leave. */
    OptionalInt source() {
        return votes.entrySet().stream()
                .filter(vote -> vote.getValue().cargo() != null)
                .mapToInt(Map.Entry::getKey)
                .findFirst();
    }

    byte[] encode() {
        Packer out =
                new Packer(128 + command.length)
                        .u8(FORMAT)
                        .i64(timestamp)
                        .blob(command)
                        .varint(participants.size());
        participants.forEach(out::varint);
        out.varint(votes.size());
        votes.forEach((partition, facts) -> out.varint(partition).blob(facts.encode()));
        return out.done();
    }

    static Transaction decode(long id, byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "transaction");
        long timestamp = in.i64();
        byte[] command = in.blob();
        Set<Integer> participants = new TreeSet<>();
        for (long left = in.varint(); left > 0; left--) {
            participants.add(in.varint32());
        }
        Map<Integer, Facts> votes = new TreeMap<>();
        for (long left = in.varint(); left > 0; left--) {
            votes.put(in.varint32(), Facts.decode(in.blob()));
        }
        return new Transaction(id, timestamp, command, participants, votes);
    }
}
