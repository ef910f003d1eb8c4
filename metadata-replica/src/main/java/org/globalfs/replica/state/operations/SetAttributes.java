package org.globalfs.replica.state.operations;

import org.globalfs.protocol.Errno;
import org.globalfs.protocol.posix.PosixAcl;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/**
 * chmod, chown, truncate and utimensat, alone or combined, by Linux's rules (setattr_prepare,
 * notify_change).
 */
final class SetAttributes {

    private final Tree tree;
    private final Content content;
    private final Xattrs xattrs;

    SetAttributes(Tree tree, Content content, Xattrs xattrs) {
        this.tree = tree;
        this.content = content;
        this.xattrs = xattrs;
    }

    UpdateReply execute(Call call, SetAttributesOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        if (inode == null) {
            return Replies.failed(Errno.ESTALE);
        }
        Errno refused = refused(call.caller(), inode, op);
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (!shorten(call, inode, op)) {
            return partly(inode);
        }
        apply(call, inode, op);
        tree.store(inode);
        return Replies.done().setAttributes(inode.attributes());
    }

    static @Nullable Errno refused(Caller caller, Inode inode, SetAttributesOp op) {
        Errno size = op.isSetSize() ? sizeRefused(caller, inode, op) : null;
        if (size != null) {
            return size;
        }
        boolean otherOwner = op.isSetUid() && op.getUid() != inode.uid && !caller.isRoot();
        boolean ownersGroup =
                caller.uid() == inode.uid
                        && (op.getGid() == inode.gid || caller.inGroup(op.getGid()));
        boolean otherGroup = op.isSetGid() && !caller.isRoot() && !ownersGroup;
        boolean keepsUid = op.isSetUid() && !caller.owns(inode);
        boolean otherMode =
                (op.isSetMode() || takesSetId(caller, inode, op)) && !caller.owns(inode);
        if (otherOwner || otherGroup || keepsUid || otherMode) {
            return Errno.EPERM;
        }
        return timesRefused(caller, inode, op);
    }

    private static @Nullable Errno sizeRefused(Caller caller, Inode inode, SetAttributesOp op) {
        if (inode.isDirectory()) {
            return Errno.EISDIR;
        }
        if (!inode.isRegular() || op.getSize() < 0) {
            return Errno.EINVAL;
        }
        if (op.getSize() > Limits.FILE_SIZE_MAX) {
            return Errno.EFBIG;
        }
        boolean allowed = op.isHandle() || caller.may(inode, Caller.WRITE);
        return allowed ? null : Errno.EACCES;
    }

    private static @Nullable Errno timesRefused(Caller caller, Inode inode, SetAttributesOp op) {
        boolean explicit = op.isSetAtimeNs() || op.isSetMtimeNs();
        boolean now = op.isAtimeNow() || op.isMtimeNow();
        if (!explicit && !now || caller.owns(inode)) {
            return null;
        }
        // utimensat(2) that leaves one time alone sets the other for its owner only, even to "now".
        boolean one = op.isAtimeNow() != op.isMtimeNow() && !op.isSetSize();
        if (explicit || one) {
            return Errno.EPERM;
        }
        // A size change through a descriptor may carry its own "now".
        return caller.may(inode, Caller.WRITE) || op.isHandle() && op.isSetSize()
                ? null
                : Errno.EACCES;
    }

    /** chown(2) to nobody else: it takes set-id bits away all the same, as Linux does. */
    private static boolean keepsAll(SetAttributesOp op) {
        return !op.isSetSize()
                && !op.isSetUid()
                && !op.isSetGid()
                && !op.isSetMode()
                && !op.isSetAtimeNs()
                && !op.isSetMtimeNs()
                && !op.isAtimeNow()
                && !op.isMtimeNow();
    }

    /** Linux counts it as a chmod then. */
    private static boolean takesSetId(Caller caller, Inode inode, SetAttributesOp op) {
        return keepsAll(op) && caller.modeOnceChowned(inode) != inode.mode;
    }

    /**
     * Cuts off what is beyond the size that is to be set, or a part of that: then the caller only
     * has to store the inode, and false is returned.
     */
    boolean shorten(Call call, Inode inode, SetAttributesOp op) {
        if (!op.isPartly() || !op.isSetSize() || content.shorten(inode, op.getSize())) {
            return true;
        }
        resized(call, inode);
        inode.changed(call.nowNs());
        return false;
    }

    /** The answer when not all was cut off. */
    UpdateReply partly(Inode inode) {
        tree.store(inode);
        return Replies.done().setAttributes(inode.attributes()).setDone(inode.size);
    }

    private void resized(Call call, Inode inode) {
        inode.mtimeNs = call.nowNs();
        inode.mode = call.caller().modeOnceWritten(inode);
        xattrs.dropCapability(inode);
    }

    void apply(Call call, Inode inode, SetAttributesOp op) {
        Caller caller = call.caller();
        if (op.isSetSize()) {
            content.truncate(inode, op.getSize());
            resized(call, inode);
        }
        if (op.isSetUid() || op.isSetGid() || keepsAll(op)) {
            // By the group that it had, not the one that it gets.
            inode.mode = caller.modeOnceChowned(inode);
            inode.uid = op.isSetUid() ? op.getUid() : inode.uid;
            inode.gid = op.isSetGid() ? op.getGid() : inode.gid;
            if (!inode.isDirectory()) {
                xattrs.dropCapability(inode);
            }
        }
        if (op.isSetMode()) {
            int mode = op.getMode() & Mode.PERMISSIONS;
            if (!caller.isRoot() && !caller.inGroup(inode.gid)) {
                mode &= ~Mode.SET_GID;
            }
            inode.mode = inode.type() | mode;
            if (inode.accessAcl.length > 0) {
                inode.accessAcl = PosixAcl.of(inode.accessAcl).withMode(mode).toBytes();
            }
        }
        if (op.isAtimeNow()) {
            inode.atimeNs = call.nowNs();
        } else if (op.isSetAtimeNs()) {
            inode.atimeNs = op.getAtimeNs();
        }
        if (op.isMtimeNow()) {
            inode.mtimeNs = call.nowNs();
        } else if (op.isSetMtimeNs()) {
            inode.mtimeNs = op.getMtimeNs();
        }
        inode.changed(call.nowNs());
    }
}
