package org.globalfs.replica.state.operations;

import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.jspecify.annotations.Nullable;

/**
 * fallocate(2): allocates, punches holes, zeroes. What meets very many pieces stops early and says
 * how far it came.
 */
final class Allocate {

    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int ZERO_RANGE = 16;

    private final Tree tree;
    private final Content content;
    private final Xattrs xattrs;

    Allocate(Tree tree, Content content, Xattrs xattrs) {
        this.tree = tree;
        this.content = content;
        this.xattrs = xattrs;
    }

    UpdateReply execute(Call call, AllocateOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        Errno refused = refused(inode, op);
        if (refused != null || inode == null) {
            return Replies.failed(refused == null ? Errno.ESTALE : refused);
        }
        long from = op.getOffset();
        if ((op.getFlags() & PUNCH_HOLE) == 0) {
            // A hole frees, and has to be possible above all where nothing is left.
            if (!hasRoom(inode, from, from + op.getLength())) {
                return Replies.failed(Errno.EDQUOT);
            }
            if (!content.hasRoom(op.getLength())) {
                return Replies.failed(Errno.ENOSPC);
            }
        }
        long until = apply(inode, op.getFlags(), from, from + op.getLength());
        inode.mode = call.caller().modeOnceWritten(inode);
        xattrs.dropCapability(inode);
        inode.modified(call.nowNs());
        tree.store(inode);
        return Replies.done().setAttributes(inode.attributes()).setDone(until - from);
    }

    private boolean hasRoom(Inode inode, long from, long to) {
        return tree.quotas().mayGrow(inode, to - from, () -> content.missing(inode, from, to));
    }

    private long apply(Inode inode, int flags, long from, long to) {
        boolean keepSize = (flags & KEEP_SIZE) != 0;
        boolean clears = (flags & (PUNCH_HOLE | ZERO_RANGE)) != 0;
        long until = clears ? content.punch(inode, from, to) : to;
        boolean fills = (flags & PUNCH_HOLE) == 0;
        return fills ? content.allocate(inode, from, until, keepSize) : until;
    }

    private static @Nullable Errno refused(@Nullable Inode inode, AllocateOp op) {
        if (inode == null) {
            return Errno.ESTALE;
        }
        if (!inode.isRegular()) {
            return inode.isDirectory() ? Errno.EISDIR : Errno.ENODEV;
        }
        if (op.getOffset() < 0 || op.getLength() <= 0) {
            return Errno.EINVAL;
        }
        boolean known =
                switch (op.getFlags()) {
                    case 0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE ->
                            true;
                    default -> false;
                };
        if (!known) {
            return Errno.EOPNOTSUPP;
        }
        boolean fits =
                op.getLength() <= Limits.FILE_SIZE_MAX
                        && op.getOffset() <= Limits.FILE_SIZE_MAX - op.getLength();
        return fits ? null : Errno.EFBIG;
    }
}
