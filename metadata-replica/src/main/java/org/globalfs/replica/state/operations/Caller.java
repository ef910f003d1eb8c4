package org.globalfs.replica.state.operations;

import java.util.List;
import org.globalfs.protocol.posix.Access;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/**
 * Who an operation runs for, and what POSIX permissions let it do. uid 0 has CAP_DAC_OVERRIDE,
 * CAP_FOWNER, CAP_CHOWN, CAP_FSETID and CAP_MKNOD.
 */
public record Caller(int uid, int gid, @Nullable List<Integer> groups) {

    public static final int READ = Access.READ;
    public static final int WRITE = Access.WRITE;
    public static final int EXECUTE = Access.EXECUTE;

    public static Caller of(Credentials credentials) {
        return new Caller(credentials.getUid(), credentials.getGid(), credentials.getGroups());
    }

    public boolean isRoot() {
        return uid == 0;
    }

    public boolean owns(Inode inode) {
        return isRoot() || uid == inode.uid;
    }

    public boolean inGroup(int group) {
        return gid == group || groups != null && groups.contains(group);
    }

    /** Whether all bits of the mask (read, write, execute) are granted. */
    public boolean may(Inode inode, int mask) {
        return Access.granted(
                uid, this::inGroup, inode.mode, inode.uid, inode.gid, inode.accessAcl, mask);
    }

    /** Whether Linux lets the caller set or keep an inode's set-gid bit. */
    private boolean maySetGid(Inode inode) {
        return isRoot() || inGroup(inode.gid);
    }

    /** The mode that a change of the owner by this caller leaves. */
    int modeOnceChowned(Inode inode) {
        return inode.isDirectory() ? inode.mode : Mode.withoutSetId(inode.mode, maySetGid(inode));
    }

    /** The mode that a change of the content by this caller leaves. */
    int modeOnceWritten(Inode inode) {
        return isRoot() ? inode.mode : Mode.withoutSetId(inode.mode, maySetGid(inode));
    }

    /**
     * Whether removing an entry from this directory takes owning the entry's inode (sticky
     * directory of somebody else).
     */
    public boolean mustOwnEntriesOf(Inode directory) {
        return (directory.mode & Mode.STICKY) != 0 && !owns(directory);
    }
}
