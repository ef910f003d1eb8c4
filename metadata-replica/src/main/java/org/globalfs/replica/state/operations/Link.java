package org.globalfs.replica.state.operations;

import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.jspecify.annotations.Nullable;

/** link inside one partition. */
final class Link {

    private final Tree tree;
    private final Locks locks;

    Link(Tree tree, Locks locks) {
        this.tree = tree;
        this.locks = locks;
    }

    UpdateReply execute(Call call, LinkOp op) {
        if (!tree.isHere(op.getNewParent())) {
            return Replies.elsewhere(tree.homes(), op.getNewParent());
        }
        if (!tree.isHere(op.getIno())) {
            return Replies.escalate(List.of(tree.home(op.getNewParent()), tree.home(op.getIno())))
                    .setExpectedSource(op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        Place place = Place.find(tree, call.caller(), op.getNewParent(), op.getNewName());
        Errno refused = place.unreachable != null ? place.unreachable : unlinkable(inode);
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (locks.entry(op.getNewParent(), op.getNewName()) || locks.inode(op.getNewParent())) {
            return Replies.retry();
        }
        if (place.dentry != null) {
            return Replies.failed(Errno.EEXIST);
        }
        refused = place.addable(call.caller());
        if (refused != null) {
            return Replies.failed(refused);
        }
        if (locks.inode(op.getIno())) {
            // It is about to go to another directory, with all its names.
            return Replies.retry();
        }
        Inode linked = tree.existing(op.getIno());
        refused = tree.quotas().refusesLink(linked, place.parent());
        if (refused != null) {
            return Replies.failed(refused);
        }
        tree.quotas().link(linked, place.parent());
        tree.addEntry(place.parent(), op.getNewName(), linked.ino, linked.type(), call.nowNs());
        tree.addLink(linked, call.nowNs());
        return Replies.done()
                .setAttributes(linked.attributes())
                .setParent(place.parent().attributes());
    }

    /** Why an inode can get no further name. */
    static @Nullable Errno unlinkable(@Nullable Inode inode) {
        if (inode == null || inode.nlink == 0 && (inode.flags & Inode.LINKABLE) == 0) {
            return Errno.ENOENT;
        }
        if (inode.isDirectory()) {
            return Errno.EPERM;
        }
        return inode.nlink >= Limits.LINK_MAX ? Errno.EMLINK : null;
    }
}
