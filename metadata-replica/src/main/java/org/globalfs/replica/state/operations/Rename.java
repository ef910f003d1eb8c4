package org.globalfs.replica.state.operations;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * renameat2 as far as one partition can decide it alone: both directories are here, and so is every
 * inode whose owner, emptiness or parent matters. Checks come in Linux's order.
 */
final class Rename {

    static final int NOREPLACE = 1;
    static final int EXCHANGE = 2;

    /** Leaves a whiteout under the old name; within one partition only. */
    static final int WHITEOUT = 4;

    private final Tree tree;
    private final Locks locks;
    private final Create create;

    Rename(Tree tree, Locks locks, Create create) {
        this.tree = tree;
        this.locks = locks;
        this.create = create;
    }

    /** Both places of one rename. */
    private record Ends(RenameOp op, Place from, Place to, Dentry source, @Nullable Dentry target) {

        boolean exchange() {
            return (op.getFlags() & EXCHANGE) != 0;
        }

        boolean whiteout() {
            return (op.getFlags() & WHITEOUT) != 0;
        }

        boolean sameParent() {
            return op.getParent() == op.getNewParent();
        }

        boolean moves(Dentry dentry) {
            return dentry.type() == Mode.DIRECTORY && !sameParent();
        }
    }

    UpdateReply execute(Call call, RenameOp op) {
        Errno invalid = invalid(op);
        if (invalid != null) {
            return Replies.failed(invalid);
        }
        boolean fromHere = tree.isHere(op.getParent());
        boolean toHere = tree.isHere(op.getNewParent());
        if (!fromHere) {
            return Replies.elsewhere(tree.homes(), op.getParent());
        }
        if (!toHere) {
            return outward(call, op);
        }
        Place from = Place.find(tree, call.caller(), op.getParent(), op.getName());
        if (from.unreachable != null) {
            return Replies.failed(from.unreachable);
        }
        Place to =
                from.parent().ino == op.getNewParent()
                        ? from.sibling(tree, op.getNewName())
                        : Place.find(tree, call.caller(), op.getNewParent(), op.getNewName());
        if (to.unreachable != null) {
            return Replies.failed(to.unreachable);
        }
        if (locks.entry(op.getParent(), op.getName())
                || locks.entry(op.getNewParent(), op.getNewName())
                || locks.inode(op.getNewParent())
                || locks.inode(op.getParent())) {
            return Replies.retry();
        }
        if (from.dentry == null) {
            return Replies.failed(Errno.ENOENT);
        }
        return between(call, new Ends(op, from, to, from.dentry, to.dentry));
    }

    static @Nullable Errno invalid(RenameOp op) {
        int flags = op.getFlags();
        boolean unknown = (flags & ~(NOREPLACE | EXCHANGE | WHITEOUT)) != 0;
        boolean more = (flags & (NOREPLACE | WHITEOUT)) != 0;
        if (unknown || more && (flags & EXCHANGE) != 0) {
            return Errno.EINVAL;
        }
        Errno bad = Place.nameError(op.getName());
        return bad != null ? bad : Place.nameError(op.getNewName());
    }

    private int partition(long ino) {
        return tree.home(ino);
    }

    /**
     * Only the old directory is here: find out early what can be known, and who else is concerned.
     */
    private UpdateReply outward(Call call, RenameOp op) {
        Place from = Place.find(tree, call.caller(), op.getParent(), op.getName());
        if (from.unreachable != null) {
            return Replies.failed(from.unreachable);
        }
        if (locks.entry(op.getParent(), op.getName())) {
            return Replies.retry();
        }
        if (from.dentry == null) {
            return Replies.failed(Errno.ENOENT);
        }
        if ((op.getFlags() & WHITEOUT) != 0) {
            return Replies.failed(Errno.EXDEV);
        }
        UpdateReply reply =
                Replies.escalate(
                                List.of(
                                        partition(op.getParent()),
                                        partition(op.getNewParent()),
                                        partition(from.dentry.ino())))
                        .setExpectedSource(from.dentry.ino());
        boolean exchange = (op.getFlags() & EXCHANGE) != 0;
        return exchange || from.dentry.type() == Mode.DIRECTORY
                ? reply.setMovesDirectory(true)
                : reply;
    }

