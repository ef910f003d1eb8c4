package org.globalfs.client.vfs;

import org.globalfs.protocol.posix.Access;
import org.globalfs.protocol.wire.Attributes;

/**
 * What POSIX permissions let a caller do; for answers from the cache, by the same rule as the
 * replicas'.
 */
final class Permissions {

    static final int READ = Access.READ;
    static final int WRITE = Access.WRITE;
    static final int EXECUTE = Access.EXECUTE;

    private static final byte[] NO_ACL = {};

    private Permissions() {}

    static boolean may(Caller caller, Attributes attributes, int mask) {
        return Access.granted(
                caller.uid(),
                group -> inGroup(caller, group),
                attributes.getMode(),
                attributes.getUid(),
                attributes.getGid(),
                attributes.isSetAccessAcl() ? attributes.getAccessAcl() : NO_ACL,
                mask);
    }

    static boolean inGroup(Caller caller, int gid) {
        if (caller.gid() == gid) {
            return true;
        }
        for (int group : caller.groups()) {
            if (group == gid) {
                return true;
            }
        }
        return false;
    }

    static boolean isDirectory(Attributes attributes) {
        return (attributes.getMode() & Stat.TYPE_MASK) == Stat.DIRECTORY;
    }
}
