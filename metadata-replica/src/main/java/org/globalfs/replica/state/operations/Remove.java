package org.globalfs.replica.state.operations;

import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/** unlink and rmdir inside one partition. */
final class Remove {

    private final Tree tree;
    private final Locks locks;

    Remove(Tree tree, Locks locks) {
        this.tree = tree;
        this.locks = locks;
    }

    UpdateReply execute(Call call, UnlinkOp op) {
        if (!tree.isHere(op.getParent())) {
            return Replies.elsewhere(tree.homes(), op.getParent());
        }
        Place place = Place.find(tree, call.caller(), op.getParent(), op.getName());
        if (place.unreachable != null) {
            return Replies.failed(place.unreachable);
        }
        if (locks.entry(op.getParent(), op.getName())) {
            return Replies.retry();
        }
        Dentry dentry = place.dentry;
        if (dentry == null) {
            return Replies.failed(Errno.ENOENT);
        }
        Errno refused = place.removable(call.caller());
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (!tree.isHere(dentry.ino())) {
            return Replies.escalate(List.of(tree.partition(), tree.home(dentry.ino())))
                    .setExpectedSource(dentry.ino());
        }
        Inode inode = tree.existing(dentry.ino());
        if (call.caller().mustOwnEntriesOf(place.parent()) && !call.caller().owns(inode)) {
            return Replies.failed(Errno.EPERM);
        }
        refused = wrongKind(op.isDirectory(), inode.type());
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (inode.isDirectory()) {
            if (inode.entries > 0) {
                return Replies.failed(Errno.ENOTEMPTY);
            }
            if (locks.inode(inode.ino) || locks.anyEntryOf(inode.ino)) {
                return Replies.retry();
            }
        }
        tree.removeEntry(place.parent(), op.getName(), dentry, call.nowNs());
        tree.dropLink(inode, call.nowNs());
        return Replies.done()
                .setAttributes(inode.attributes())
                .setParent(place.parent().attributes())
                .setRemoved(inode.ino);
    }

    static @Nullable Errno wrongKind(boolean directoryWanted, int type) {
        if (directoryWanted) {
            return type == Mode.DIRECTORY ? null : Errno.ENOTDIR;
        }
        return type == Mode.DIRECTORY ? Errno.EISDIR : null;
    }
}
