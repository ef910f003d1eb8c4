package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * Coordinated operations as partition 0 runs them. Prepare: partition 0 takes part itself, then
 * asks the others by a verdict. Each vote is a command in ring 0; the last one decides at once. A
 * DecideOp before that aborts: what is not known to be decided is aborted, so nothing needs to be
 * kept of aborted operations.
 */
final class Coordinator {

    private final MutableRecords records;
    private final Tree tree;
    private final Intents intents;
    private final Effects effects;
    private final Outbox outbox;
    private final Map<Long, Transaction> transactions = new TreeMap<>();

    Coordinator(
            MutableRecords records, Tree tree, Intents intents, Effects effects, Outbox outbox) {
        this.records = records;
        this.tree = tree;
        this.intents = intents;
        this.effects = effects;
        this.outbox = outbox;
        records.scan(
                Table.TRANSACTION,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    long id = Keys.getLong(key, 0);
                    transactions.put(id, Transaction.decode(id, value));
                    return true;
                });
    }

    Collection<Transaction> undecided() {
        return transactions.values();
    }

    @Nullable Transaction find(long id) {
        return transactions.get(id);
    }

    /**
     * Where the inodes of an operation are believed to be, after looking at the names that
     * partition 0 has.
     */
    private record Hints(long source, long target) {}

    private Hints hints(Command command) {
        long source = command.getExpectedSource();
        long target = command.getExpectedTarget();
        switch (command.getOp().getSetField()) {
            case UNLINK ->
                    source =
                            here(
                                    command.getOp().getUnlink().getParent(),
                                    command.getOp().getUnlink().getName(),
                                    source);
            case RENAME -> {
                RenameOp op = command.getOp().getRename();
                source = here(op.getParent(), op.getName(), source);
                target = here(op.getNewParent(), op.getNewName(), target);
            }
            case LINK -> source = command.getOp().getLink().getIno();
            default -> {}
        }
        return new Hints(source, target);
    }

    private long here(long parent, byte[] name, long expected) {
        if (!tree.isHere(parent)) {
            return expected;
        }
        Dentry dentry = tree.dentry(parent, name);
        return dentry == null ? 0 : dentry.ino();
    }

    private Set<Integer> participants(Command command, Hints hints) {
        Set<Integer> all = new TreeSet<>();
        if (command.isSetParticipants()) {
            all.addAll(command.getParticipants());
        }
        switch (command.getOp().getSetField()) {
            case UNLINK -> all.add(tree.home(command.getOp().getUnlink().getParent()));
            case RENAME -> {
                all.add(tree.home(command.getOp().getRename().getParent()));
                all.add(tree.home(command.getOp().getRename().getNewParent()));
            }
            case LINK -> all.add(tree.home(command.getOp().getLink().getNewParent()));
            default -> {}
        }
        all.add(tree.home(hints.source));
        all.add(tree.home(hints.target));
        all.removeIf(partition -> partition <= 0);
        return all;
    }

    /** Prepares; the reply when that already ends the operation, null when votes are awaited. */
    @Nullable UpdateReply prepare(long id, Command command, byte[] bytes) {
        if (command.getOp().isSetRename()) {
            RenameOp rename = command.getOp().getRename();
            Errno invalid = Rename.invalid(rename);
            if (invalid != null) {
                return Replies.failed(invalid);
            }
            if ((rename.getFlags() & Rename.WHITEOUT) != 0) {
                return Replies.failed(Errno.EXDEV);
            }
        }
        if (command.getOp().isSetMove()) {
            return prepareMove(id, command, bytes, false);
        }
        Hints hints = hints(command);
        boolean moves = DirectoryMove.isLikely(tree, command, hints.source, hints.target);
        return begin(
                new Round(id, bytes, hints, moves, participants(command, hints)),
                command,
                Facts.NONE);
    }

    /**
     * Inodes of one partition go to another; whoever else has some of them has its turn later.
     *
     * @param all everybody with directories has to agree
     */
    private @Nullable UpdateReply prepareMove(long id, Command command, byte[] bytes, boolean all) {
        MoveOp op = command.getOp().getMove();
        Errno refused = Relocation.refused(command, op);
        if (refused != null) {
            return Replies.failed(refused);
        }
        OptionalInt source = Relocation.source(tree.homes(), op);
        if (source.isEmpty()) {
            return Relocation.nothing();
        }
        int from = source.getAsInt();
        Facts facts = Facts.NONE;
        boolean everybody = all;
        if (from == 0) {
            Prepared own = Departure.prepare(records, tree, intents, op);
            facts = own.facts();
            Relocation relocation =
                    Relocation.of(tree, 0, op, Objects.requireNonNull(facts.cargo()));
            if (relocation.effects().isEmpty()) {
                return relocation.reply();
            }
            everybody |= relocation.firstBelow();
            intents.add(id, own);
        }
        Set<Integer> participants = new TreeSet<>(Set.of(from, op.getTo()));
        participants.remove(0);
        if (everybody) {
            participants.addAll(tree.others());
        }
        boolean holds = participants.containsAll(tree.others());
        Map<Integer, Facts> votes = new TreeMap<>(Map.of(0, facts));
        keep(new Transaction(id, outbox.timestamp(), bytes, participants, votes));
        Verdict prepare =
                new Verdict.Prepare(outbox.timestamp(), id, from, 0, bytes, holds, List.of());
        participants.forEach(partition -> outbox.send(partition, prepare));
        return null;
    }

    /** What one prepare begins with; participants may become more. */
    private record Round(
            long id, byte[] bytes, Hints hints, boolean moves, Set<Integer> participants) {}

    /**
     * @param known what an earlier round found out
     */
    private @Nullable UpdateReply begin(Round round, Command command, Facts known) {
        Hints hints = round.hints;
        Set<Integer> participants = round.participants;
        List<Long> starts = List.of();
        if (round.moves) {
            RenameOp op = command.getOp().getRename();
            DirectoryMove move = DirectoryMove.of(tree, op, hints.source, hints.target, known);
            starts = List.copyOf(move.starts());
            starts.forEach(start -> participants.add(tree.home(start)));
            if (DirectoryMove.isFirstBelow(tree, op, hints.source, hints.target)) {
                participants.addAll(tree.others());
            }
        }
        Participant.Task task =
                new Participant.Task(hints.source, hints.target, round.moves, starts);
        Prepared own = Participant.prepare(tree, intents.locks(), command, task);
        if (own.facts().refusal() != 0) {
            return refusal(command, own.facts(), participants);
        }
        Map<Integer, Facts> votes = new TreeMap<>();
        votes.put(0, own.facts());
        Transaction transaction =
                new Transaction(round.id, outbox.timestamp(), round.bytes, participants, votes);
        intents.add(round.id, own);
        if (participants.isEmpty()) {
            return decide(transaction, command, own.facts(), round.id);
        }
        keep(transaction);
        Verdict prepare =
                new Verdict.Prepare(
                        outbox.timestamp(),
                        round.id,
                        hints.source,
                        hints.target,
                        round.bytes,
                        round.moves,
                        starts);
        participants.forEach(partition -> outbox.send(partition, prepare));
        return null;
    }

    private void keep(Transaction transaction) {
        transactions.put(transaction.id(), transaction);
        records.put(Table.TRANSACTION, Keys.of(transaction.id()), transaction.encode());
    }

    /**
     * Counts a vote; the operation's reply when it was the last one, null otherwise.
     *
     * @param next number of the next round, if there has to be one
     */
    @Nullable UpdateReply vote(VoteOp op, Transaction transaction, Command command, long next) {
        int voter = op.getPartition();
        boolean expected =
                transaction.participants().contains(voter)
                        && !transaction.votes().containsKey(voter)
                        && op.isSetDetail();
        if (!expected) {
            return null;
        }
        transaction.votes().put(voter, Facts.decode(op.getDetail()));
        if (!transaction.missing().isEmpty()) {
            keep(transaction);
            return null;
        }
        return decide(transaction, command, transaction.facts(), next);
    }

    private @Nullable UpdateReply decide(
            Transaction transaction, Command command, Facts facts, long next) {
        if (facts.refusal() != 0) {
            abort(transaction);
            return refusal(command, facts, transaction.participants());
        }
        if (command.getOp().isSetMove()) {
            return relocate(transaction, command, facts, next);
        }
        Decision decision = Decision.of(command, facts, tree.homes());
        Errno refused = decision.refused();
        if (refused == null) {
            refused = effects.refused(decision.effects());
        }
        if (refused != null) {
            abort(transaction);
            return Replies.failed(refused);
        }
        if (command.getOp().isSetRename()
                && DirectoryMove.isCertain(command.getOp().getRename(), facts)) {
            return move(transaction, command, facts, decision, next);
        }
        return commit(transaction, command, facts, decision.effects());
    }

    /**
     * Inodes move, unless that takes the agreement of more than were asked: then those are asked
     * again together with the others, and hold what they held.
     */
    private @Nullable UpdateReply relocate(
            Transaction transaction, Command command, Facts facts, long next) {
        MoveOp op = command.getOp().getMove();
        OptionalInt from = transaction.source();
        if (from.isEmpty()) {
            // Prepared by a program of before moves could begin in partition 0.
            abort(transaction);
            return Replies.retry();
        }
        byte[] cargo = Objects.requireNonNull(facts.cargo());
        Relocation moved = Relocation.of(tree, from.getAsInt(), op, cargo);
        if (moved.firstBelow() && !transaction.participants().containsAll(tree.others())) {
            abort(transaction);
            return prepareMove(next, command, transaction.command(), true);
        }
        if (op.getTo() != 0) {
            tree.reckonWith(op.getTo());
        }
        commit(transaction, moved.effects());
        return moved.reply();
    }

    /**
     * A directory gets another parent: commits if the chains above its new place are known and held
     * still by everybody who has a part in them, and otherwise asks again whom it takes. The locks
     * of the round before are let go and taken anew within one instance or import, so that what it
     * found out stays true.
     */
    private @Nullable UpdateReply move(
            Transaction transaction, Command command, Facts facts, Decision decision, long next) {
        RenameOp op = command.getOp().getRename();
        long source = facts.source() == null ? 0 : facts.source().ino();
        long target = facts.target() == null ? 0 : facts.target().ino();
        DirectoryMove move = DirectoryMove.of(tree, op, source, target, facts);
        if (move.closesCycle() || move.starts().size() > DirectoryMove.MOST_STARTS) {
            abort(transaction);
            return Replies.failed(move.closesCycle() ? Errno.EINVAL : Errno.EXDEV);
        }
        Long holder = intents.locks().holder(new Locks.DirectoryMoves());
        boolean everybodyAsked =
                !DirectoryMove.isFirstBelow(tree, op, source, target)
                        || transaction.participants().containsAll(tree.others());
        boolean held = holder != null && holder == transaction.id() && everybodyAsked;
        if (held && move.isComplete()) {
            return commit(transaction, command, facts, decision.effects());
        }
        abort(transaction);
        return begin(
                new Round(
                        next,
                        transaction.command(),
                        new Hints(source, target),
                        true,
                        new TreeSet<>(transaction.participants())),
                command,
                facts);
    }

    /** What changes besides when directories of partition 0 come to lie in regional ones. */
    private List<Effect> withGlobalBelow(List<Effect> decided) {
        long count = tree.globalBelow();
        for (Effect effect : decided) {
            if (effect instanceof Effect.Renamed renamed && renamed.parent() != 0) {
                count -= isBelow(renamed.ino());
                count += isBelow(renamed.ino(), renamed.parent());
            } else if (effect instanceof Effect.DropLink drop) {
                count -= isBelow(drop.ino());
            }
        }
        if (count == tree.globalBelow()) {
            return decided;
        }
        List<Effect> all = new ArrayList<>(decided);
        all.add(new Effect.GlobalBelow(0, count));
        for (int partition : tree.others()) {
            all.add(new Effect.GlobalBelow(partition, count));
        }
        return all;
    }

    private int isBelow(long ino) {
        Inode inode = tree.isHere(ino) ? tree.existing(ino) : null;
        return inode == null ? 0 : isBelow(ino, inode.parent);
    }

    private int isBelow(long ino, long parent) {
        boolean directory = tree.isHere(ino) && tree.existing(ino).isDirectory();
        return directory && tree.home(parent) != 0 ? 1 : 0;
    }

    private UpdateReply commit(
            Transaction transaction, Command command, Facts facts, List<Effect> effectsDecided) {
        List<Effect> decided = withGlobalBelow(effectsDecided);
        commit(transaction, decided);
        return reply(command, facts, decided);
    }

    private void commit(Transaction transaction, List<Effect> decided) {
        end(transaction);
        Set<Integer> concerned = new TreeSet<>(transaction.participants());
        decided.forEach(effect -> concerned.add(effect.partition()));
        concerned.remove(0);
        for (int partition : concerned) {
            List<Effect> own =
                    decided.stream().filter(effect -> effect.partition() == partition).toList();
            outbox.send(partition, new Verdict.Commit(outbox.timestamp(), transaction.id(), own));
        }
        effects.apply(decided, outbox.nowNs());
    }

    private UpdateReply reply(Command command, Facts facts, List<Effect> decided) {
        UpdateReply reply = Replies.done();
        for (Effect effect : decided) {
            if (effect instanceof Effect.DropLink drop) {
                reply.setRemoved(drop.ino());
            }
        }
        switch (command.getOp().getSetField()) {
            case UNLINK -> reply.setParent(attributes(command.getOp().getUnlink().getParent()));
            case RENAME -> {
                RenameOp op = command.getOp().getRename();
                reply.setParent(attributes(op.getParent()));
                reply.setNewParent(attributes(op.getNewParent()));
                if (facts.source() != null) {
                    reply.setAttributes(attributes(facts.source().ino()));
                    reply.setExpectedSource(facts.source().ino());
                }
                if (facts.target() != null) {
                    reply.setExpectedTarget(facts.target().ino());
                }
            }
            case LINK -> {
                reply.setParent(attributes(command.getOp().getLink().getNewParent()));
                reply.setAttributes(attributes(command.getOp().getLink().getIno()));
            }
            default -> {}
        }
        return reply;
    }

    private @Nullable Attributes attributes(long ino) {
        Inode inode = tree.isHere(ino) ? tree.inode(ino) : null;
        return inode == null ? null : inode.attributes();
    }

    /** Aborts unless decided already. */
    void abort(Transaction transaction) {
        end(transaction);
        for (int partition : transaction.participants()) {
            outbox.send(partition, new Verdict.Abort(outbox.timestamp(), transaction.id()));
        }
    }

    private void end(Transaction transaction) {
        intents.remove(transaction.id());
        transactions.remove(transaction.id());
        records.delete(Table.TRANSACTION, Keys.of(transaction.id()));
    }

    private UpdateReply refusal(Command command, Facts facts, Set<Integer> asked) {
        return switch (facts.refusal()) {
            case Facts.LOCKED -> Replies.retry();
            case Facts.MISDIRECTED -> {
                Set<Integer> participants = new TreeSet<>(asked);
                participants.add(0);
                UpdateReply reply = Replies.escalate(participants);
                expect(reply, command, facts);
                boolean moves =
                        command.isMovesDirectory()
                                || command.getOp().isSetRename()
                                        && DirectoryMove.isCertain(
                                                command.getOp().getRename(), facts);
                if (moves) {
                    reply.setMovesDirectory(true);
                }
                yield reply;
            }
            default -> Replies.failed(Errno.of(facts.refusal()));
        };
    }

    private void expect(UpdateReply reply, Command command, Facts facts) {
        if (facts.source() != null) {
            reply.setExpectedSource(facts.source().ino());
            reply.getParticipants().add(tree.home(facts.source().ino()));
        } else if (command.isSetExpectedSource()) {
            reply.setExpectedSource(command.getExpectedSource());
        }
        if (facts.target() != null) {
            reply.setExpectedTarget(facts.target().ino());
            reply.getParticipants().add(tree.home(facts.target().ino()));
        } else {
            reply.setExpectedTarget(0);
        }
    }
}