    private UpdateReply between(Call call, Ends ends) {
        Dentry target = ends.target;
        Errno refused = missing(ends);
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (ends.moves(ends.source) && isInside(ends.source, ends.op.getNewParent())) {
            return Replies.failed(Errno.EINVAL);
        }
        if (target != null && ends.moves(target) && isInside(target, ends.op.getParent())) {
            return Replies.failed(ends.exchange() ? Errno.EINVAL : Errno.ENOTEMPTY);
        }
        if (target != null && target.ino() == ends.source.ino()) {
            return Replies.done();
        }
        refused = notPermitted(call.caller(), ends);
        if (refused != null) {
            return Replies.failed(refused);
        }
        UpdateReply elsewhere = elsewhere(call.caller(), ends);
        if (elsewhere != null) {
            return ends.whiteout() ? Replies.failed(Errno.EXDEV) : elsewhere;
        }
        return decided(call, ends);
    }

    private static @Nullable Errno missing(Ends ends) {
        if (ends.target == null) {
            return ends.exchange() ? Errno.ENOENT : null;
        }
        return (ends.op.getFlags() & NOREPLACE) != 0 ? Errno.EEXIST : null;
    }

    private boolean isInside(Dentry directory, long below) {
        return tree.isHere(directory.ino()) && tree.isAncestor(directory.ino(), below);
    }

    private static @Nullable Errno notPermitted(Caller caller, Ends ends) {
        Errno refused = ends.from.removable(caller);
        if (refused != null) {
            return refused;
        }
        return ends.target == null ? ends.to.addable(caller) : ends.to.removable(caller);
    }

    /** Names the partitions to ask when an inode that matters is not here. */
    private @Nullable UpdateReply elsewhere(Caller caller, Ends ends) {
        Set<Integer> partitions = new TreeSet<>();
        partitions.add(tree.partition());
        boolean sourceMatters =
                caller.mustOwnEntriesOf(ends.from.parent()) || ends.moves(ends.source);
        if (sourceMatters) {
            partitions.add(partition(ends.source.ino()));
        }
        Dentry target = ends.target;
        boolean swaps = target != null && ends.exchange();
        if (ends.moves(ends.source)) {
            addAbove(partitions, ends.op.getNewParent());
        }
        if (swaps && ends.moves(Objects.requireNonNull(target))) {
            addAbove(partitions, ends.op.getParent());
        }
        if (target != null) {
            boolean targetMatters =
                    !ends.exchange()
                            || caller.mustOwnEntriesOf(ends.to.parent())
                            || ends.moves(target);
            if (targetMatters) {
                partitions.add(partition(target.ino()));
            }
        }
        if (partitions.size() == 1) {
            return null;
        }
        partitions.add(partition(ends.source.ino()));
        UpdateReply reply = Replies.escalate(partitions).setExpectedSource(ends.source.ino());
        if (ends.moves(ends.source) || swaps && ends.moves(Objects.requireNonNull(target))) {
            reply.setMovesDirectory(true);
        }
        return target == null ? reply : reply.setExpectedTarget(target.ino());
    }

    /**
     * Adds the partition that has to be asked what is above a directory's new parent, if that
     * cannot be known here. Above this partition is the root itself; or a directory that was born
     * in partition 0, which, with all above, is still there while {@link Tree#globalBelow} is 0.
     */
    private void addAbove(Set<Integer> partitions, long newParent) {
        long exit = tree.climb(newParent, 0, 0).exit();
        boolean ends = exit == 0 || exit == Partitions.ROOT;
        if (!ends && (partition(exit) != 0 || tree.globalBelow() > 0)) {
            partitions.add(partition(exit));
        }
    }

