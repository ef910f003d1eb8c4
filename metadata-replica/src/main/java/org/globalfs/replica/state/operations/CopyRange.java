package org.globalfs.replica.state.operations;

import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.jspecify.annotations.Nullable;

/** copy_file_range(2) between files of one partition: the copy shares the source's blocks. */
final class CopyRange {

    private final Tree tree;
    private final Content content;
    private final Xattrs xattrs;

    CopyRange(Tree tree, Content content, Xattrs xattrs) {
        this.tree = tree;
        this.content = content;
        this.xattrs = xattrs;
    }

    UpdateReply execute(Call call, CopyRangeOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        if (!tree.isHere(op.getSource())) {
            return Replies.failed(Errno.EXDEV);
        }
        Inode target = tree.inode(op.getIno());
        Inode source = op.getSource() == op.getIno() ? target : tree.inode(op.getSource());
        Errno refused = refused(source, target, op);
        if (refused != null || source == null || target == null) {
            return Replies.failed(refused == null ? Errno.ESTALE : refused);
        }
        long copied =
                content.copy(
                        source,
                        op.getSourceOffset(),
                        target,
                        op.getOffset(),
                        op.getLength(),
                        tree.quotas()::mayGrow);
        if (copied < 0) {
            return Replies.failed(Errno.EDQUOT);
        }
        if (copied > 0) {
            target.mode = call.caller().modeOnceWritten(target);
            xattrs.dropCapability(target);
            target.modified(call.nowNs());
            tree.store(target);
        }
        return Replies.done().setAttributes(target.attributes()).setDone(copied);
    }

    private static @Nullable Errno refused(
            @Nullable Inode source, @Nullable Inode target, CopyRangeOp op) {
        if (source == null || target == null) {
            return Errno.ESTALE;
        }
        if (!source.isRegular() || !target.isRegular()) {
            return source.isDirectory() || target.isDirectory() ? Errno.EISDIR : Errno.EINVAL;
        }
        long length = op.getLength();
        if (op.getOffset() < 0 || op.getSourceOffset() < 0 || length < 0) {
            return Errno.EINVAL;
        }
        if (length > Limits.FILE_SIZE_MAX || op.getOffset() > Limits.FILE_SIZE_MAX - length) {
            return Errno.EFBIG;
        }
        boolean overlap =
                source == target && Math.abs(op.getOffset() - op.getSourceOffset()) < length;
        return overlap || op.getSourceOffset() > Long.MAX_VALUE - length ? Errno.EINVAL : null;
    }
}
