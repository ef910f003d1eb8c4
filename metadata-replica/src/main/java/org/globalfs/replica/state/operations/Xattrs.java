package org.globalfs.replica.state.operations;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.function.BiConsumer;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.Placement;
import org.globalfs.protocol.posix.PosixAcl;
import org.globalfs.protocol.posix.Xattr;
import org.globalfs.protocol.wire.RemoveXattrOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Extended attributes. Access control lists stand in the inode's record, because every permission
 * check needs them; all others have rows of their own, which the inode counts.
 */
final class Xattrs {

    private static final byte FORMAT = 1;
    private static final byte[] NONE = {};

    /** Where directories made in a directory that lives in partition 0 are placed; never listed. */
    private static final byte[] PLACEMENT = Placement.ATTRIBUTE.getBytes(US_ASCII);

    /** When the directory's tree moves by itself: root's to say; never listed. */
    private static final byte[] POLICY = MoveRule.ATTRIBUTE.getBytes(US_ASCII);

    private static final String CREATOR = Placement.CREATOR.word();
    private static final String INHERIT = Placement.INHERIT.word();
    private static final String CREATOR_BELOW = INHERIT + "," + CREATOR;

    private final MutableRecords records;
    private final Tree tree;

    Xattrs(MutableRecords records, Tree tree) {
        this.records = records;
        this.tree = tree;
    }

    UpdateReply set(Call call, SetXattrOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        if (inode == null) {
            return Replies.failed(Errno.ESTALE);
        }
        byte[] name = op.getName();
        byte[] value = op.getValue();
        Xattr space = Xattr.of(name);
        Errno refused = refused(call.caller(), inode, name);
        if (refused == null) {
            refused = invalid(op, value);
        }
        if (refused == null && space != null && space.isAcl() && isNone(value)) {
            return removeAcl(call, inode, space);
        }
        if (refused == null) {
            if (space == Xattr.ACCESS_ACL) {
                refused = setAccess(call.caller(), inode, value);
            } else if (space == Xattr.DEFAULT_ACL) {
                refused = setDefault(inode, value);
            } else if (Arrays.equals(name, PLACEMENT)) {
                refused = place(tree.partition(), call.caller(), inode, value);
            } else {
                refused = put(inode, name, value, op.getFlags());
            }
        }
        return refused != null ? Replies.failed(refused) : changed(call, inode);
    }

    private UpdateReply changed(Call call, Inode inode) {
        inode.changed(call.nowNs());
        tree.store(inode);
        return Replies.done().setAttributes(inode.attributes());
    }

    private static @Nullable Errno invalid(SetXattrOp op, byte[] value) {
        if ((op.getFlags() & ~(Xattr.CREATE | Xattr.REPLACE)) != 0) {
            return Errno.EINVAL;
        }
        return value.length > Limits.XATTR_VALUE_MAX ? Errno.E2BIG : null;
    }

    private static @Nullable Errno refused(Caller caller, Inode inode, byte[] name) {
        if (Arrays.equals(name, POLICY)) {
            if (!caller.isRoot()) {
                return Errno.EPERM;
            }
            return inode.isDirectory() ? null : Errno.EOPNOTSUPP;
        }
        return Xattr.unwritable(
                name,
                inode.mode,
                caller.isRoot(),
                caller.owns(inode),
                () -> caller.may(inode, Caller.WRITE));
    }

    private static @Nullable Errno unsoundAcl(byte[] value) {
        Errno malformed = PosixAcl.malformed(value);
        if (malformed != null) {
            return malformed;
        }
        return value.length > Limits.ACL_MAX ? Errno.ENOSPC : null;
    }

    /** Sets the mode with it; a list that says no more than the mode is not kept. */
    private static @Nullable Errno setAccess(Caller caller, Inode inode, byte[] value) {
        Errno unsound = unsoundAcl(value);
        if (unsound != null) {
            return unsound;
        }
        PosixAcl acl = PosixAcl.of(value);
        inode.accessAcl = acl.isMode() ? NONE : value;
        inode.mode = inode.mode & ~Mode.ACCESS | acl.mode();
        if (!caller.isRoot() && !caller.inGroup(inode.gid)) {
            inode.mode &= ~Mode.SET_GID;
        }
        return null;
    }