    /** Everything that matters is here. */
    private UpdateReply decided(Call call, Ends ends) {
        Caller caller = call.caller();
        Inode source = tree.isHere(ends.source.ino()) ? tree.existing(ends.source.ino()) : null;
        Dentry target = ends.target;
        Inode replaced =
                target != null && tree.isHere(target.ino()) ? tree.existing(target.ino()) : null;
        if (notOwned(caller, ends.from, source)
                || target != null && notOwned(caller, ends.to, replaced)) {
            return Replies.failed(Errno.EPERM);
        }
        if (target != null && !ends.exchange()) {
            Errno refused = notReplaceable(ends.source.type(), Objects.requireNonNull(replaced));
            if (refused != null) {
                return Replies.failed(refused);
            }
            if (replaced.isDirectory()
                    && (locks.inode(replaced.ino) || locks.anyEntryOf(replaced.ino))) {
                return Replies.retry();
            }
        }
        if (ends.moves(ends.source) && !caller.may(Objects.requireNonNull(source), Caller.WRITE)
                || target != null
                        && ends.exchange()
                        && ends.moves(target)
                        && !caller.may(Objects.requireNonNull(replaced), Caller.WRITE)) {
            return Replies.failed(Errno.EACCES);
        }
        Errno refused = quotaRefuses(ends, source, replaced);
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (source != null
                && !ends.sameParent()
                && locks.inode(source.ino)
                && tree.quotas().changesTree(source, ends.to.parent())) {
            // It is about to get a name where nothing of a quota may have one.
            return Replies.retry();
        }
        boolean movesDirectory =
                ends.moves(ends.source) || target != null && ends.exchange() && ends.moves(target);
        if (movesDirectory && (locks.directoryMoves() || isAnyAboveLeaving(ends.op))) {
            return Replies.retry();
        }
        return apply(call, ends, source, replaced);
    }

    /** What is above may have changed where those live that are about to leave. */
    private boolean isAnyAboveLeaving(RenameOp op) {
        return locks.anyLeaving()
                && (tree.anyAbove(op.getParent(), locks::leaving)
                        || tree.anyAbove(op.getNewParent(), locks::leaving));
    }

    private @Nullable Errno quotaRefuses(
            Ends ends, @Nullable Inode source, @Nullable Inode target) {
        Quotas quotas = tree.quotas();
        Inode from = ends.from.parent();
        Inode to = ends.to.parent();
        Errno full = ends.whiteout() ? quotas.refusesInode(from) : null;
        if (full != null) {
            return full;
        }
        Errno refused = quotas.refusesMove(source, from, to, ends.exchange());
        return refused == null && ends.exchange()
                ? quotas.refusesMove(target, to, from, true)
                : refused;
    }

    private static boolean notOwned(Caller caller, Place place, @Nullable Inode inode) {
        return caller.mustOwnEntriesOf(place.parent())
                && !caller.owns(Objects.requireNonNull(inode));
    }

    private static @Nullable Errno notReplaceable(int sourceType, Inode target) {
        if (sourceType == Mode.DIRECTORY) {
            if (!target.isDirectory()) {
                return Errno.ENOTDIR;
            }
            return target.entries > 0 ? Errno.ENOTEMPTY : null;
        }
        return target.isDirectory() ? Errno.EISDIR : null;
    }

    private UpdateReply apply(
            Call call, Ends ends, @Nullable Inode source, @Nullable Inode replaced) {
        long now = call.nowNs();
        Inode from = ends.from.parent();
        Inode to = ends.to.parent();
        RenameOp op = ends.op;
        Dentry target = ends.target;
        UpdateReply reply = Replies.done();
        if (target != null && ends.exchange()) {
            tree.repoint(from, op.getName(), ends.source, target.ino(), target.type(), now);
            tree.repoint(to, op.getNewName(), target, ends.source.ino(), ends.source.type(), now);
            if (replaced != null) {
                renamed(replaced, from.ino, now);
            }
        } else {
            if (ends.whiteout()) {
                Inode whiteout = create.whiteout(call, from);
                tree.repoint(from, op.getName(), ends.source, whiteout.ino, whiteout.type(), now);
            } else {
                tree.removeEntry(from, op.getName(), ends.source, now);
            }
            if (target == null) {
                tree.addEntry(to, op.getNewName(), ends.source.ino(), ends.source.type(), now);
            } else {
                tree.repoint(
                        to, op.getNewName(), target, ends.source.ino(), ends.source.type(), now);
                tree.dropLink(Objects.requireNonNull(replaced), now);
                reply.setRemoved(replaced.ino);
            }
        }
        if (source != null) {
            if (!ends.sameParent()) {
                tree.quotas().move(source, to);
            }
            renamed(source, to.ino, now);
            reply.setAttributes(source.attributes());
        }
        return reply.setParent(from.attributes()).setNewParent(to.attributes());
    }

    private void renamed(Inode inode, long newParent, long now) {
        if (inode.isDirectory()) {
            inode.parent = newParent;
        }
        inode.changed(now);
        tree.store(inode);
    }
}
