package org.globalfs.client.vfs;

import com.sun.security.auth.module.UnixSystem;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the root of a new tree to the user who mounts it. It begins as root's, and where nobody is
 * root nobody could ever make anything in it: the kernel lets no other user change its owner.
 */
public final class RootClaim {
    private static final Logger LOG = LoggerFactory.getLogger(RootClaim.class);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private RootClaim() {}

    /** For the user of this process; a tree that cannot be had yet is mounted all the same. */
    public static void claim(FileSystem tree) {
        UnixSystem user = new UnixSystem();
        int uid = (int) user.getUid();
        int gid = (int) user.getGid();
        try {
            claim(tree, uid, gid);
        } catch (FsException e) {
            LOG.warn(
                    "the root of the tree could not be given to user {} ({}): mount it again",
                    uid,
                    e.errno());
        }
    }

    /**
     * Does nothing for root, and nothing where anybody has made or changed anything in the root.
     */
    static void claim(FileSystem tree, int uid, int gid) throws FsException {
        if (uid == 0) {
            return;
        }
        Caller root = Caller.of(0, 0, new int[0], System.nanoTime() + PATIENCE_NS);
        Stat now = tree.getAttributes(root, FileSystem.ROOT, FileSystem.NO_HANDLE).stat();
        // A new root's times are 0 until its first change.
        if (now.uid() != 0 || now.ctimeNs() != 0) {
            return;
        }
        int owner = SetAttributes.UID | SetAttributes.GID;
        tree.setAttributes(
                root,
                FileSystem.ROOT,
                new SetAttributes(owner, 0, uid, gid, 0, 0, 0, FileSystem.NO_HANDLE));
        LOG.info("the new tree's root belongs to user {}, group {}", uid, gid);
    }
}