    private static @Nullable Errno setDefault(Inode inode, byte[] value) {
        Errno unsound = unsoundAcl(value);
        if (unsound != null) {
            return unsound;
        }
        if (!inode.isDirectory()) {
            return Errno.EACCES;
        }
        inode.defaultAcl = value;
        return null;
    }

    /** No bytes at all, or a list without entries. */
    private static boolean isNone(byte[] value) {
        return value.length == 0
                || PosixAcl.malformed(value) == null && PosixAcl.of(value).isEmpty();
    }

    /**
     * A list that is not there is as good as removed, without an error or a new ctime. Its version
     * is new all the same: mounts count on one for each update that succeeds.
     */
    private UpdateReply removeAcl(Call call, Inode inode, Xattr which) {
        boolean access = which == Xattr.ACCESS_ACL;
        if ((access ? inode.accessAcl : inode.defaultAcl).length == 0) {
            inode.version++;
            tree.store(inode);
            return Replies.done().setAttributes(inode.attributes());
        }
        if (access) {
            inode.accessAcl = NONE;
        } else {
            inode.defaultAcl = NONE;
        }
        return changed(call, inode);
    }

    private static @Nullable Errno place(int partition, Caller caller, Inode inode, byte[] value) {
        if (!caller.owns(inode)) {
            return Errno.EPERM;
        }
        if (!inode.isDirectory() || partition != 0) {
            return Errno.EOPNOTSUPP;
        }
        String rule = new String(value, US_ASCII);
        boolean creator = rule.equals(CREATOR);
        boolean below = rule.equals(CREATOR_BELOW);
        if (!creator && !below && !rule.equals(INHERIT)) {
            return Errno.EINVAL;
        }
        inode.flags &= ~(Inode.PLACEMENT_CREATOR | Inode.PLACEMENT_CREATOR_BELOW);
        inode.flags |= creator ? Inode.PLACEMENT_CREATOR : 0;
        inode.flags |= below ? Inode.PLACEMENT_CREATOR_BELOW : 0;
        return null;
    }

    private @Nullable Errno put(Inode inode, byte[] name, byte[] value, int flags) {
        byte[] old = stored(records, inode, name);
        if (old != null && (flags & Xattr.CREATE) != 0) {
            return Errno.EEXIST;
        }
        if (old == null && (flags & Xattr.REPLACE) != 0) {
            return Errno.ENODATA;
        }
        long names = inode.xattrNames + (old == null ? name.length + 1 : 0);
        long values = inode.xattrValues + value.length - (old == null ? 0 : old.length);
        if (names > Limits.XATTR_NAMES_MAX || values > Limits.XATTR_VALUES_MAX) {
            return Errno.ENOSPC;
        }
        inode.xattrNames = names;
        inode.xattrValues = values;
        inode.flags |= flagOf(name);
        byte[] row = new Packer(1 + value.length).u8(FORMAT).raw(value, 0, value.length).done();
        records.put(Table.XATTR, Keys.of(inode.ino, name), row);
        return null;
    }

    UpdateReply remove(Call call, RemoveXattrOp op) {
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        Inode inode = tree.inode(op.getIno());
        if (inode == null) {
            return Replies.failed(Errno.ESTALE);
        }
        byte[] name = op.getName();
        Errno refused = refused(call.caller(), inode, name);
        // Whoever may write takes it away by writing; the kernel does it for him beforehand.
        boolean capability =
                Xattr.isCapability(name)
                        && (call.caller().owns(inode) || call.caller().may(inode, Caller.WRITE));
        if (refused != null && !capability) {
            return Replies.failed(refused);
        }
        if (Arrays.equals(name, PLACEMENT)) {
            return Replies.failed(Errno.EPERM);
        }
        Xattr space = Xattr.of(name);
        if (space != null && space.isAcl()) {
            return removeAcl(call, inode, space);
        }
        byte[] old = stored(records, inode, name);
        if (old == null) {
            return Replies.failed(Errno.ENODATA);
        }
        drop(inode, name, old);
        return changed(call, inode);
    }

