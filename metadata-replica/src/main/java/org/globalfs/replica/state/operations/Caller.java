package org.globalfs.replica.state.operations;

import java.util.List;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/**
 * Who an operation runs for, and what POSIX permissions let it do. uid 0 has CAP_DAC_OVERRIDE,
 * CAP_FOWNER, CAP_CHOWN, CAP_FSETID and CAP_MKNOD.
 */
public record Caller(int uid, int gid, @Nullable List<Integer> groups) {

    public static final int READ = 4;
    public static final int WRITE = 2;
    public static final int EXECUTE = 1;

    private static final int ANY_EXECUTE = 0111;

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
        if (isRoot()) {
            return (mask & EXECUTE) == 0 || inode.isDirectory() || (inode.mode & ANY_EXECUTE) != 0;
        }
        int granted =
                uid == inode.uid
                        ? inode.mode >> 6
                        : inGroup(inode.gid) ? inode.mode >> 3 : inode.mode;
        return (granted & mask) == mask;
    }

    /**
     * Whether removing an entry from this directory takes owning the entry's inode (sticky
     * directory of somebody else).
     */
    public boolean mustOwnEntriesOf(Inode directory) {
        return (directory.mode & Mode.STICKY) != 0 && !owns(directory);
    }
}
