package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Batch;
import org.jspecify.annotations.Nullable;

/**
 * A partition's replicated state, as small as the properties allow: how far it is, a hash of all it
 * executed, a register that every write moves on by one, and the session table that makes a write
 * take effect once. Partition 0 also keeps what it executed for those that import it.
 */
final class ModelState {

    /** The last write of a session, and the register after it. */
    record Reply(int sequence, long version) {}

    /** What executing a command says to whoever waits for it. */
    interface Answers {
        void executed(int session, Reply reply);
    }

    private final int partition;
    private final Checker checker;
    private long applied;
    private long importedThrough;
    private long lastTimestamp;
    private long version;
    private long hash = 17;
    private final TreeMap<Long, Membership> memberships;
    private final Map<Integer, Reply> sessions;
    private final List<Batch> executed;
    private final Map<Integer, Positions> concerning;

    ModelState(int partition, Checker checker) {
        this.partition = partition;
        this.checker = checker;
        this.memberships = new TreeMap<>();
        this.sessions = new HashMap<>();
        this.executed = new ArrayList<>();
        this.concerning = new HashMap<>();
    }

    private ModelState(ModelState other) {
        this.partition = other.partition;
        this.checker = other.checker;
        this.applied = other.applied;
        this.importedThrough = other.importedThrough;
        this.lastTimestamp = other.lastTimestamp;
        this.version = other.version;
        this.hash = other.hash;
        this.memberships = new TreeMap<>(other.memberships);
        this.sessions = new HashMap<>(other.sessions);
        this.executed = new ArrayList<>(other.executed);
        this.concerning = new HashMap<>();
        other.concerning.forEach((p, positions) -> concerning.put(p, new Positions(positions)));
    }

    ModelState copy() {
        return new ModelState(this);
    }

    long applied() {
        return applied;
    }

    long importedThrough() {
        return importedThrough;
    }

    long lastTimestamp() {
        return lastTimestamp;
    }

    /** The newest membership of the ring in what was executed through the instance, or null. */
    @Nullable Membership membershipAt(long instance) {
        Map.Entry<Long, Membership> newest = memberships.floorEntry(instance);
        return newest == null ? null : newest.getValue();
    }

    long version() {
        return version;
    }

    /** Partition 0: the next executed instance that concerns the partition, or -1. */
    long nextConcerning(int of, long after) {
        Positions positions = concerning.get(of);
        return positions == null ? -1 : positions.after(after);
    }

    /** The highest instance of ring 0 that must be executed before this batch can be. */
    static long needs(Batch batch) {
        long needs = 0;
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Import imported) {
                needs = Math.max(needs, imported.instance());
            }
        }
        return needs;
    }

    void execute(long instance, Batch batch, ModelState global, Answers answers) {
        Checker.check(instance == applied + 1, "executing " + instance + " after " + applied);
        applied = instance;
        for (Entry entry : batch.entries()) {
            switch (entry) {
                case Entry.Command command -> command(instance, command, answers);
                case Entry.Import imported -> executeImport(imported.instance(), global);
                case Entry.Noop _, Entry.Skip _, Entry.Subscription _ -> fold(1);
                case Entry.Members members -> {
                    memberships.put(instance, members.membership());
                    fold(members.membership().hashCode());
                }
            }
        }
        if (partition == 0) {
            executed.add(batch);
        }
        checker.executed(partition, applied, hash);
    }

    private void command(long instance, Entry.Command command, Answers answers) {
        Value value = Value.of(command.value());
        fold(command.timestamp());
        fold(value.id());
        lastTimestamp = command.timestamp();
        for (int destination : command.destinations()) {
            concerning.computeIfAbsent(destination, d -> new Positions()).add(instance);
        }
        if (value.session() != Value.NOBODY) {
            write(value, answers);
        }
    }

    private void write(Value value, Answers answers) {
        Reply last = sessions.getOrDefault(value.session(), new Reply(0, 0));
        Checker.check(
                value.sequence() <= last.sequence() + 1,
                "partition "
                        + partition
                        + " executes "
                        + value
                        + " but has only "
                        + last
                        + ": an acknowledged write is lost");
        if (value.sequence() == last.sequence() + 1) {
            last = new Reply(value.sequence(), ++version);
            sessions.put(value.session(), last);
            fold(version);
        } else {
            checker.coverage().count(Coverage.Kind.DUPLICATES_IGNORED);
        }
        if (value.sequence() == last.sequence()) {
            answers.executed(value.session(), last);
        }
    }

    /** Executes what concerns this partition, unless a take-over had it imported twice. */
    private void executeImport(long instance, ModelState global) {
        long expected = global.nextConcerning(partition, importedThrough);
        checker.importing(partition, instance, importedThrough);
        if (instance != expected) {
            checker.coverage().count(Coverage.Kind.DUPLICATES_IGNORED);
            return;
        }
        checker.coverage().count(Coverage.Kind.IMPORTS);
        importedThrough = instance;
        fold(instance);
        for (Entry entry : global.executed.get((int) instance - 1).entries()) {
            if (entry instanceof Entry.Command command) {
                for (int destination : command.destinations()) {
                    if (destination == partition) {
                        fold(Value.of(command.value()).id());
                    }
                }
            }
        }
    }

    private void fold(long what) {
        hash = (hash ^ what) * 0x100000001b3L;
        hash ^= hash >>> 29;
    }
}
