package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.operations.Locks.DirectoryMoves;
import org.globalfs.replica.state.operations.Locks.EntryLock;
import org.globalfs.replica.state.operations.Locks.InodeLock;
import org.globalfs.replica.state.operations.Locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A partition's part in the prepare of a coordinated operation: looks at the records that are here,
 * says what to hold, and gathers the facts for the decision. Changes nothing itself. One instance
 * serves one prepare.
 */
final class Participant {

    private final Tree tree;
    private final Locks held;
    private final Caller caller;
    private final Set<Lock> wanted = new LinkedHashSet<>();
    private final List<Facts.OfInode> inodes = new ArrayList<>();
    private final List<Facts.Segment> segments = new ArrayList<>();
    private int refusal;
    private Facts.@Nullable Named source;
    private Facts.@Nullable Named target;

    private Participant(Tree tree, Locks held, Caller caller) {
        this.tree = tree;
        this.held = held;
        this.caller = caller;
    }

    /**
     * What partition 0 wants of a participant.
     *
     * @param source inode that the old name is believed to point to, 0 unknown
     * @param target inode that the new name is believed to point to, 0 unknown or none
     * @param moves hold all directories in place
     * @param starts directories to tell the chains of parents of; those of others are theirs
     */
    record Task(long source, long target, boolean moves, List<Long> starts) {}

    static Prepared prepare(Tree tree, Locks held, Command command, Task task) {
        Participant participant = new Participant(tree, held, Caller.of(command.getCredentials()));
        if (task.moves()) {
            participant.want(new DirectoryMoves());
        }
        LeavingInodes leaving = new LeavingInodes(tree, held);
        if (leaving.concerns(command.getOp())
                || held.leaving(task.source())
                || held.leaving(task.target())) {
            participant.refuse(Facts.LOCKED);
        }
        switch (command.getOp().getSetField()) {
            case UNLINK -> participant.unlink(command.getOp().getUnlink(), task.source());
            case RENAME -> participant.rename(command.getOp().getRename(), task);
            case LINK -> participant.link(command.getOp().getLink());
            default -> participant.refuse(Errno.EINVAL);
        }
        return participant.outcome();
    }

    private Prepared outcome() {
        Facts facts = new Facts(refusal, source, target, inodes, segments);
        return new Prepared(facts, refusal == 0 ? wanted : Set.of());
    }

    private void refuse(Errno errno) {
        if (refusal == 0) {
            refusal = errno.number();
        }
    }

    /** Misdirection and locks outweigh an errno: with better knowledge the errno may be another. */
    private void refuse(int stronger) {
        refusal = refusal >= 0 ? stronger : Math.min(refusal, stronger);
    }

    private void want(Lock lock) {
        if (held.holder(lock) != null) {
            refuse(Facts.LOCKED);
        }
        wanted.add(lock);
    }

    private void unlink(UnlinkOp op, long sourceHint) {
        long ino = sourceHint;
        if (tree.isHere(op.getParent())) {
            Dentry dentry = sourceEntry(op.getParent(), op.getName(), sourceHint);
            if (dentry == null) {
                return;
            }
            ino = dentry.ino();
        }
        Inode inode = known(ino);
        if (inode != null && inode.isDirectory()) {
            wantNoNewEntry(inode);
        }
    }

    private void link(LinkOp op) {
        if (tree.isHere(op.getIno())) {
            Errno bad = Link.unlinkable(tree.inode(op.getIno()));
            if (bad != null) {
                refuse(bad);
                return;
            }
            Inode inode = known(op.getIno());
            want(new InodeLock(op.getIno()));
            if (inode != null) {
                refuseWhenAny(tree.quotas().refusesLinkAcross(inode, here(op.getNewParent())));
            }
        }
        if (tree.isHere(op.getNewParent())) {
            Place place = reach(op.getNewParent(), op.getNewName());
            if (place == null) {
                return;
            }
            refuseWhenAny(place.dentry != null ? Errno.EEXIST : place.addable(caller));
            wantToAdd(place);
        }
    }

    private void rename(RenameOp op, Task task) {
        boolean exchange = (op.getFlags() & Rename.EXCHANGE) != 0;
        long sourceIno = task.source();
        long targetIno = task.target();
        if (tree.isHere(op.getParent())) {
            Dentry dentry = sourceEntry(op.getParent(), op.getName(), task.source());
            if (dentry == null) {
                return;
            }
            sourceIno = dentry.ino();
        }
        if (tree.isHere(op.getNewParent())) {
            Place place = reach(op.getNewParent(), op.getNewName());
            if (place == null) {
                return;
            }
            targetIno = targetEntry(op, place, task.target(), exchange);
        }
        tellChains(task.starts(), sourceIno, targetIno);
        boolean otherParent = op.getParent() != op.getNewParent();
        if (otherParent) {
            changeTree(sourceIno, op.getNewParent(), exchange);
            if (exchange) {
                changeTree(targetIno, op.getParent(), true);
            }
        }
        Inode moved = known(sourceIno);
        if (moved != null && moved.isDirectory() && otherParent) {
            wantToMove(moved, op.getNewParent());
        }
        Inode replaced = known(targetIno);
        if (replaced != null && replaced.isDirectory()) {
            if (!exchange) {
                wantNoNewEntry(replaced);
            } else if (otherParent) {
                wantToMove(replaced, op.getParent());
            }
        }
    }

