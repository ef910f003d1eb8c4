package org.globalfs.client.vfs;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.client.io.FileContent;
import org.globalfs.client.io.ReadAhead;
import org.globalfs.client.io.WriteBack;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.jspecify.annotations.Nullable;

/**
 * The open files of a client: handles, and the one content object that all handles of an inode
 * share.
 */
final class OpenFiles {

    /** A renewal of the session names all that live in a partition, and is one command. */
    static final int MOST_INODES = 400_000;

    private final int mostInodes;
    private final WriteBack writeBack;
    private final PageGrants grants;
    private final ConcurrentMap<Long, Handle> handles = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Long, OpenInode> inodes = new ConcurrentHashMap<>();
    private final AtomicLong numbers;

    OpenFiles(WriteBack writeBack, PageGrants grants, AtomicLong numbers, int mostInodes) {
        this.mostInodes = mostInodes;
        this.writeBack = writeBack;
        this.grants = grants;
        this.numbers = numbers;
    }

    /** An inode with at least one handle. */
    static final class OpenInode {
        final FileContent content;
        private int handles;
        private volatile Attributes attributes;

        /** So many appends were taken when pages of before were last given up for them. */
        private volatile long appendsShown;

        OpenInode(FileContent content, Attributes attributes) {
            this.content = content;
            this.attributes = attributes;
        }

        /** The newest attributes that were seen while it was open. */
        Attributes attributes() {
            return attributes;
        }

        /** Whether it was longer than that at some later version. */
        boolean outgrew(long version, long size) {
            Attributes newest = attributes;
            return newest.getVersion() > version && newest.getSize() > size;
        }

        synchronized void attributes(Attributes newer) {
            if (newer.getVersion() >= attributes.getVersion()) {
                attributes = newer;
            }
        }
    }

    /** One open file. */
    static final class Handle {
        final long number;
        final int flags;
        final OpenInode inode;
        final ReadAhead readAhead = new ReadAhead();
        private long errorsSeen;
        private volatile boolean lockLost;

        /** The kernel was told to read and write it past its pages. */
        volatile boolean direct;

        Handle(long number, int flags, OpenInode inode) {
            this.number = number;
            this.flags = flags;
            this.inode = inode;
            this.errorsSeen = inode.content.errors();
        }

        FileContent content() {
            return inode.content;
        }

        /** A lock taken through it ended with the session's lease: it is of no more use. */
        void loseLock() {
            lockLost = true;
        }

        boolean writes() {
            return OpenFlags.writes(flags);
        }

        /** Reports, once, that data written before is lost. */
        synchronized void checkErrors() throws FsException {
            long errors = content().errors();
            if (errors > errorsSeen) {
                errorsSeen = errors;
                throw FsException.of(
                        content().lastError(), "data written before could not be committed");
            }
        }
    }

    /** Before another inode is opened. */
    void checkRoom() throws FsException {
        if (inodes.mappingCount() >= mostInodes) {
            throw FsException.of(Errno.ENFILE, "this mount has " + mostInodes + " files open");
        }
    }

    Handle open(Attributes attributes, int flags) {
        long ino = attributes.getIno();
        OpenInode inode =
                inodes.compute(
                        ino,
                        (key, known) -> {
                            OpenInode result =
                                    known == null
                                            ? new OpenInode(writeBack.file(ino), attributes)
                                            : known;
                            result.attributes(attributes);
                            result.handles++;
                            return result;
                        });
        inode.content.seen(attributes.getVersion());
        Handle handle = new Handle(numbers.incrementAndGet(), flags, inode);
        handles.put(handle.number, handle);
        return handle;
    }

    Handle handle(long number) throws FsException {
        Handle handle = handles.get(number);
        if (handle == null) {
            throw FsException.of(Errno.EBADF);
        }
        return handle;
    }

    /** For reading, writing and locking: not one whose lock was lost. */
    Handle usable(long number) throws FsException {
        Handle handle = handle(number);
        if (handle.lockLost) {
            throw FsException.of(Errno.EIO, "a lock was lost with the session's lease");
        }
        return handle;
    }

    @Nullable Handle known(long number) {
        return handles.get(number);
    }

    @Nullable OpenInode find(long ino) {
        return inodes.get(ino);
    }

    /** What an open file holds; null: nobody has it open. */
    @Nullable FileContent content(long ino) {
        OpenInode open = find(ino);
        return open == null ? null : open.content;
    }

    /** Whether it is a regular file that somebody has open. */
    boolean isOpenFile(long ino) {
        OpenInode open = inodes.get(ino);
        return open != null && (open.attributes().getMode() & Stat.TYPE_MASK) == Stat.REGULAR;
    }

    /** Whether somebody has it open for writing. */
    boolean isWritable(long ino) {
        return handles.values().stream().anyMatch(h -> h.content().ino() == ino && h.writes());
    }

    /**
     * The attributes as this client sees them: with what it has committed since, and its
     * uncommitted changes on top; null: there is nothing of that. The kernel's pages of before an
     * append are to be dropped from here on: it would take what they lack for zeros once it is
     * told.
     */
    @Nullable Attributes overlay(Attributes attributes) {
        OpenInode open = inodes.get(attributes.getIno());
        Attributes pending = open == null ? null : open.content.overlay(attributes);
        if (open == null || pending == null) {
            return null;
        }
        Attributes made = open.content.made();
        if (made != null) {
            open.attributes(made);
        }
        long appended = open.content.appended();
        if (appended != open.appendsShown) {
            grants.outdated(attributes.getIno(), attributes.getVersion());
            open.appendsShown = appended; // not before: whoever finds it so may tell the kernel
        }
        return pending;
    }

    void seen(Attributes attributes) {
        OpenInode open = inodes.get(attributes.getIno());
        if (open != null) {
            open.attributes(attributes);
        }
    }

    void release(long number) {
        Handle handle = handles.remove(number);
        if (handle == null) {
            return;
        }
        FileContent content = handle.content();
        if (content.hasPending()) {
            // A shared mapping may have written after the last close; the inode stays known until
            // that is through.
            content.flush();
        }
        inodes.computeIfPresent(
                content.ino(),
                (key, open) -> {
                    open.handles--;
                    if (open.handles > 0) {
                        return open;
                    }
                    grants.closed(key);
                    return null;
                });
    }

    Set<Long> openInodes() {
        return new HashSet<>(inodes.keySet());
    }
}
