package org.globalfs.client.vfs;

import org.globalfs.protocol.wire.Attributes;

/**
 * What POSIX permissions let a caller do; for answers from the cache, by the same rule as the
 * replicas'.
 */
final class Permissions {

    static final int READ = 4;
    static final int WRITE = 2;
    static final int EXECUTE = 1;

    private Permissions() {}

    static boolean may(Caller caller, Attributes attributes, int mask) {
        int mode = attributes.getMode();
        if (caller.uid() == 0) {
            return (mask & EXECUTE) == 0 || isDirectory(attributes) || (mode & 0111) != 0;
        }
        int granted = mode;
        if (caller.uid() == attributes.getUid()) {
            granted = mode >> 6;
        } else if (inGroup(caller, attributes.getGid())) {
            granted = mode >> 3;
        }
        return (granted & mask) == mask;
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
