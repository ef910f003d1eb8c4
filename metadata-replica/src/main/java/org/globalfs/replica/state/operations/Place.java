package org.globalfs.replica.state.operations;

import java.util.Objects;
import org.globalfs.protocol.Errno;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.jspecify.annotations.Nullable;

/** A name in a directory of this partition, looked up for a caller who means to change it. */
final class Place {

    /**
     * Why the place cannot even be looked at; null when it can. Other members are valid only then.
     */
    final @Nullable Errno unreachable;

    final byte[] name;
    private final @Nullable Inode parent;

    /** What the name points to; null when absent. */
    final @Nullable Dentry dentry;

    private Place(
            @Nullable Errno unreachable,
            byte[] name,
            @Nullable Inode parent,
            @Nullable Dentry dentry) {
        this.unreachable = unreachable;
        this.name = name;
        this.parent = parent;
        this.dentry = dentry;
    }

    static Place find(Tree tree, Caller caller, long parentIno, byte[] name) {
        Inode parent = tree.inode(parentIno);
        Errno unreachable = unreachable(caller, parent, name);
        return unreachable != null
                ? new Place(unreachable, name, null, null)
                : new Place(null, name, parent, tree.dentry(parentIno, name));
    }

    /** Another name in the same directory, sharing its working copy. */
    Place sibling(Tree tree, byte[] other) {
        Errno bad = nameError(other);
        return bad != null
                ? new Place(bad, other, null, null)
                : new Place(null, other, parent, tree.dentry(parent().ino, other));
    }

    static @Nullable Errno unreachable(Caller caller, @Nullable Inode parent, byte[] name) {
        if (parent == null) {
            return Errno.ENOENT;
        }
        if (!parent.isDirectory()) {
            return Errno.ENOTDIR;
        }
        if (!caller.may(parent, Caller.EXECUTE)) {
            return Errno.EACCES;
        }
        return nameError(name);
    }

    static @Nullable Errno nameError(byte[] name) {
        if (name.length == 0) {
            return Errno.ENOENT;
        }
        if (name.length > Limits.NAME_MAX) {
            return Errno.ENAMETOOLONG;
        }
        for (byte letter : name) {
            if (letter == 0 || letter == '/') {
                return Errno.EINVAL;
            }
        }
        return isDots(name) ? Errno.EINVAL : null;
    }

    private static boolean isDots(byte[] name) {
        return name[0] == '.' && (name.length == 1 || name.length == 2 && name[1] == '.');
    }

    Inode parent() {
        return Objects.requireNonNull(parent);
    }

    /** Whether the caller may add this absent name. */
    @Nullable Errno addable(Caller caller) {
        if (parent().nlink == 0) {
            return Errno.ENOENT;
        }
        return caller.may(parent(), Caller.WRITE) ? null : Errno.EACCES;
    }

    /**
     * Whether the caller may take this name away, but for the sticky bit's rule about the inode's
     * owner.
     */
    @Nullable Errno removable(Caller caller) {
        return caller.may(parent(), Caller.WRITE) ? null : Errno.EACCES;
    }
}
