package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.thrift.TException;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.ConfirmImportsOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.TidyCopiesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one partition: executes commands and imports against its records. What it
 * does depends on the records and its input alone. Everything an operation can refuse it refuses
 * before its first change, so that a command either happens whole or not at all.
 */
public final class Machine {

    private static final int INDEX_BITS = 16;
    private static final int ROOT_MODE = Mode.DIRECTORY | 0755;

    /** Verdicts younger than this many instances are kept even when their import is confirmed. */
    private static final long KEPT_VERDICTS = 10_000;

    private final MutableRecords records;
    private final Counters counters;
    private final Tree tree;
    private final Content content;
    private final Sessions sessions;
    private final Intents intents;
    private final LeavingInodes leaving;
    private final Effects effects;
    private final Outbox outbox = new Outbox();
    private final @Nullable Coordinator coordinator;
    private final Create create;
    private final Remove remove;
    private final Rename rename;
    private final Link link;
    private final SetAttributes setAttributes;
    private final Write write;
    private final Xattrs xattrs;
    private final FileLocks fileLocks;
    private final Allocate allocate;
    private final CopyRange copyRange;
    private final Compact compact;
    private final SetQuota setQuota;
    private final AdoptQuota adoptQuota;
    private final Orphans orphans;
    private final List<Result> results = new ArrayList<>();

    /**
     * The outcome of one command of the instance; or, with a request's number negated for the
     * sequence, that the session waits for that lock no more.
     */
    public record Result(long session, long sequence, UpdateReply reply) {}

    /** Takes over the records as they are. */
    public Machine(MutableRecords records, Counters counters) {
        this.records = records;
        this.counters = counters;
        tree = new Tree(records, counters);
        content = new Content(records, counters);
        sessions = new Sessions(records);
        intents = new Intents(records, tree.homes());
        leaving = new LeavingInodes(tree, intents.locks());
        effects = new Effects(tree, new Migration(records, counters, tree, content));
        coordinator =
                counters.partition == 0
                        ? new Coordinator(records, tree, intents, effects, outbox)
                        : null;
        xattrs = new Xattrs(records, tree);
        create = new Create(tree, content, xattrs, intents.locks(), outbox);
        remove = new Remove(tree, intents.locks());
        rename = new Rename(tree, intents.locks(), create);
        link = new Link(tree, intents.locks());
        setAttributes = new SetAttributes(tree, content, xattrs);
        write = new Write(tree, content, xattrs, setAttributes);
        allocate = new Allocate(tree, content, xattrs);
        copyRange = new CopyRange(tree, content, xattrs);
        compact = new Compact(tree, content);
        setQuota = new SetQuota(tree, intents.locks());
        adoptQuota = new AdoptQuota(records, tree, intents.locks());
        if (coordinator != null) {
            coordinator
                    .undecided()
                    .forEach(transaction -> {
                        Command command = original(transaction);
                        sessions.begin(command.getSession(), command.getSequence());
                    });
        }
        fileLocks = new FileLocks(records, tree, this::decidedLock);
        orphans =
                new Orphans(counters, records, tree, content, intents.locks(), sessions, fileLocks);
    }

    /** Makes the records of a new partition; partition 0 begins with the root directory. */
    public static void initialize(MutableRecords records, Counters counters) {
        if (counters.partition == 0) {
            Inode root = new Inode(Partitions.ROOT);
            root.mode = ROOT_MODE;
            root.nlink = 2;
            root.parent = Partitions.ROOT;
            root.nextCookie = Tree.FIRST_COOKIE;
            root.flags = Inode.PLACEMENT_CREATOR;
            root.version = 1;
            new Tree(records, counters).add(root);
        }
        records.put(Table.SYSTEM, Keys.system(), counters.encode());
    }

    /** Executes one command of the instance. */
    public void execute(long instance, int index, long timestamp, byte[] bytes) {
        Command command = decode(bytes);
        if (command == null) {
            return;
        }
        long nowNs = advance(timestamp);
        outbox.stamp(timestamp, nowNs);
        if (counters.partition == 0) {
            counters.globalSeen = instance;
        } else {
            counters.globalSeen = Math.max(counters.globalSeen, command.getGlobalSeen());
        }
        long transaction = instance << INDEX_BITS | index;
        if (command.getSession() == 0) {
            UpdateReply reply = internal(instance, transaction, command.getOp(), nowNs);
            report(command, finished(reply, instance));
            return;
        }
        switch (sessions.standing(command.getSession(), command.getSequence())) {
            case RECORDED ->
                    report(command, sessions.recorded(command.getSession(), command.getSequence()));
            case FORGOTTEN -> report(command, finished(Replies.failed(Errno.ESTALE), instance));
            case PENDING -> {}
            case NEW -> fresh(instance, transaction, command, bytes, nowNs);
        }
    }