    /** What counts in another quota afterwards is to stay what was found to be movable. */
    private void changeTree(long ino, long newParent, boolean exchange) {
        Inode inode = here(ino);
        Inode to = here(newParent);
        if (inode == null || !tree.quotas().changesTree(inode, to)) {
            return;
        }
        refuseWhenAny(tree.quotas().refusesAcross(inode, to, exchange, tree.partition() == 0));
        if (inode.isDirectory()) {
            wantNoNewEntry(inode);
        } else {
            want(new InodeLock(ino));
        }
    }

    private @Nullable Inode here(long ino) {
        return ino != 0 && tree.isHere(ino) ? tree.inode(ino) : null;
    }

    private long targetEntry(RenameOp op, Place place, long hint, boolean exchange) {
        Dentry dentry = place.dentry;
        wantToAdd(place);
        if (dentry == null) {
            refuseWhenAny(exchange ? Errno.ENOENT : place.addable(caller));
            return 0;
        }
        refuseWhenAny(
                (op.getFlags() & Rename.NOREPLACE) != 0 ? Errno.EEXIST : place.removable(caller));
        target =
                new Facts.Named(
                        dentry.ino(), dentry.type(), caller.mustOwnEntriesOf(place.parent()));
        if (!tree.isHere(dentry.ino()) && dentry.ino() != hint) {
            refuse(Facts.MISDIRECTED);
        }
        return dentry.ino();
    }

    /** Holds the name that is to vanish; null when that is refused already. */
    private @Nullable Dentry sourceEntry(long parent, byte[] name, long hint) {
        Place place = reach(parent, name);
        if (place == null) {
            return null;
        }
        want(new EntryLock(parent, name));
        Dentry dentry = place.dentry;
        if (dentry == null) {
            refuse(Errno.ENOENT);
            return null;
        }
        refuseWhenAny(place.removable(caller));
        source =
                new Facts.Named(
                        dentry.ino(), dentry.type(), caller.mustOwnEntriesOf(place.parent()));
        if (!tree.isHere(dentry.ino()) && dentry.ino() != hint) {
            refuse(Facts.MISDIRECTED);
        }
        return dentry;
    }

    private @Nullable Place reach(long parent, byte[] name) {
        Place place = Place.find(tree, caller, parent, name);
        if (place.unreachable != null) {
            refuse(place.unreachable);
            return null;
        }
        return place;
    }

    private void refuseWhenAny(@Nullable Errno errno) {
        if (errno != null) {
            refuse(errno);
        }
    }

    private void wantToAdd(Place place) {
        if (held.inode(place.parent().ino)) {
            refuse(Facts.LOCKED);
        }
        want(new EntryLock(place.parent().ino, place.name));
    }

    /** An inode of the operation, when it lives here: adds what the rules need to know of it. */
    private @Nullable Inode known(long ino) {
        Inode inode = ino != 0 && tree.isHere(ino) ? tree.inode(ino) : null;
        if (inode != null) {
            boolean empty = inode.isDirectory() && inode.entries == 0;
            inodes.add(
                    new Facts.OfInode(
                            ino,
                            inode.type(),
                            caller.owns(inode),
                            caller.may(inode, Caller.WRITE),
                            empty));
        }
        return inode;
    }

    /** So an empty one stays empty. */
    private void wantNoNewEntry(Inode directory) {
        if (held.anyEntryOf(directory.ino)) {
            refuse(Facts.LOCKED);
        }
        want(new InodeLock(directory.ino));
    }

    private void tellChains(List<Long> starts, long sourceIno, long targetIno) {
        for (long start : starts) {
            if (tree.isHere(start)) {
                if (held.anyLeaving() && tree.anyAbove(start, held::leaving)) {
                    refuse(Facts.LOCKED);
                }
                Tree.Climb climb = tree.climb(start, sourceIno, targetIno);
                segments.add(
                        new Facts.Segment(
                                start, climb.exit(), climb.meetsFirst(), climb.meetsSecond()));
            }
        }
    }

    private void wantToMove(Inode directory, long newParent) {
        want(new DirectoryMoves());
        if (held.anyLeaving() && tree.anyAbove(newParent, held::leaving)) {
            refuse(Facts.LOCKED);
        }
        if (tree.isHere(newParent) && tree.isAncestor(directory.ino, newParent)) {
            refuse(Errno.EINVAL);
        }
    }
}
