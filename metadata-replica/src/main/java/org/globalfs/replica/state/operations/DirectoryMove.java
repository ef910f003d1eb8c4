package org.globalfs.replica.state.operations;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;

/**
 * What partition 0 knows of the chains of parents above the places that a coordinated rename moves
 * directories to: its own part by looking, the others' from what participants said. One instance
 * serves one look.
 */
final class DirectoryMove {

    /** A chain that enters regions more often is not followed: each time costs a round of votes. */
    static final int MOST_STARTS = 64;

    private final Tree tree;
    private final Facts facts;
    private final Set<Long> starts = new LinkedHashSet<>();
    private boolean complete = true;
    private boolean cycle;

    private DirectoryMove(Tree tree, Facts facts) {
        this.tree = tree;
        this.facts = facts;
    }

    /**
     * Looks at everything that matters, whether or not both names' inodes are directories.
     *
     * @param source what the old name points to, 0 unknown; target likewise the new name
     */
    static DirectoryMove of(Tree tree, RenameOp op, long source, long target, Facts facts) {
        DirectoryMove move = new DirectoryMove(tree, facts);
        move.follow(op.getNewParent(), source, true);
        if ((op.getFlags() & Rename.EXCHANGE) != 0) {
            move.follow(op.getParent(), target, false);
        }
        return move;
    }

    private void follow(long newParent, long moved, boolean isSource) {
        Set<Long> entered = new HashSet<>();
        long at = newParent;
        while (at != 0) {
            if (tree.isHere(at)) {
                Tree.Climb climb = tree.climb(at, moved, 0);
                cycle |= moved != 0 && climb.meetsFirst();
                at = climb.exit();
                continue;
            }
            starts.add(at);
            Facts.Segment segment = facts.segment(at);
            if (segment == null) {
                complete = false;
                return;
            }
            if (!entered.add(at)) {
                cycle = true;
                return;
            }
            cycle |= isSource ? segment.meetsSource() : segment.meetsTarget();
            at = segment.exit();
        }
    }

    /** Where chains enter regional partitions, as far as known. */
    Set<Long> starts() {
        return starts;
    }

    /** Whether the chains are known up to the root. */
    boolean isComplete() {
        return complete;
    }

    /** Whether a directory would come to lie below itself. */
    boolean closesCycle() {
        return cycle;
    }

    /**
     * Whether the rename may give a directory another parent, as far as is known before anybody has
     * voted: then the lock is taken first, so that nobody comes between.
     */
    static boolean isLikely(Tree tree, Command command, long source, long target) {
        if (!command.getOp().isSetRename()) {
            return false;
        }
        RenameOp op = command.getOp().getRename();
        boolean exchange = (op.getFlags() & Rename.EXCHANGE) != 0;
        return op.getParent() != op.getNewParent()
                && (command.isMovesDirectory()
                        || isDirectory(tree, op.getParent(), op.getName(), source)
                        || exchange
                                && (!tree.isHere(op.getNewParent())
                                        || isDirectory(
                                                tree, op.getNewParent(), op.getNewName(), target)));
    }

    private static boolean isDirectory(Tree tree, long parent, byte[] name, long ino) {
        Dentry dentry = tree.isHere(parent) ? tree.dentry(parent, name) : null;
        return dentry != null && dentry.type() == Mode.DIRECTORY || isGlobalDirectory(tree, ino);
    }

    /** Whether the votes tell that a directory gets another parent. */
    static boolean isCertain(RenameOp op, Facts facts) {
        Facts.Named source = facts.source();
        Facts.Named target = facts.target();
        boolean exchange = (op.getFlags() & Rename.EXCHANGE) != 0;
        return op.getParent() != op.getNewParent()
                && (source != null && source.type() == Mode.DIRECTORY
                        || exchange && target != null && target.type() == Mode.DIRECTORY);
    }

    /**
     * Whether a directory of partition 0 comes to lie in a regional one while nobody reckons with
     * any.
     */
    static boolean isFirstBelow(Tree tree, RenameOp op, long source, long target) {
        boolean exchange = (op.getFlags() & Rename.EXCHANGE) != 0;
        return tree.globalBelow() == 0
                && (leaves(tree, source, op.getParent(), op.getNewParent())
                        || exchange && leaves(tree, target, op.getNewParent(), op.getParent()));
    }

    private static boolean leaves(Tree tree, long ino, long from, long to) {
        return tree.home(from) == 0 && tree.home(to) != 0 && isGlobalDirectory(tree, ino);
    }

    private static boolean isGlobalDirectory(Tree tree, long ino) {
        Inode inode = ino != 0 && tree.isHere(ino) ? tree.inode(ino) : null;
        return inode != null && inode.isDirectory();
    }
}