    private static @Nullable Command decode(byte[] bytes) {
        try {
            Command command = Wire.decode(new Command(), bytes);
            return command.getOp().getSetField() == null ? null : command;
        } catch (TException e) {
            // Every replica skips the same bytes; who proposed them waits in vain.
            return null;
        }
    }

    /** The command's time in nanoseconds: never before an earlier command's. */
    private long advance(long timestamp) {
        counters.timestamp = Math.max(counters.timestamp, timestamp);
        return HybridClock.ns(counters.timestamp);
    }

    private void fresh(long instance, long transaction, Command command, byte[] bytes, long nowNs) {
        Call call = new Call(Caller.of(command.getCredentials()), command.getOrigin(), nowNs);
        UpdateReply reply = dispatch(call, command);
        if (coordinator != null && isCoordinated(command, reply)) {
            reply = coordinator.prepare(transaction, command, bytes);
            if (reply == null) {
                sessions.begin(command.getSession(), command.getSequence());
                return;
            }
        }
        answer(instance, command, reply, nowNs);
    }

    private static boolean isCoordinated(Command command, UpdateReply reply) {
        boolean several = command.isCoordinated() || reply.getParticipantsSize() > 1;
        return reply.getStatus() == Status.ESCALATE
                && several
                && switch (command.getOp().getSetField()) {
                    case UNLINK, RENAME, LINK, MOVE -> true;
                    default -> false;
                };
    }

    private void answer(long instance, Command command, UpdateReply reply, long nowNs) {
        finished(reply, instance);
        if (reply.getStatus() == Status.DONE || isHandedOver(reply)) {
            sessions.record(
                    command.getSession(),
                    command.getSequence(),
                    command.getAnsweredBelow(),
                    nowNs,
                    reply);
        }
        report(command, reply);
    }

    /**
     * From now on this command is partition 0's, or whose the inode is: a late duplicate must not
     * find that meanwhile this partition could execute it alone.
     */
    private boolean isHandedOver(UpdateReply reply) {
        boolean several = counters.partition != 0 && reply.getParticipantsSize() > 1;
        return reply.getStatus() == Status.ESCALATE && (several || reply.isSetHomes());
    }

    private UpdateReply finished(UpdateReply reply, long instance) {
        return reply.setPosition(new Position(counters.partition, instance))
                .setGlobalSeen(counters.globalSeen);
    }

    private void report(Command command, UpdateReply reply) {
        results.add(new Result(command.getSession(), command.getSequence(), reply));
    }

    private void decidedLock(long session, long request, LockState state) {
        results.add(new Result(session, -request, Replies.done().setLockState(state)));
    }

    private UpdateReply dispatch(Call call, Command command) {
        UpdateOp op = command.getOp();
        if (isFenced(command.getSession(), op)) {
            return Replies.failed(Errno.EIO);
        }
        if (leaving.concerns(op)) {
            return Replies.retry();
        }
        return switch (op.getSetField()) {
            case MOVE -> Replies.escalate(counters.partition == 0 ? List.of(0, 1) : List.of(0));
            case CREATE -> create.execute(call, op.getCreate());
            case UNLINK -> remove.execute(call, op.getUnlink());
            case RENAME -> rename.execute(call, op.getRename());
            case LINK -> link.execute(call, op.getLink());
            case SET_ATTRIBUTES -> setAttributes.execute(call, op.getSetAttributes());
            case WRITE -> write.execute(call, op.getWrite());
            case SET_XATTR -> xattrs.set(call, op.getSetXattr());
            case REMOVE_XATTR -> xattrs.remove(call, op.getRemoveXattr());
            case ALLOCATE -> allocate.execute(call, op.getAllocate());
            case COPY_RANGE -> copyRange.execute(call, op.getCopyRange());
            case COMPACT -> compact.execute(op.getCompact());
            case SET_QUOTA -> setQuota.execute(call, op.getSetQuota());
            case RENEW_SESSION -> renew(command.getSession(), op.getRenewSession(), call.nowNs());
            case LOCK ->
                    fileLocks.execute(
                            command.getSession(),
                            sessions.isLeased(command.getSession()),
                            op.getLock());
            case COLLECT_ORPHANS,
                    BLOCKS_DELETED,
                    FENCE_BLOCKS,
                    VOTE,
                    DECIDE,
                    CONFIRM_IMPORTS,
                    NOTICES,
                    TIDY_COPIES,
                    ADOPT_QUOTA ->
                    Replies.failed(Errno.EPERM);
        };
    }

