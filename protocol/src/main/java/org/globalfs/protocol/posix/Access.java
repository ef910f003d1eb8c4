package org.globalfs.protocol.posix;

import java.util.function.IntPredicate;

/** What the permission bits and the access control list of an inode let somebody do. */
public final class Access {

    public static final int READ = 4;
    public static final int WRITE = 2;
    public static final int EXECUTE = 1;

    private static final int TYPE = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int ANY_EXECUTE = 0111;
    private static final int GROUP_BITS = 070;

    private Access() {}

    /**
     * Whether all bits of {@code wanted} are granted. uid 0 may do all but execute what nobody may.
     *
     * @param acl the access control list; empty: there is none. Like Linux, one whose mask lets
     *     nobody do anything is passed over
     */
    public static boolean granted(
            int uid, IntPredicate inGroup, int mode, int owner, int group, byte[] acl, int wanted) {
        if (uid == 0) {
            boolean directory = (mode & TYPE) == DIRECTORY;
            return (wanted & EXECUTE) == 0 || directory || (mode & ANY_EXECUTE) != 0;
        }
        if (uid == owner) {
            return (mode >> 6 & wanted) == wanted;
        }
        if (acl.length > 0 && (mode & GROUP_BITS) != 0) {
            return PosixAcl.of(acl).grants(uid, inGroup, owner, group, wanted);
        }
        int granted = inGroup.test(group) ? mode >> 3 : mode;
        return (granted & wanted) == wanted;
    }
}
