package org.globalfs.replica.state.operations;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.posix.PosixAcl;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/** mknod, mkdir, symlink and open(O_CREAT). */
final class Create {

    private final Tree tree;
    private final Content content;
    private final Xattrs xattrs;
    private final Locks locks;
    private final Outbox outbox;

    Create(Tree tree, Content content, Xattrs xattrs, Locks locks, Outbox outbox) {
        this.tree = tree;
        this.content = content;
        this.xattrs = xattrs;
        this.locks = locks;
        this.outbox = outbox;
    }

    UpdateReply execute(Call call, CreateOp op) {
        if (!tree.isHere(op.getParent())) {
            return Replies.elsewhere(tree.homes(), op.getParent());
        }
        if (op.isTemporary()) {
            return temporary(call, op);
        }
        Place place = Place.find(tree, call.caller(), op.getParent(), op.getName());
        if (place.unreachable != null) {
            return Replies.failed(place.unreachable);
        }
        if (locks.entry(op.getParent(), op.getName()) || locks.inode(op.getParent())) {
            return Replies.retry();
        }
        int mode = Mode.type(op.getMode()) == 0 ? op.getMode() | Mode.REGULAR : op.getMode();
        if (place.dentry != null) {
            boolean mayExist = !op.isExclusive() && Mode.isRegular(mode);
            return mayExist ? open(call, op, place, place.dentry) : Replies.failed(Errno.EEXIST);
        }
        Errno refused = place.addable(call.caller());
        if (refused == null) {
            refused = invalid(call, op, mode);
        }
        if (refused == null && !isForCreator(call, mode, place.parent())) {
            refused = tree.quotas().refusesInode(place.parent());
        }
        return refused != null ? Replies.failed(refused) : make(call, op, mode, place);
    }

    /** open(O_TMPFILE): an orphan, kept while its maker's session holds it open. */
    private UpdateReply temporary(Call call, CreateOp op) {
        Inode parent = tree.inode(op.getParent());
        if (parent == null || parent.nlink == 0) {
            return Replies.failed(parent == null ? Errno.ESTALE : Errno.ENOENT);
        }
        if (!parent.isDirectory()) {
            return Replies.failed(Errno.ENOTDIR);
        }
        if (!call.caller().may(parent, Caller.WRITE | Caller.EXECUTE)) {
            return Replies.failed(Errno.EACCES);
        }
        Errno full = tree.quotas().refusesInode(parent);
        if (full != null) {
            return Replies.failed(full);
        }
        int mode = Mode.REGULAR | op.getMode() & Mode.PERMISSIONS;
        Inode inode = fresh(call, op, mode, parent, tree.newIno());
        inode.nlink = 0;
        inode.flags = op.isExclusive() ? 0 : Inode.LINKABLE;
        tree.add(inode);
        tree.orphan(inode.ino, call.nowNs());
        return Replies.done().setExisted(false).setAttributes(inode.attributes());
    }

    private static @Nullable Errno invalid(Call call, CreateOp op, int mode) {
        return switch (Mode.type(mode)) {
            case Mode.REGULAR, Mode.DIRECTORY, Mode.FIFO, Mode.SOCKET -> null;
            case Mode.BLOCK_DEVICE, Mode.CHARACTER_DEVICE ->
                    call.caller().isRoot() || isWhiteout(op, mode) ? null : Errno.EPERM;
            case Mode.SYMLINK ->
                    !op.isSetTarget() || op.getTarget().length == 0
                            ? Errno.ENOENT
                            : op.getTarget().length > Limits.SYMLINK_MAX
                                    ? Errno.ENAMETOOLONG
                                    : null;
            default -> Errno.EINVAL;
        };
    }

    /**
     * What overlayfs marks a removed name by: it leads to no device, so that anybody may make it.
     */
    private static boolean isWhiteout(CreateOp op, int mode) {
        return Mode.type(mode) == Mode.CHARACTER_DEVICE && op.getRdev() == 0;
    }

    /** open(O_CREAT) of a name that exists. Whether it may be opened is the reader's check. */
    private UpdateReply open(Call call, CreateOp op, Place place, Dentry dentry) {
        if (dentry.type() == Mode.DIRECTORY) {
            return Replies.failed(Errno.EISDIR);
        }
        if (!tree.isHere(dentry.ino())) {
            // Its attributes are elsewhere: the client looks it up again and opens it there.
            return Replies.failed(Errno.ESTALE);
        }
        Inode inode = tree.existing(dentry.ino());
        if (op.isTruncate() && inode.isRegular()) {
            if (!call.caller().may(inode, Caller.WRITE)) {
                return Replies.failed(Errno.EACCES);
            }
            if (!content.isCutAtOnce(inode)) {
                // As if it were elsewhere: whoever opens it apart cuts it off in steps.
                return Replies.failed(Errno.ESTALE);
            }
            content.truncate(inode, 0);
            inode.mode = call.caller().modeOnceWritten(inode);
            xattrs.dropCapability(inode);
            inode.modified(call.nowNs());
            tree.store(inode);
        }
        return Replies.done()
                .setExisted(true)
                .setAttributes(inode.attributes())
                .setParent(place.parent().attributes());
    }

