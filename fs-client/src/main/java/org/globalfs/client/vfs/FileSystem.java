package org.globalfs.client.vfs;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.globalfs.protocol.Errno;

/**
 * A file system as the kernel's protocol sees it: inodes, names in bytes, explicit callers.
 *
 * <p>Called by many threads at once. Each call runs on a thread of its own and may block; one that
 * outlives {@link Caller#deadlineNs()} has already been answered with EIO on its behalf, and its
 * result is dropped: an opened handle is then released and a counted lookup forgotten by the caller
 * of this interface. Threads are never interrupted ({@code Thread.interrupt} would close shared
 * channels): a long wait looks at {@link Caller#cancelled()}.
 *
 * <p>Expected failures are {@link FsException}; anything else thrown becomes EIO and a logged stack
 * trace.
 *
 * <p>Names never hold {@code '/'} or NUL, and are never "." or "..". Modes hold type and permission
 * bits as in {@code st_mode}; {@link Caller#umask} is the implementation's to apply. A handle is
 * any number ≥ 0 that the implementation chose.
 *
 * <p>Lookup counts: every returned {@link Entry} with a {@link Stat} (from lookup, the creating
 * calls, link, and entries given to a {@link DirectorySink} that wants them) adds one to its
 * inode's count; {@link #forget} takes them back. At unmount the kernel forgets nothing: {@link
 * #close} ends all counts.
 *
 * <p>Set-id bits and {@code security.capability}: the implementation clears them on write,
 * truncation and change of owner (the kernel is told so, FUSE_HANDLE_KILLPRIV_V2).
 */
public interface FileSystem extends AutoCloseable {

    /** Inode number of the root directory. */
    long ROOT = 1;

    /** In place of a handle: the call does not come through an open file. */
    long NO_HANDLE = -1;

    /**
     * The kernel is connected; {@code cache} stays valid until {@link #close}. Called once, before
     * any other call.
     */
    default void mounted(KernelCache cache) {}

    /** A request that a thread works on. */
    interface Answering extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * For a mount whose kernel may remember what was before an update: what this thread does until
     * that is closed is one request, and the kernel has its answer by then.
     */
    default Answering answering() {
        return () -> {};
    }

    /**
     * The inode behind a name. Missing: ENOENT, or {@link Entry#absent} to let the kernel remember
     * that.
     */
    Entry lookup(Caller caller, long parent, byte[] name) throws FsException;

    /**
     * The inode itself, by number: for file handles (NFS export, open_by_handle_at). ESTALE when it
     * is gone, or about to go for want of a name: a kernel in which it is open does not ask.
     */
    default Entry lookupInode(Caller caller, long ino) throws FsException {
        AttributesReply reply = getAttributes(caller, ino, NO_HANDLE);
        if (reply.stat().nlink() == 0) {
            throw FsException.of(Errno.ESTALE);
        }
        return new Entry(reply.stat(), 0, reply.timeoutNs());
    }

    /** The kernel dropped {@code lookups} of its references to the inode. */
    default void forget(long ino, long lookups) {}

    /** stat(2), through an open file when {@code handle} is not {@link #NO_HANDLE}. */
    AttributesReply getAttributes(Caller caller, long ino, long handle) throws FsException;

    /** chmod, chown, truncate and utimensat(2). */
    AttributesReply setAttributes(Caller caller, long ino, SetAttributes change) throws FsException;

    /**
     * access(2), only asked for when the mount is without {@code default_permissions}. Mask: 4
     * read, 2 write, 1 execute, 0 existence.
     */
    void access(Caller caller, long ino, int mask) throws FsException;

    byte[] readLink(Caller caller, long ino) throws FsException;

    /** getxattr(2). ENODATA: absent. ENOSYS: the kernel never asks again. */
    default byte[] getXattr(Caller caller, long ino, byte[] name) throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** listxattr(2): the names that the caller is shown. ENOSYS: the kernel never asks again. */
    default List<byte[]> listXattr(Caller caller, long ino) throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** setxattr(2); flags: XATTR_CREATE (1), XATTR_REPLACE (2). */
    default void setXattr(Caller caller, long ino, byte[] name, byte[] value, int flags)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    default void removeXattr(Caller caller, long ino, byte[] name) throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** Makes a regular file, fifo, socket or device; {@code rdev} as the kernel encodes it. */
    Entry makeNode(Caller caller, long parent, byte[] name, int mode, int rdev) throws FsException;

    Entry makeDirectory(Caller caller, long parent, byte[] name, int mode) throws FsException;

    Entry symbolicLink(Caller caller, long parent, byte[] name, byte[] target) throws FsException;

    Entry link(Caller caller, long ino, long newParent, byte[] newName) throws FsException;

    void unlink(Caller caller, long parent, byte[] name) throws FsException;

    void removeDirectory(Caller caller, long parent, byte[] name) throws FsException;

    /** XX EINVAL. */
    void rename(Caller caller, long parent, byte[] name, long newParent, byte[] newName, int flags)
            throws FsException;

    int RENAME_NOREPLACE = 1;
    int RENAME_EXCHANGE = 2;
    int RENAME_WHITEOUT = 4;