    private void drop(Inode inode, byte[] name, byte[] old) {
        inode.xattrNames -= name.length + 1;
        inode.xattrValues -= old.length;
        inode.flags &= ~flagOf(name);
        records.delete(Table.XATTR, Keys.of(inode.ino, name));
    }

    private static int flagOf(byte[] name) {
        return Xattr.isCapability(name)
                ? Inode.CAPABILITY
                : Arrays.equals(name, POLICY) ? Inode.MOVE_POLICY : 0;
    }

    /** Its content, size or owner changes: what gave its program capabilities goes. */
    void dropCapability(Inode inode) {
        if ((inode.flags & Inode.CAPABILITY) != 0) {
            byte[] name = Xattr.capability();
            byte[] old = stored(records, inode, name);
            if (old != null) {
                drop(inode, name, old);
            }
        }
    }

    /** An attribute of any name space, without a look at permissions; null: absent. */
    static byte @Nullable [] value(Records records, int partition, Inode inode, byte[] name) {
        Xattr space = Xattr.of(name);
        if (space == Xattr.ACCESS_ACL || space == Xattr.DEFAULT_ACL) {
            byte[] acl = space == Xattr.ACCESS_ACL ? inode.accessAcl : inode.defaultAcl;
            return acl.length == 0 ? null : acl.clone();
        }
        if (Arrays.equals(name, PLACEMENT)) {
            return partition == 0 ? placement(inode) : null;
        }
        return stored(records, inode, name);
    }

    private static byte @Nullable [] placement(Inode inode) {
        if (!inode.isDirectory()) {
            return null;
        }
        String rule =
                (inode.flags & Inode.PLACEMENT_CREATOR) != 0
                        ? CREATOR
                        : (inode.flags & Inode.PLACEMENT_CREATOR_BELOW) != 0
                                ? CREATOR_BELOW
                                : INHERIT;
        return rule.getBytes(US_ASCII);
    }

    private static byte @Nullable [] stored(Records records, Inode inode, byte[] name) {
        if (inode.xattrNames == 0) {
            return null;
        }
        byte[] row = records.get(Table.XATTR, Keys.of(inode.ino, name));
        return row == null ? null : decode(row);
    }

    private static byte[] decode(byte[] row) {
        return new Unpacker(row).version(FORMAT, "extended attribute").rest();
    }

    /** All that listxattr(2) may show, access control lists last. */
    static void forEach(Records records, Inode inode, BiConsumer<byte[], byte[]> visitor) {
        byte[] prefix = Keys.of(inode.ino);
        if (inode.xattrNames > 0) {
            records.scan(
                    Table.XATTR,
                    prefix,
                    prefix,
                    (key, row) -> {
                        byte[] name = Keys.tail(key);
                        if (!Arrays.equals(name, POLICY)) {
                            visitor.accept(name, decode(row));
                        }
                        return true;
                    });
        }
        if (inode.accessAcl.length > 0) {
            visitor.accept(Xattr.ACCESS_ACL.fullName(), inode.accessAcl.clone());
        }
        if (inode.defaultAcl.length > 0) {
            visitor.accept(Xattr.DEFAULT_ACL.fullName(), inode.defaultAcl.clone());
        }
    }

    /** Forgets all of an inode that is forgotten itself. */
    static void erase(MutableRecords records, Inode inode) {
        if (inode.xattrNames == 0) {
            return;
        }
        byte[] prefix = Keys.of(inode.ino);
        records.scan(
                Table.XATTR,
                prefix,
                prefix,
                (key, row) -> {
                    records.delete(Table.XATTR, key);
                    return true;
                });
    }
}
