package org.globalfs.replica.state.operations;

import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CompactOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Piece;
import org.jspecify.annotations.Nullable;

/**
 * Fewer extents for the same bytes. Whoever made them read the file at one version; any change
 * since then refuses them.
 */
final class Compact {

    private final Tree tree;
    private final Content content;

    Compact(Tree tree, Content content) {
        this.tree = tree;
        this.content = content;
    }

    UpdateReply execute(CompactOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        Errno refused = refused(inode, op);
        if (refused != null || inode == null) {
            UpdateReply reply = Replies.failed(refused == null ? Errno.ESTALE : refused);
            boolean late =
                    refused == Errno.EAGAIN && inode != null && inode.version == op.getVersion();
            return late ? reply.setFence(content.fenceMs()) : reply;
        }
        for (Extent extent : op.getExtents()) {
            content.write(inode, Piece.of(extent, extent.getOffset()));
        }
        content.settle(inode);
        inode.version++;
        tree.store(inode);
        return Replies.done().setAttributes(inode.attributes());
    }

    private @Nullable Errno refused(@Nullable Inode inode, CompactOp op) {
        if (inode == null) {
            return Errno.ESTALE;
        }
        if (!inode.isRegular()) {
            return inode.isDirectory() ? Errno.EISDIR : Errno.EINVAL;
        }
        if (inode.version != op.getVersion()) {
            return Errno.EAGAIN;
        }
        for (Extent extent : op.getExtents()) {
            Errno bad = Write.refused(content, extent, 0);
            if (bad != null) {
                return bad;
            }
            if (extent.getOffset() + extent.getLength() > inode.size) {
                return Errno.EINVAL;
            }
        }
        boolean fits = Write.hasRoom(tree, content, inode, op.getExtents(), 0);
        return fits ? null : Errno.EDQUOT;
    }
}