    /**
     * {@code flags}: see {@link OpenFlags}; O_TRUNC is the implementation's to do, O_CREAT and
     * O_EXCL never come here.
     */
    OpenResult open(Caller caller, long ino, int flags) throws FsException;

    /**
     * Creates a regular file and opens it; without O_EXCL in {@code flags} an existing one is
     * opened.
     */
    Created create(Caller caller, long parent, byte[] name, int mode, int flags) throws FsException;

    /**
     * Puts bytes from {@code offset} on into {@code into}, as many as it has room for; fewer only
     * at the end of the file. {@code into} is direct and only valid during the call.
     */
    void read(Caller caller, long ino, long handle, long offset, ByteBuffer into)
            throws FsException;

    /**
     * Takes all bytes of {@code content} (direct, only valid during the call), or fewer; returns
     * how many. {@code flags} are the open file's: with O_APPEND the offset is what this kernel
     * believes the end to be; and perhaps {@link OpenFlags#PAGES}.
     */
    int write(Caller caller, long ino, long handle, long offset, ByteBuffer content, int flags)
            throws FsException;

    /**
     * close(2) of one descriptor; several may share the handle. An error reaches close's caller.
     */
    void flush(Caller caller, long ino, long handle) throws FsException;

    /**
     * As {@link #flush}, with whose descriptor it was: the fcntl(2) locks of that owner on the file
     * end.
     */
    default void flush(Caller caller, long ino, long handle, long lockOwner) throws FsException {
        flush(caller, ino, handle);
    }

    /** Whether locks are served here; else the kernel keeps them, for this mount alone. */
    default boolean servesLocks() {
        return false;
    }

    /**
     * Takes or drops a lock. With {@code wait} returns once it is granted, however long that takes
     * (EINTR when cancelled, EDEADLK when it would never be); without, EAGAIN when it is held by
     * others. The locks that were taken through a handle end with it at the latest.
     */
    default void lock(Caller caller, long ino, long handle, LockRequest request, boolean wait)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** The lock that is in the way of this one; {@code UNLOCK}: none. */
    default LockRequest testLock(Caller caller, long ino, long handle, LockRequest request)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** The last descriptor of the handle is gone; nobody hears an error. */
    void release(long ino, long handle);

    void sync(Caller caller, long ino, long handle, boolean dataOnly) throws FsException;

    /**
     * SEEK_DATA (3) and SEEK_HOLE (4) of lseek(2). ENXIO beyond the end. ENOSYS: the kernel treats
     * every file as one extent from then on.
     */
    default long seek(Caller caller, long ino, long handle, long offset, int whence)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /**
     * fallocate(2) with its own {@code mode} bits; those that are not supported: EOPNOTSUPP.
     * ENOSYS: not supported at all.
     */
    default void allocate(Caller caller, long ino, long handle, long offset, long length, int mode)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** Where in an open file. */
    record Range(long ino, long handle, long offset) {}

    /**
     * copy_file_range(2): returns how many bytes of {@code length} were copied, 0 at the source's
     * end. EXDEV: the caller is to copy by itself; ENOSYS: always.
     */
    default long copyRange(Caller caller, Range source, Range target, long length, long flags)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /**
     * open(O_TMPFILE) in a directory: a regular file without a name, which {@link #link} may give
     * its first unless {@code flags} has O_EXCL.
     */
    default Created createTemporary(Caller caller, long parent, int mode, int flags)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    OpenResult openDirectory(Caller caller, long ino, int flags) throws FsException;

    /**
     * Gives the directory's entries after {@code cookie} (0: from the start; else the cookie of an
     * entry given before) to {@code sink} until it is full or there are no more. Without "." and
     * "..": the caller adds them. Cookies are > 0 and below 2^62, and stay valid while the
     * directory changes: an entry that exists all the time is seen exactly once.
     */
    void readDirectory(Caller caller, long ino, long handle, long cookie, DirectorySink sink)
            throws FsException;

    /** The inode that ".." of a directory names, whatever the caller may do there. */
    long parentOf(Caller caller, long ino) throws FsException;

    void releaseDirectory(long ino, long handle);

    void syncDirectory(Caller caller, long ino, long handle, boolean dataOnly) throws FsException;

    StatFs statFs(Caller caller, long ino) throws FsException;

    /** All quotas of the tree, with the paths of their directories. */
    default List<QuotaUsage> quotas(Caller caller) throws FsException {
        return List.of();
    }

    /** How many inodes of a tree live where: by region, or "global". Root only. */
    default Map<String, Long> placement(Caller caller, long ino) throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** Why a directory lives where it does, and whether the partition oracle will move it. */
    default Explanation explain(Caller caller, long ino) throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /**
     * Lets the inodes of a tree live in a region from now on; its content follows. Root only.
     *
     * @param moved told how many more have been moved
     * @return how many had to stay: locked ones, those that a quota counts, very large directories
     */
    default long move(Caller caller, long ino, String region, LongConsumer moved)
            throws FsException {
        throw FsException.of(Errno.ENOSYS);
    }

    /** What it counts of itself since it began, by name: hits of caches, repeated calls, …. */
    default Map<String, Long> counters() {
        return Map.of();
    }

    /** Makes everything written so far durable: before unmounting, and on SIGTERM. */
    default void syncAll() throws FsException {}

    /** Unmounted: no call follows. */
    @Override
    void close();
}
