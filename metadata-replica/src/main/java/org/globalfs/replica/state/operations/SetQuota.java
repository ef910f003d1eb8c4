package org.globalfs.replica.state.operations;

import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Quota;
import org.jspecify.annotations.Nullable;

/**
 * Sets, changes and clears the quota of a directory's tree. New entries of the directory count from
 * now on; what is there already, {@link AdoptQuota} counts afterwards.
 */
final class SetQuota {

    private final Tree tree;
    private final Quotas quotas;
    private final Locks locks;

    SetQuota(Tree tree, Locks locks) {
        this.tree = tree;
        this.quotas = tree.quotas();
        this.locks = locks;
    }

    UpdateReply execute(Call call, SetQuotaOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode directory = tree.inode(op.getIno());
        Errno refused = refused(call.caller(), directory, op);
        if (refused != null || directory == null) {
            return Replies.failed(refused == null ? Errno.ESTALE : refused);
        }
        if (locks.inode(directory.ino) || locks.anyEntryOf(directory.ino)) {
            return Replies.retry();
        }
        Quota own = quotas.ownOf(directory);
        long bytes = op.isSetBytes() ? op.getBytes() : own == null ? 0 : own.limitBytes;
        long inodes = op.isSetInodes() ? op.getInodes() : own == null ? 0 : own.limitInodes;
        boolean none = bytes == 0 && inodes == 0;
        if (own == null && none) {
            return Replies.failed(Errno.ENODATA);
        }
        if (own == null) {
            quotas.begin(tree.newIno(), directory, bytes, inodes);
        } else if (none) {
            quotas.clear(own);
        } else {
            own.limitBytes = bytes;
            own.limitInodes = inodes;
            quotas.store(own);
        }
        directory.changed(call.nowNs());
        tree.store(directory);
        return Replies.done().setAttributes(directory.attributes());
    }

    private @Nullable Errno refused(Caller caller, @Nullable Inode directory, SetQuotaOp op) {
        if (directory == null) {
            return Errno.ESTALE;
        }
        if (!caller.isRoot()) {
            return Errno.EPERM;
        }
        if (!directory.isDirectory()) {
            return Errno.ENOTDIR;
        }
        if (directory.nlink == 0) {
            return Errno.ENOENT;
        }
        return op.getBytes() < 0 || op.getInodes() < 0 ? Errno.EINVAL : null;
    }
}
