package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.model.Dentry;

/** Finds out whether an update would change an inode that is about to live elsewhere. */
final class LeavingInodes {

    private final Tree tree;
    private final Locks locks;

    LeavingInodes(Tree tree, Locks locks) {
        this.tree = tree;
        this.locks = locks;
    }

    /** If so, it has to wait until that is decided. */
    boolean concerns(UpdateOp op) {
        return locks.anyLeaving() && inodes(op).stream().anyMatch(locks::leaving);
    }

    private List<Long> inodes(UpdateOp op) {
        List<Long> inodes = new ArrayList<>();
        switch (op.getSetField()) {
            case CREATE -> name(inodes, op.getCreate().getParent(), op.getCreate().getName());
            case UNLINK -> name(inodes, op.getUnlink().getParent(), op.getUnlink().getName());
            case RENAME -> {
                name(inodes, op.getRename().getParent(), op.getRename().getName());
                name(inodes, op.getRename().getNewParent(), op.getRename().getNewName());
            }
            case LINK -> {
                inodes.add(op.getLink().getIno());
                name(inodes, op.getLink().getNewParent(), op.getLink().getNewName());
            }
            case SET_ATTRIBUTES -> inodes.add(op.getSetAttributes().getIno());
            case WRITE -> inodes.add(op.getWrite().getIno());
            case SET_XATTR -> inodes.add(op.getSetXattr().getIno());
            case REMOVE_XATTR -> inodes.add(op.getRemoveXattr().getIno());
            case ALLOCATE -> inodes.add(op.getAllocate().getIno());
            case COPY_RANGE -> {
                inodes.add(op.getCopyRange().getIno());
                inodes.add(op.getCopyRange().getSource());
            }
            case COMPACT -> inodes.add(op.getCompact().getIno());
            case SET_QUOTA -> inodes.add(op.getSetQuota().getIno());
            case LOCK -> inodes.add(op.getLock().getIno());
            case RENEW_SESSION,
                    ADOPT_QUOTA,
                    COLLECT_ORPHANS,
                    BLOCKS_DELETED,
                    FENCE_BLOCKS,
                    CONFIRM_IMPORTS,
                    VOTE,
                    DECIDE,
                    MOVE,
                    NOTICES,
                    TIDY_COPIES -> {}
        }
        return inodes;
    }

    /** The directory, and what the name leads to. */
    private void name(List<Long> inodes, long parent, byte[] name) {
        inodes.add(parent);
        Dentry dentry = tree.isHere(parent) ? tree.dentry(parent, name) : null;
        if (dentry != null) {
            inodes.add(dentry.ino());
        }
    }
}