    /** In place of an entry of the directory that is renamed with RENAME_WHITEOUT. */
    Inode whiteout(Call call, Inode parent) {
        CreateOp op =
                new CreateOp(parent.ino, ByteBuffer.allocate(0), Mode.CHARACTER_DEVICE).setRdev(0);
        Inode inode = fresh(call, op, op.getMode(), parent, tree.newIno());
        tree.add(inode);
        return inode;
    }

    private UpdateReply make(Call call, CreateOp op, int mode, Place place) {
        Inode parent = place.parent();
        boolean elsewhere = isForCreator(call, mode, parent);
        long ino = elsewhere ? tree.newInoOf(call.origin()) : tree.newIno();
        Inode inode = fresh(call, op, mode, parent, ino);
        if (elsewhere) {
            outbox.effects(elsewhere(call, inode));
        } else {
            tree.add(inode);
        }
        tree.addEntry(parent, op.getName(), ino, inode.type(), call.nowNs());
        return Replies.done()
                .setExisted(false)
                .setAttributes(inode.attributes())
                .setParent(parent.attributes());
    }

    /** Whether it is to live in its creator's region, where no quota of partition 0 counts it. */
    private boolean isForCreator(Call call, int mode, Inode parent) {
        return Mode.isDirectory(mode)
                && tree.partition() == 0
                && call.origin() != 0
                && (parent.flags & Inode.PLACEMENT_CREATOR) != 0;
    }

    private List<Effect> elsewhere(Call call, Inode inode) {
        List<Effect> effects = new ArrayList<>();
        if (tree.globalBelow() > 0) {
            // It may be the region's first directory: nobody told that partition before.
            effects.add(new Effect.GlobalBelow(call.origin(), tree.globalBelow()));
        }
        effects.add(
                new Effect.CreateDirectory(
                        call.origin(),
                        inode.ino,
                        inode.mode,
                        inode.uid,
                        inode.gid,
                        call.nowNs(),
                        inode.parent,
                        inode.accessAcl,
                        inode.defaultAcl));
        return effects;
    }

    private Inode fresh(Call call, CreateOp op, int mode, Inode parent, long ino) {
        Inode inode = new Inode(ino);
        inode.quota = tree.quotas().live(parent.quota);
        inode.mode = mode & (Mode.TYPE | Mode.PERMISSIONS);
        inode.uid = call.caller().uid();
        inode.gid = call.caller().gid();
        if ((parent.mode & Mode.SET_GID) != 0) {
            inode.gid = parent.gid;
            if (Mode.isDirectory(mode)) {
                inode.mode |= Mode.SET_GID;
            } else if ((mode & Mode.GROUP_EXECUTE) != 0
                    && !call.caller().isRoot()
                    && !call.caller().inGroup(parent.gid)) {
                inode.mode &= ~Mode.SET_GID;
            }
        }
        restrict(inode, op, parent);
        inode.atimeNs = call.nowNs();
        inode.mtimeNs = call.nowNs();
        inode.ctimeNs = call.nowNs();
        inode.btimeNs = call.nowNs();
        inode.version = 1;
        inode.nlink = 1;
        switch (Mode.type(mode)) {
            case Mode.DIRECTORY -> {
                inode.nlink = 2;
                inode.parent = parent.ino;
                inode.nextCookie = Tree.FIRST_COOKIE;
                inode.flags = placement(parent.flags);
            }
            case Mode.SYMLINK -> {
                inode.target = op.getTarget();
                inode.size = inode.target.length;
            }
            case Mode.BLOCK_DEVICE, Mode.CHARACTER_DEVICE -> inode.rdev = op.getRdev();
            default -> {}
        }
        return inode;
    }

    /** What is left of the mode asked for: by the directory's default list, else by the umask. */
    private static void restrict(Inode inode, CreateOp op, Inode parent) {
        if (inode.type() == Mode.SYMLINK) {
            return;
        }
        if (parent.defaultAcl.length == 0) {
            inode.mode &= ~(op.getUmask() & Mode.ACCESS);
            return;
        }
        PosixAcl acl = PosixAcl.of(parent.defaultAcl).inherited(inode.mode);
        inode.mode = inode.mode & ~Mode.ACCESS | acl.mode();
        if (!acl.isMode()) {
            inode.accessAcl = acl.toBytes();
        }
        if (inode.isDirectory()) {
            inode.defaultAcl = parent.defaultAcl;
        }
    }

    private static int placement(int flags) {
        return (flags & Inode.PLACEMENT_CREATOR_BELOW) != 0
                ? Inode.PLACEMENT_CREATOR
                : flags & Inode.PLACEMENT_CREATOR;
    }
}