    /** Content that was written under a lock must not come after the lock was lost. */
    private boolean isFenced(long session, UpdateOp op) {
        return switch (op.getSetField()) {
            case WRITE -> fileLocks.isFenced(session, op.getWrite().getIno());
            case ALLOCATE -> fileLocks.isFenced(session, op.getAllocate().getIno());
            case COPY_RANGE -> fileLocks.isFenced(session, op.getCopyRange().getIno());
            case SET_ATTRIBUTES ->
                    op.getSetAttributes().isSetSize()
                            && fileLocks.isFenced(session, op.getSetAttributes().getIno());
            default -> false;
        };
    }

    private UpdateReply renew(long session, RenewSessionOp op, long nowNs) {
        long lapses = sessions.renew(session, op, nowNs);
        if (op.isSetKnown()) {
            fileLocks.known(session, op.getKnown());
        }
        if (op.isSetUnfenced()) {
            fileLocks.unfence(session, op.getUnfenced());
        }
        if (op.isEnded()) {
            fileLocks.drop(session, false);
        }
        UpdateReply reply = Replies.done().setLapses(lapses);
        for (long ino : op.getOpenInodes()) {
            if (!tree.isHere(ino)) {
                reply.putToHomes(ino, tree.home(ino));
            }
        }
        return reply;
    }

    /** Commands of replicas themselves; doing one twice does no harm. */
    private UpdateReply internal(long instance, long transaction, UpdateOp op, long nowNs) {
        switch (op.getSetField()) {
            case COLLECT_ORPHANS -> {
                CollectOrphansOp collect = op.getCollectOrphans();
                orphans.lapse(collect.isSetLapsed() ? collect.getLapsed() : Map.of());
                if (collect.isSetBefore()) {
                    long first = collect.isSetFirst() ? collect.getFirst() : 0;
                    long last = collect.isSetLast() ? collect.getLast() : Long.MAX_VALUE;
                    if (!collect.isSetSilence()) {
                        orphans.forgetSessionsByTime(nowNs);
                    } else if (collect.isSilence()) {
                        orphans.forgetSessions(nowNs);
                    }
                    orphans.collect(collect.getLimit(), first, last, collect.getBefore());
                } else {
                    orphans.collectByTime(collect.getLimit(), nowNs);
                }
            }
            case FENCE_BLOCKS -> content.fence(op.getFenceBlocks().getBefore());
            case BLOCKS_DELETED -> content.deleted(op.getBlocksDeleted().getBlocks());
            case VOTE -> vote(instance, transaction, op.getVote(), nowNs);
            case DECIDE -> timeOut(instance, op.getDecide().getTransaction(), nowNs);
            case ADOPT_QUOTA -> adoptQuota.execute(op.getAdoptQuota().getLimit());
            case CONFIRM_IMPORTS -> confirm(instance, op.getConfirmImports());
            case NOTICES -> deliver(op.getNotices());
            case TIDY_COPIES -> tidyCopies(op.getTidyCopies());
            default -> {
                return Replies.failed(Errno.EPERM);
            }
        }
        return Replies.done();
    }

    private void tidyCopies(TidyCopiesOp op) {
        tree.copies().tidy(intents.locks(), op.getIdle());
        int left = tree.copies().erase(op.getLimit());
        tree.staging().erase(left);
    }

    private void deliver(NoticesOp op) {
        if (counters.partition == 0) {
            List<Effect> decided = new Notices(records, counters).deliver(op);
            outbox.effects(decided.stream().filter(e -> e.partition() != 0).toList());
            effects.apply(decided, outbox.nowNs());
        }
    }

    private void vote(long instance, long next, VoteOp op, long nowNs) {
        Transaction transaction =
                coordinator == null ? null : coordinator.find(op.getTransaction());
        if (coordinator == null || transaction == null) {
            return;
        }
        Command command = original(transaction);
        UpdateReply reply = coordinator.vote(op, transaction, command, next);
        if (reply != null) {
            decided(instance, command, reply, nowNs);
        }
    }

