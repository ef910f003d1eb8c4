package org.globalfs.client.vfs;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Takes back what the kernel was allowed to remember.
 *
 * <p>All calls only queue, and return at once; threads of their own hand them to the kernel. An
 * answer that was begun before the call and reaches the kernel later is not remembered either: so
 * take the grounds for remembering away first (drop the grant), then call.
 *
 * <p>The kernel takes the inode's page locks and, for names, the directory's lock, which are held
 * while a request on the same inode is being answered: <b>a thread that answers a request must
 * never wait for {@link #await}</b>, nor for anything that does; see {@link #awaitInode}.
 */
public interface KernelCache {

    /**
     * Forgets the inode's attributes, and its cached content from {@code offset} on; {@code length}
     * 0: to the end; {@code offset} -1: no content.
     */
    void invalidateInode(long ino, long offset, long length);

    /** Forgets that the name exists, or that it does not. */
    void invalidateEntry(long parent, byte[] name);

    /**
     * The directory that the name led to was found in another place. As {@link #invalidateEntry},
     * but the kernel lets its own notion of the name go at once: it knows one name of a directory,
     * and a rename(2) that comes upon the new one without a lookup before could not replace it
     * (ESTALE).
     */
    void entryMoved(long parent, byte[] name);

    /**
     * Waits until every name, and all of these inodes, that was queued before has reached the
     * kernel; false: not within the time-out. Where the kernel can (FUSE 7.44, Linux 6.16), names
     * do not wait for a directory whose lock is held: all names of the mount are looked up again
     * instead.
     */
    boolean await(Collection<Long> inodes, long timeoutMs) throws InterruptedException;

    /**
     * Waits until every {@link #invalidateInode} of this inode before has reached the kernel;
     * false: not within the time-out. It may wait for pages of the inode that are being read or
     * written, and for no other request: a thread that answers neither a read nor a write may wait
     * for it.
     */
    boolean awaitInode(long ino, long timeoutMs) throws InterruptedException;

    /** Runs this, which must not wait, when {@link #awaitInode} would return true. */
    void afterInode(long ino, Runnable then);

    /**
     * Runs this, which must not wait, once the kernel has what the calling thread is answering; at
     * once where it answers nothing.
     */
    default void afterAnswer(Runnable then) {
        then.run();
    }

    /**
     * Whether the kernel may take no notice of the size that it is told next of the inode: it drops
     * an answer when something of the inode was taken back between the question and the answer. A
     * read(2) then ends where the file ended before. To be asked before the attributes are.
     *
     * @return null: it will believe what it is told
     */
    @Nullable Doubt doubt(long ino);

    /**
     * This mount itself made the file shorter, and is about to answer that: a {@link Doubt} from
     * before makes it no longer any more. It may wait for up to a second.
     */
    void shortened(long ino);

    /** Whether {@link #shortened} may have to wait. */
    boolean isStoring(long ino);

    /** What is known of the size that the kernel believes in, while it may not believe answers. */
    interface Doubt {
        /** Whether the kernel has the file this long already. */
        boolean covers(long size);

        /**
         * Makes the file this long, if the kernel has it shorter; its pages stay as they are. It
         * may wait for a page that is being read or written.
         *
         * @param size at least 1
         * @return false: something of the inode was taken back, or it was made shorter, since the
         *     doubt arose, so its attributes are to be asked for anew
         */
        boolean lengthen(long size);
    }

    /** Whether files opened with {@link OpenResult#directIo} can be mapped: Linux 6.6. */
    boolean mapsDirectFiles();

    /**
     * Whether {@link #forgetNow} can be had at once: FUSE 7.44, Linux 6.16, and while nothing is
     * mounted on the mount's directories.
     */
    boolean forgetsAtOnce();

    /**
     * Returns once the kernel looks every name of the mount up again, and asks for the attributes
     * of these inodes, or once the mount is gone. Not queued: it takes no lock that a request
     * holds, and any thread may call it, one that answers a request too.
     *
     * @param believedNs how long the kernel may believe the names: what is waited for where it
     *     cannot be made to forget them, as something has been mounted since they were told
     */
    void forgetNow(Collection<Long> inodes, long believedNs);
}
