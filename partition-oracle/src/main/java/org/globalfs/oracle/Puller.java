package org.globalfs.oracle;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.globalfs.oracle.policy.Budget;
import org.globalfs.oracle.policy.Choice;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.TreeMove;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves trees to this oracle's region, or gives them to all, one at a time. A move is nothing but
 * commands that each leave the tree whole, so an oracle that dies in one leaves nothing to be
 * undone: what is still elsewhere is chosen again, by whoever comes after it. One thread, but for
 * {@link #close}.
 */
final class Puller implements TreeMove.Access<IOException>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Puller.class);

    /** What stayed, or failed, is tried again after this long. */
    private static final long REST_MS = 60_000;

    /**
     * What stays for long, as in a quota, keeps what is used below it, too, and each of that is
     * asked for by itself.
     */
    private static final long LONGEST_REST_MS = 900_000;

    private static final int MOST_STAYS = 100_000;

    /** Whatever it was, the next tree would probably meet it too. */
    private static final long FAILURE_REST_MS = 10_000;

    private final UseMonitor monitor;
    private final BooleanSupplier rules;
    private final TreeReader tree;
    private final MoveCommands commands;
    private final int own;
    private final String region;
    private final LongSupplier clockMs;
    private final Map<Long, Long> resting = new HashMap<>();

    /** How long a tree rested last whose directory itself had to stay. */
    private final Map<Long, Long> stays = new HashMap<>();

    private final Map<MoveRule, Budgets> budgets = new HashMap<>();
    private long pausedUntilMs = Long.MIN_VALUE;
    private volatile boolean closed;

    private record Budgets(Budget inodes, Budget bytes) {
        boolean has(long nowMs) {
            return inodes.left(nowMs) > 0 && bytes.left(nowMs) > 0;
        }

        boolean isFull(long nowMs) {
            return inodes.isFull(nowMs) && bytes.isFull(nowMs);
        }
    }

    /**
     * @param own the partition of {@code region}
     * @param rules lets the monitor know which directories the rules are about now; false: it could
     *     not find them all
     */
    Puller(
            UseMonitor monitor,
            BooleanSupplier rules,
            TreeReader tree,
            MoveCommands commands,
            int own,
            String region,
            LongSupplier clockMs) {
        this.monitor = monitor;
        this.rules = rules;
        this.tree = tree;
        this.commands = commands;
        this.own = own;
        this.region = region;
        this.clockMs = clockMs;
    }

    /** Moves what is to be moved now. */
    void pull() {
        long nowMs = clockMs.getAsLong();
        resting.values().removeIf(untilMs -> untilMs <= nowMs);
        budgets.values().removeIf(budget -> budget.isFull(nowMs));
        if (closed || monitor.choices(resting::containsKey).isEmpty()) {
            return;
        }
        // What has come to be at a rule's path since they were looked for must not move along, nor
        // anything by rules that the policy does not have any more.
        if (!rules.getAsBoolean()) {
            return;
        }
        for (Choice choice : monitor.choices(resting::containsKey)) {
            if (closed || clockMs.getAsLong() < pausedUntilMs) {
                return;
            }
            if (budgets(choice.rule()).has(clockMs.getAsLong())) {
                pull(choice);
            }
        }
    }

    /** Rules with budgets that something is missing of, or was a moment ago. */
    int budgets() {
        return budgets.size();
    }

    private Budgets budgets(MoveRule rule) {
        return budgets.computeIfAbsent(
                rule,
                _ -> {
                    long nowMs = clockMs.getAsLong();
                    return new Budgets(
                            new Budget(rule.inodesAnHour(), nowMs),
                            new Budget(rule.bytesAnHour(), nowMs));
                });
    }

    private void pull(Choice choice) {
        long ino = choice.ino();
        Charge charge = new Charge(budgets(choice.rule()));
        try {
            int home = home(ino);
            if (choice.files()) {
                files(choice, charge);
                return;
            }
            if (home != choice.from()) {
                monitor.livesIn(ino, home);
                return;
            }
            String target = name(choice.to());
            LOG.info(
                    "directory {} is to live in {}: {} operations from here, {} from elsewhere"
                            + " ({})",
                    ino,
                    target,
                    Math.round(choice.own()),
                    Math.round(choice.others()),
                    choice.rule().text());
            TreeMove.Stayed stayed =
                    new TreeMove<>(this, choice.to(), charge, monitor.scope(ino, home)).pass(ino);
            if (stayed.some().contains(ino)) {
                LOG.info(
                        "directory {} has to stay for now: it is in a quota that stays, too large"
                                + " or in use by another operation",
                        ino);
                restLonger(ino);
                return;
            }
            stays.remove(ino);
            LOG.info(
                    "{} inodes below directory {} live in {} now{}",
                    charge.inodes,
                    ino,
                    target,
                    charge.goesOn() ? "" : "; the rest has to wait for its budget");
            if (!charge.goesOn()) {
                monitor.livesIn(ino, choice.to());
                return;
            }
            monitor.moved(ino, choice.to());
            if (stayed.count() > 0) {
                LOG.info(
                        "{} had to stay: locked, in a quota that stays, too large or on the way",
                        stayed.count());
                rest(ino, REST_MS);
                stayed.some().forEach(left -> rest(left, REST_MS));
            }
        } catch (IOException e) {
            LOG.warn(
                    "directory {} has not moved to {}: {}", ino, name(choice.to()), e.getMessage());
            // It may be gone, or its region away, for as long as its use is remembered.
            rest(ino, REST_MS);
            if (!(e instanceof RefusedException)) {
                pausedUntilMs = clockMs.getAsLong() + FAILURE_REST_MS;
            }
        }
    }

    /** Files that two directories name may be wanted in two regions: they do not go to and fro. */
    private void files(Choice choice, Charge charge) throws IOException {
        long ino = choice.ino();
        rest(ino, Math.max(REST_MS, choice.rule().residenceMs()));
        int to = choice.to();
        TreeMove<IOException> move =
                new TreeMove<>(this, to, charge, monitor.scope(ino, TreeMove.Scope.ANY));
        long stayed = move.files(ino).count();
        LOG.info(
                "{} files of directory {} live in {} now, too; {} had to stay",
                charge.inodes,
                ino,
                name(to),
                stayed);
    }

    private String name(int partition) {
        return partition == Topology.GLOBAL ? "all regions" : region;
    }

    private void rest(long ino, long durationMs) {
        resting.put(ino, clockMs.getAsLong() + durationMs);
    }

    private void restLonger(long ino) {
        if (stays.size() >= MOST_STAYS) {
            stays.clear();
        }
        long restMs = stays.merge(ino, REST_MS, (last, _) -> Math.min(2 * last, LONGEST_REST_MS));
        rest(ino, restMs);
    }

    /** Charges a move to its rule's budget. */
    private final class Charge implements TreeMove.Progress {
        private final Budgets budget;
        private long inodes;

        Charge(Budgets budget) {
            this.budget = budget;
        }

        @Override
        public void moved(long more) {
            inodes += more;
            budget.inodes.spend(more);
        }

        @Override
        public void content(long bytes) {
            budget.bytes.spend(bytes);
        }

        @Override
        public long room() {
            return budget.inodes.left(clockMs.getAsLong());
        }

        @Override
        public boolean goesOn() {
            return !closed && budget.has(clockMs.getAsLong());
        }
    }

    @Override
    public TreeMove.Answer read(long ino, ReadOp op) throws IOException {
        TreeMove.Answer answer = ask(ino, op);
        if (answer.reply().getErrno() != 0) {
            throw new RefusedException("inode " + ino + ": " + Errno.of(answer.reply().getErrno()));
        }
        return answer;
    }

    private int home(long ino) throws IOException {
        return read(ino, ReadOp.getAttributes(new GetAttributesOp(ino))).partition();
    }

    @Override
    public TreeMove.Answer ask(long ino, ReadOp op) throws IOException {
        // Most of what is asked for has just come here.
        TreeReader.Read read = tree.read(own, op);
        if (read == null) {
            throw new IOException("no replica says what inode " + ino + " is");
        }
        return new TreeMove.Answer(read.partition(), read.reply());
    }

    @Override
    public UpdateReply move(MoveOp op) throws IOException {
        return commands.move(op);
    }

    /** The move under way ends with its present command. */
    @Override
    public void close() {
        closed = true;
    }
}
