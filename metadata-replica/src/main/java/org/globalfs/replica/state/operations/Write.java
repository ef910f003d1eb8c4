package org.globalfs.replica.state.operations;

import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Piece;
import org.jspecify.annotations.Nullable;

/** New content of a file, with an optional setattr right after. */
final class Write {

    private final Tree tree;
    private final Content content;
    private final Xattrs xattrs;
    private final SetAttributes setAttributes;

    Write(Tree tree, Content content, Xattrs xattrs, SetAttributes setAttributes) {
        this.tree = tree;
        this.content = content;
        this.xattrs = xattrs;
        this.setAttributes = setAttributes;
    }

    UpdateReply execute(Call call, WriteOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        Errno refused = refused(call.caller(), inode, op);
        if (refused != null || inode == null) {
            UpdateReply reply = Replies.failed(refused == null ? Errno.ESTALE : refused);
            return refused == Errno.EAGAIN ? reply.setFence(content.fenceMs()) : reply;
        }
        UpdateReply reply = Replies.done();
        long base = op.isAppend() ? inode.size : 0;
        if (!hasRoom(tree, content, inode, op.getExtents(), base)) {
            return Replies.failed(Errno.EDQUOT);
        }
        if (op.isSetAttributes()
                && !op.isAppend()
                && !setAttributes.shorten(call, inode, op.getAttributes())) {
            // Mounts count on two for a write with attributes.
            inode.version++;
            return setAttributes.partly(inode);
        }
        if (!op.getExtents().isEmpty()) {
            for (Extent extent : op.getExtents()) {
                content.write(inode, Piece.of(extent, base + extent.getOffset()));
            }
            inode.mode = call.caller().modeOnceWritten(inode);
            xattrs.dropCapability(inode);
            inode.modified(call.nowNs());
            if (op.isAppend()) {
                reply.setOffset(base + op.getExtents().getFirst().getOffset());
            }
        }
        if (op.isSetAttributes()) {
            setAttributes.apply(call, inode, op.getAttributes());
        }
        tree.store(inode);
        return reply.setAttributes(inode.attributes());
    }

    private @Nullable Errno refused(Caller caller, @Nullable Inode inode, WriteOp op) {
        if (inode == null) {
            return Errno.ESTALE;
        }
        if (!inode.isRegular()) {
            return inode.isDirectory() ? Errno.EISDIR : Errno.EINVAL;
        }
        long base = op.isAppend() ? inode.size : 0;
        for (Extent extent : op.getExtents()) {
            Errno bad = refused(content, extent, base);
            if (bad != null) {
                return bad;
            }
        }
        if (!op.isSetAttributes()) {
            return null;
        }
        return op.getAttributes().getIno() == op.getIno()
                ? SetAttributes.refused(caller, inode, op.getAttributes())
                : Errno.EINVAL;
    }

    static boolean hasRoom(
            Tree tree, Content content, Inode inode, List<Extent> extents, long base) {
        if (inode.quota == 0) {
            return true;
        }
        long atMost = 0;
        for (Extent extent : extents) {
            atMost += extent.getLength();
        }
        return tree.quotas().mayGrow(inode, atMost, () -> content.growth(inode, extents, base));
    }

    /** Why a file cannot get this extent, whose offset counts from {@code base}. */
    static @Nullable Errno refused(Content content, Extent extent, long base) {
        Errno bad = unsound(extent);
        if (bad != null) {
            return bad;
        }
        if (extent.getOffset() > Limits.FILE_SIZE_MAX - base - extent.getLength()) {
            return Errno.EFBIG;
        }
        return extent.isSetBlock() && content.mayBeGone(extent.getBlock()) ? Errno.EAGAIN : null;
    }

    private static @Nullable Errno unsound(Extent extent) {
        long length = extent.getLength();
        if (extent.getOffset() < 0 || length <= 0 || extent.isSetData() == extent.isSetBlock()) {
            return Errno.EINVAL;
        }
        if (length > Limits.FILE_SIZE_MAX) {
            return Errno.EFBIG;
        }
        if (extent.isSetData()) {
            boolean fits =
                    extent.bufferForData().remaining() == length && length <= Limits.INLINE_MAX;
            return fits ? null : Errno.EINVAL;
        }
        long from = extent.getBlockOffset();
        boolean inside =
                Blocks.isSound(extent.getBlock())
                        && from >= 0
                        && from + length <= extent.getBlock().getLength();
        return inside ? null : Errno.EINVAL;
    }
}