    private void timeOut(long instance, long id, long nowNs) {
        Transaction transaction = coordinator == null ? null : coordinator.find(id);
        if (coordinator != null && transaction != null) {
            coordinator.abort(transaction);
            decided(instance, original(transaction), Replies.retry(), nowNs);
        }
    }

    private static Command original(Transaction transaction) {
        Command command = decode(transaction.command());
        Invariant.check(
                command != null, "command of transaction %s cannot be read", transaction.id());
        return Objects.requireNonNull(command);
    }

    private void decided(long instance, Command command, UpdateReply reply, long nowNs) {
        sessions.end(command.getSession(), command.getSequence());
        answer(instance, command, reply, nowNs);
    }

    private void confirm(long instance, ConfirmImportsOp op) {
        int partition = op.getPartition();
        long through = Math.min(op.getThrough(), instance - KEPT_VERDICTS);
        long trimmed = counters.trimmed.getOrDefault(partition, 0L);
        if (counters.partition != 0 || through <= trimmed) {
            return;
        }
        records.scan(
                Table.VERDICT,
                Keys.of(partition),
                Keys.of(partition, trimmed),
                (key, value) -> {
                    boolean old = Keys.getLong(key, 8) <= through;
                    if (old) {
                        records.delete(Table.VERDICT, key);
                    }
                    return old;
                });
        counters.trimmed.put(partition, through);
    }

    /** Executes what partition 0 decided about this partition in one of its instances. */
    public void execute(long globalInstance, List<Verdict> verdicts) {
        counters.importedThrough = globalInstance;
        counters.globalSeen = Math.max(counters.globalSeen, globalInstance);
        for (Verdict verdict : verdicts) {
            long nowNs = advance(verdict.timestamp());
            switch (verdict) {
                case Verdict.Prepare prepare -> prepare(prepare);
                case Verdict.Commit commit -> {
                    intents.remove(commit.transaction());
                    effects.apply(commit.effects(), nowNs);
                }
                case Verdict.Abort abort -> intents.remove(abort.transaction());
            }
        }
    }

    private void prepare(Verdict.Prepare prepare) {
        Command command = decode(prepare.command());
        Invariant.check(
                command != null, "command of transaction %s cannot be read", prepare.transaction());
        intents.add(prepare.transaction(), share(prepare, Objects.requireNonNull(command)));
    }

    private Prepared share(Verdict.Prepare prepare, Command command) {
        if (command.getOp().isSetMove()) {
            return departure(prepare, command.getOp().getMove());
        }
        return Participant.prepare(
                tree,
                intents.locks(),
                command,
                new Participant.Task(
                        prepare.source(), prepare.target(), prepare.moves(), prepare.starts()));
    }

    private Prepared departure(Verdict.Prepare prepare, MoveOp op) {
        if (prepare.source() != counters.partition) {
            return op.getTo() == counters.partition
                    ? Departure.arrival(tree, intents, prepare.moves(), (int) prepare.source())
                    : Departure.bystander(intents, prepare.moves());
        }
        Prepared own = Departure.prepare(records, tree, intents, op);
        Prepared held = Departure.bystander(intents, prepare.moves());
        return own.and(held);
    }

    /**
     * Ends the instance: afterwards the records are ready to be committed. Returns what to report
     * then.
     */
    public List<Result> end(long instance) {
        counters.applied = instance;
        if (counters.partition == 0) {
            counters.importedThrough = instance;
        }
        outbox.store(records, instance);
        records.put(Table.SYSTEM, Keys.system(), counters.encode());
        List<Result> reported = List.copyOf(results);
        results.clear();
        return reported;
    }

    /** Blocks that the last instance has doomed: no part of the state. */
    public List<BlockRef> takeNewlyDoomed() {
        return content.takeNewlyDoomed();
    }

    /** A coordinated operation that waits for votes. */
    public record Undecided(long transaction, long timestamp, List<Integer> missing) {}

    public List<Undecided> undecided() {
        return coordinator == null
                ? List.of()
                : coordinator.undecided().stream()
                        .map(t -> new Undecided(t.id(), t.timestamp(), t.missing()))
                        .toList();
    }

    /** What each undecided operation may change in a regional partition. */
    public Map<Long, Held> held() {
        return coordinator == null ? intents.held() : Map.of();
    }

    public List<VoteOp> votes() {
        return coordinator == null ? intents.votes(counters.partition) : List.of();
    }

    /** Sessions' leases that run; the same list until one changes. */
    public List<Sessions.Lease> leases() {
        return sessions.leases();
    }

    public int sessionCount() {
        return sessions.count();
    }
}
