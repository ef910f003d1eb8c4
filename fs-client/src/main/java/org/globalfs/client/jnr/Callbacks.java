package org.globalfs.client.jnr;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.Delegate;
import jnr.ffi.types.dev_t;
import jnr.ffi.types.gid_t;
import jnr.ffi.types.mode_t;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;
import jnr.ffi.types.uid_t;

/**
 * The signatures of {@code struct fuse_operations}. Public, because jnr-ffi makes classes that call
 * them. Unlike jnr-fuse's own they get paths and names as pointers: a Java string could not carry
 * one that is no UTF-8. The path is null where the call comes by an open file. An answer is 0 or a
 * count, or {@code -errno}.
 */
public final class Callbacks {

    private Callbacks() {}

    /** unlink, rmdir. */
    public interface OfPath {
        @Delegate
        int call(Pointer path);
    }

    /**
     * A path and where the outcome goes, an open file, or a second string: getattr, statfs,
     * utimens; open, opendir, release, releasedir, flush; rename, link, symlink, removexattr.
     */
    public interface OfPathAndPointer {
        @Delegate
        int call(Pointer path, Pointer other);
    }

    /** fgetattr. */
    public interface OfPathAndTwoPointers {
        @Delegate
        int call(Pointer path, Pointer first, Pointer second);
    }

    /** access. */
    public interface OfPathAndNumber {
        @Delegate
        int call(Pointer path, int number);
    }

    /** fsync, fsyncdir. */
    public interface OfSync {
        @Delegate
        int call(Pointer path, int dataOnly, Pointer info);
    }

    /** mkdir, chmod. */
    public interface OfMode {
        @Delegate
        int call(Pointer path, @mode_t long mode);
    }

    /** create. */
    public interface OfCreate {
        @Delegate
        int call(Pointer path, @mode_t long mode, Pointer info);
    }

    /** mknod. */
    public interface OfMakeNode {
        @Delegate
        int call(Pointer path, @mode_t long mode, @dev_t long device);
    }

    /** chown. */
    public interface OfOwner {
        @Delegate
        int call(Pointer path, @uid_t long uid, @gid_t long gid);
    }

    /** truncate. */
    public interface OfTruncate {
        @Delegate
        int call(Pointer path, @off_t long size);
    }

    /** ftruncate. */
    public interface OfOpenTruncate {
        @Delegate
        int call(Pointer path, @off_t long size, Pointer info);
    }

    /** readlink, listxattr. */
    public interface OfBuffer {
        @Delegate
        int call(Pointer path, Pointer buffer, @size_t long size);
    }

    /** read, write. */
    public interface OfTransfer {
        @Delegate
        int call(Pointer path, Pointer buffer, @size_t long size, @off_t long offset, Pointer info);
    }

    /** readdir. */
    public interface OfListing {
        @Delegate
        int call(Pointer path, Pointer buffer, Pointer filler, @off_t long offset, Pointer info);
    }

    /** getxattr. */
    public interface OfGetXattr {
        @Delegate
        int call(Pointer path, Pointer name, Pointer value, @size_t long size);
    }

    /** setxattr. */
    public interface OfSetXattr {
        @Delegate
        int call(Pointer path, Pointer name, Pointer value, @size_t long size, int flags);
    }

    /** lock. */
    public interface OfLock {
        @Delegate
        int call(Pointer path, Pointer info, int command, Pointer lock);
    }

    /** flock. */
    public interface OfFlock {
        @Delegate
        int call(Pointer path, Pointer info, int operation);
    }

    /** fallocate. */
    public interface OfAllocate {
        @Delegate
        int call(Pointer path, int mode, @off_t long offset, @off_t long length, Pointer info);
    }
}
