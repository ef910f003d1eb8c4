package org.globalfs.client.vfs;

import java.nio.ByteBuffer;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.ContentException;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.io.FileContent;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.meta.Session;
import org.globalfs.client.vfs.OpenFiles.Handle;
import org.globalfs.client.vfs.OpenFiles.OpenInode;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Open files and attributes.
 *
 * <p>stat(2) commits what is pending of the file first: size and times then are the replicas', for
 * every client the same. The kernel's own question in the middle of a read or write, which comes
 * through a handle, is answered from what is pending. Attributes set on a file with pending writes
 * join their command when it is certain that they are permitted.
 */
final class Files {

    private static final Logger LOG = LoggerFactory.getLogger(Files.class);

    /** The kernel's mark of an open for execve(2). */
    private static final int FMODE_EXEC = 0x20;

    private static final int OPEN_ROUNDS = 5;
    private static final long TELL_NS = 30_000_000_000L;

    private final Requests requests;
    private final MetadataCache cache;
    private final Names names;
    private final OpenFiles files;
    private final KernelPages pages;
    private final PageGrants grants;
    private final DirectoryReadAhead readAhead;
    private volatile @Nullable KernelCache kernel;

    Files(
            Requests requests,
            Names names,
            OpenFiles files,
            KernelPages pages,
            PageGrants grants,
            DirectoryReadAhead readAhead) {
        this.requests = requests;
        this.cache = requests.cache();
        this.names = names;
        this.files = files;
        this.pages = pages;
        this.grants = grants;
        this.readAhead = readAhead;
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
    }

    AttributesReply getAttributes(Caller caller, long ino, long handle) throws FsException {
        OpenInode open = files.find(ino);
        if (open != null && handle == FileSystem.NO_HANDLE && open.content.hasPending()) {
            open.content.flush();
        }
        return attributes(caller, ino, open);
    }

    private AttributesReply attributes(Caller caller, long ino, @Nullable OpenInode open)
            throws FsException {
        Patience patience = requests.patience(caller);
        while (true) {
            KernelCache mounted = kernel;
            KernelCache.Doubt doubt = open == null || mounted == null ? null : mounted.doubt(ino);
            Attributes attributes = names.attributes(caller, ino);
            files.seen(attributes);
            AttributesReply reply = names.reply(attributes);
            if (open == null || doubt == null) {
                return reply;
            }
            if (lengthened(reply.stat(), doubt) || patience.over()) {
                return names.still(reply, attributes);
            }
        }
    }

    /**
     * Has the kernel believe the size of an open file though it did not ask.
     *
     * @return false: it may have another one, as somebody is just changing the file
     */
    boolean tellSize(long ino) {
        OpenInode open = files.find(ino);
        if (open == null) {
            return true;
        }
        Caller self = Caller.of(0, 0, new int[0], System.nanoTime() + TELL_NS);
        try {
            long before = open.attributes().getSize();
            Attributes attributes = names.attributes(self, ino);
            if (attributes.getSize() > before) {
                var _ = attributes(self, ino, open);
            }
            return cache.attributes(ino) != null;
        } catch (FsException e) {
            LOG.debug("size of inode {}", ino, e);
            return e.errno() == Errno.ESTALE;
        }
    }

    /** Whether the kernel has the file at least as long as it is going to be told. */
    private boolean lengthened(Stat stat, KernelCache.Doubt doubt) {
        long size = stat.size();
        boolean regular = (stat.mode() & Stat.TYPE_MASK) == Stat.REGULAR;
        if (!regular || size == 0 || doubt.covers(size)) {
            return true;
        }
        // Who reads the page may have met what this thread has just committed.
        try (Session.Deferring _ = requests.deferring()) {
            return doubt.lengthen(size);
        }
    }

    void access(Caller caller, long ino, int mask) throws FsException {
        Attributes attributes = names.attributes(caller, ino);
        if (!Permissions.may(caller, attributes, mask)) {
            throw FsException.of(Errno.EACCES);
        }
    }

    AttributesReply setAttributes(Caller caller, long ino, SetAttributes change)
            throws FsException {
        SetAttributesOp op = op(ino, change);
        if (op.isSetSize() && op.getSize() > Ranges.FILE_SIZE_MAX) {
            // A replica would refuse with it what was written before and goes along.
            throw FsException.of(Errno.EFBIG);
        }
        if (op.isSetSize() && change.handle() != FileSystem.NO_HANDLE) {
            files.usable(change.handle());
        }
        OpenInode open = files.find(ino);
        if (open == null) {
            Attributes attributes = setCommitted(caller, op);
            return op.isSetSize() ? names.resized(attributes) : names.reply(attributes);
        }
        boolean certain = certain(caller, open.attributes(), op);
        if (op.isSetSize()) {
            return names.resized(setSize(caller, open, op, certain));
        }
        if (open.content.hasPending()) {
            if (certain && changesAccess(open.attributes(), op)) {
                return names.reply(setWithContent(caller, open, op, true));
            }
            if (certain && open.content.defer(op, Requests.credentials(caller))) {
                return names.reply(open.attributes());
            }
            open.content.flush();
        }
        return names.reply(setOpen(caller, op));
    }

    /**
     * Before a write the kernel takes set-id bits away on behalf of whoever writes, by the very
     * request that it makes of a chown(2) to nobody. Replicas refuse that to all but the owner, and
     * take the bits away at the write itself: then it is left to that.
     */
    private Attributes setOpen(Caller caller, SetAttributesOp op) throws FsException {
        try {
            return setCommitted(caller, op);
        } catch (FsException e) {
            boolean nothing = op.equals(new SetAttributesOp(op.getIno()));
            boolean beforeWrite = nothing && files.isWritable(op.getIno());
            if (e.errno() != Errno.EPERM || !beforeWrite) {
                throw e;
            }
            return names.attributes(caller, op.getIno());
        }
    }

    private static SetAttributesOp op(long ino, SetAttributes change) {
        SetAttributesOp op = new SetAttributesOp(ino);
        if (change.has(SetAttributes.MODE)) {
            op.setMode(change.mode() & 07777);
        }
        if (change.has(SetAttributes.UID)) {
            op.setUid(change.uid());
        }
        if (change.has(SetAttributes.GID)) {
            op.setGid(change.gid());
        }
        if (change.has(SetAttributes.SIZE)) {
            op.setSize(change.size()).setPartly(true);
        }
        if (change.has(SetAttributes.ATIME_NOW)) {
            op.setAtimeNow(true);
        } else if (change.has(SetAttributes.ATIME)) {
            op.setAtimeNs(change.atimeNs());
        }
        if (change.has(SetAttributes.MTIME_NOW)) {
            op.setMtimeNow(true);
        } else if (change.has(SetAttributes.MTIME)) {
            op.setMtimeNs(change.mtimeNs());
        }
        if (change.handle() != FileSystem.NO_HANDLE) {
            op.setHandle(true);
        }
        return op;
    }

    /** Whether the replicas will permit the change, whatever anybody else does before it. */
    private static boolean certain(Caller caller, Attributes attributes, SetAttributesOp op) {
        if (caller.uid() == 0) {
            return true;
        }
        boolean owner = caller.uid() == attributes.getUid();
        boolean sizeAllowed = !op.isSetSize() || op.isHandle();
        return owner && sizeAllowed && !op.isSetUid() && !op.isSetGid();
    }

    /**
     * Whether somebody may do less or more from then on, through any mount once it is answered.
     * What root gives away waits for the mode, which programs that unpack files set after it.
     */
    private static boolean changesAccess(Attributes before, SetAttributesOp op) {
        return op.isSetMode()
                || op.isSetUid() && before.getUid() != 0 && op.getUid() != before.getUid()
                || op.isSetGid() && before.getGid() != 0 && op.getGid() != before.getGid();
    }

    private Attributes setCommitted(Caller caller, SetAttributesOp op) throws FsException {
        long ino = op.getIno();
        UpdateReply reply = set(caller, op);
        while (reply.isSetDone()) {
            // What cuts off very many extents takes several commands.
            requests.progressed(caller);
            reply = set(caller, op);
        }
        Attributes attributes = reply.getAttributes();
        long version = attributes.getVersion();
        pages.changed(ino, version, 1);
        if (op.isSetSize()) {
            cache.forgetContent(ino);
            shortened(ino);
        }
        files.seen(attributes);
        return attributes;
    }

    private UpdateReply set(Caller caller, SetAttributesOp op) throws FsException {
        long ino = op.getIno();
        UpdateOp update = UpdateOp.setAttributes(op);
        return requests.update(caller, requests.home(ino), update, ino).reply();
    }

    private Attributes setSize(Caller caller, OpenInode open, SetAttributesOp op, boolean certain)
            throws FsException {
        Attributes attributes = setWithContent(caller, open, op, certain);
        shortened(op.getIno());
        return attributes;
    }

    /** Sets attributes now, in one command with what is pending if they are certain. */
    private Attributes setWithContent(
            Caller caller, OpenInode open, SetAttributesOp op, boolean certain) throws FsException {
        FileContent.Outcome outcome =
                open.content.setAttributes(
                        op,
                        Requests.credentials(caller),
                        certain,
                        requests.patience(caller),
                        () -> requests.progressed(caller));
        if (outcome.errno() != 0 && op.isSetSize()) {
            open.content.failed();
        }
        Requests.check(outcome.errno());
        Answer<UpdateReply> answer = outcome.answer();
        Attributes attributes =
                answer == null
                        ? names.attributes(caller, op.getIno())
                        : answer.reply().getAttributes();
        open.attributes(attributes);
        return attributes;
    }

    private void shortened(long ino) {
        KernelCache mounted = kernel;
        if (mounted == null) {
            return;
        }
        if (!mounted.isStoring(ino)) {
            mounted.shortened(ino);
            return;
        }
        // The store may wait for a page whose reader met the truncation.
        try (Session.Deferring _ = requests.deferring()) {
            mounted.shortened(ino);
        }
    }

    OpenResult open(Caller caller, long ino, int flags) throws FsException {
        if (files.find(ino) == null) {
            files.checkRoom();
        }
        int mask = accessMask(flags);
        Attributes attributes = openable(caller, ino, mask);
        int type = attributes.getMode() & Stat.TYPE_MASK;
        if (type == Stat.DIRECTORY && OpenFlags.writes(flags)) {
            throw FsException.of(Errno.EISDIR);
        }
        Handle handle = files.open(attributes, flags);
        if ((flags & OpenFlags.O_TRUNC) != 0 && type == Stat.REGULAR) {
            try {
                SetAttributesOp cut =
                        new SetAttributesOp(ino).setSize(0).setPartly(true).setHandle(true);
                attributes = setSize(caller, handle.inode, cut, true);
            } catch (FsException e) {
                files.release(handle.number);
                throw e;
            }
        }
        return result(handle, attributes, flags);
    }

    private static int accessMask(int flags) {
        if ((flags & FMODE_EXEC) != 0) {
            return Permissions.EXECUTE;
        }
        int mask = OpenFlags.reads(flags) ? Permissions.READ : 0;
        boolean writes = OpenFlags.writes(flags) || (flags & OpenFlags.O_TRUNC) != 0;
        return writes ? mask | Permissions.WRITE : mask;
    }

    /** The attributes after the access check, from the cache when it knows the content too. */
    private Attributes openable(Caller caller, long ino, int mask) throws FsException {
        boolean contentNeeded = (mask & Permissions.WRITE) == 0;
        if (contentNeeded) {
            readAhead.wanted(ino, requests.patience(caller));
        }
        Attributes known = cache.attributes(ino);
        if (known != null && (!contentNeeded || cache.content(ino) != null)) {
            if (!Permissions.may(caller, known, mask)) {
                throw FsException.of(Errno.EACCES);
            }
            return known;
        }
        ReadReply reply =
                requests.open(Requests.credentials(caller), ino, mask, requests.patience(caller))
                        .reply();
        Requests.check(reply.getErrno());
        return reply.getAttributes();
    }

    private OpenResult result(Handle handle, Attributes attributes, int flags) {
        long ino = attributes.getIno();
        boolean keep =
                pages.opened(
                        ino,
                        attributes.getVersion(),
                        (stale, dropped) -> dropPages(ino, stale, dropped));
        if (keep) {
            grants.known(ino, attributes.getVersion());
        }
        // Every close is told, a reader's too: it ends locks.
        boolean direct = appends(flags) || isShared(attributes, flags);
        handle.direct = direct;
        return new OpenResult(handle.number, keep, direct, false, false);
    }

    private void dropPages(long ino, boolean stale, Runnable dropped) {
        KernelCache mounted = kernel;
        if (mounted == null) {
            dropped.run();
            return;
        }
        if (stale) {
            mounted.invalidateInode(ino, 0, 0);
        }
        mounted.afterInode(ino, dropped);
    }

    /**
     * What is written with O_APPEND goes past the kernel's pages: the kernel would put it where it
     * believes the end to be, for every reader of this mount to see, and others may have appended
     * there.
     */
    private static boolean appends(int flags) {
        return OpenFlags.writes(flags) && (flags & OpenFlags.O_APPEND) != 0;
    }

    /**
     * Whether others write the file now. Who reads it through the kernel's pages gets what lies
     * within the size that the kernel believes; and the kernel does not believe an answer that
     * tells it the size when something was taken back from it in the meantime. So reads go past the
     * pages.
     */
    private boolean isShared(Attributes attributes, int flags) {
        long ino = attributes.getIno();
        KernelCache mounted = kernel;
        return mounted != null
                && mounted.mapsDirectFiles()
                && !OpenFlags.writes(flags)
                && (attributes.getMode() & Stat.TYPE_MASK) == Stat.REGULAR
                && (cache.contended(ino) || cache.validity(ino, attributes.getVersion()) == null);
    }

    /**
     * An existing file is truncated by its open, after what this client has pending for it, and not
     * by the create.
     */
    Created create(Caller caller, long parent, byte[] name, int mode, int flags)
            throws FsException {
        files.checkRoom();
        boolean exclusive = (flags & OpenFlags.O_EXCL) != 0;
        CreateOp op =
                new CreateOp(parent, ByteBuffer.wrap(name), (mode & 07777) | Stat.REGULAR)
                        .setExclusive(exclusive);
        for (int round = 1; ; round++) {
            try {
                Requests.Updated updated = names.create(caller, op);
                Attributes attributes = updated.reply().getAttributes();
                return updated.reply().isExisted()
                        ? opened(caller, parent, name, attributes, flags)
                        : fresh(parent, name, updated, flags);
            } catch (FsException e) {
                if (e.errno() != Errno.ESTALE || exclusive || round == OPEN_ROUNDS) {
                    throw e;
                }
            }
            Created elsewhere = openExisting(caller, parent, name, flags);
            if (elsewhere != null) {
                return elsewhere;
            }
        }
    }

    /** The name is in this directory and its file in another partition. */
    private @Nullable Created openExisting(Caller caller, long parent, byte[] name, int flags)
            throws FsException {
        Attributes attributes = names.find(caller, parent, name);
        return attributes == null ? null : opened(caller, parent, name, attributes, flags);
    }

    private Created opened(
            Caller caller, long parent, byte[] name, Attributes attributes, int flags)
            throws FsException {
        if ((attributes.getMode() & Stat.TYPE_MASK) != Stat.REGULAR) {
            // It came since the kernel looked: it looks again, and follows the link, or opens the
            // pipe or device itself. As an answer to its create it takes nothing but a file.
            throw FsException.of(Errno.ESTALE);
        }
        OpenResult open = open(caller, attributes.getIno(), flags);
        try {
            // A truncation has changed them.
            Attributes opened = files.handle(open.handle()).inode.attributes();
            return new Created(names.entry(parent, name, opened), open);
        } catch (FsException e) {
            files.release(open.handle());
            throw e;
        }
    }

    /** open(O_TMPFILE): kept by this session's claim on what it holds open, until it has a name. */
    Created createTemporary(Caller caller, long parent, int mode, int flags) throws FsException {
        files.checkRoom();
        CreateOp op =
                new CreateOp(parent, ByteBuffer.wrap(new byte[0]), (mode & 07777) | Stat.REGULAR)
                        .setTemporary(true)
                        .setExclusive((flags & OpenFlags.O_EXCL) != 0)
                        .setUmask(caller.umask());
        Requests.Updated updated =
                requests.update(caller, requests.home(parent), UpdateOp.create(op));
        Attributes attributes = updated.reply().getAttributes();
        Handle handle = opened(updated, flags);
        AttributesReply reply = names.reply(attributes);
        return new Created(
                new Entry(reply.stat(), 0, reply.timeoutNs()), result(handle, attributes, flags));
    }

    private Created fresh(long parent, byte[] name, Requests.Updated updated, int flags)
            throws FsException {
        Attributes attributes = updated.reply().getAttributes();
        Handle handle = opened(updated, flags);
        return new Created(
                names.entry(parent, name, attributes), result(handle, attributes, flags));
    }

    /** Opens the empty file that was just made. */
    private Handle opened(Requests.Updated updated, int flags) {
        Attributes attributes = updated.reply().getAttributes();
        cache.learnContent(
                attributes.getIno(),
                ContentMap.empty(attributes.getVersion()),
                updated.validity(),
                updated.stamp());
        return files.open(attributes, flags);
    }

    void read(Caller caller, long ino, long handle, long offset, ByteBuffer into)
            throws FsException {
        Handle open = files.usable(handle);
        Patience patience = requests.patience(caller);
        int start = into.position();
        long appendedBefore = open.content().appended();
        boolean anew = false;
        boolean outgrown;
        try {
            do {
                into.position(start);
                long version =
                        anew
                                ? open.content().readAnew(offset, into, open.readAhead, patience)
                                : open.content().read(offset, into, open.readAhead, patience);
                if (version < 0) {
                    return;
                }
                // A granted map stands for the inode's present version, whatever it was made at.
                if (cache.content(ino) == null) {
                    pages.read(ino, version);
                }
                grants.read(ino, version);
                // Who asked for attributes or appended meanwhile may tell the kernel of a greater
                // size; it takes what is missing of this answer for zeros then.
                // An append that is taken from here on has these dropped, see appended.
                long end = offset + into.position() - start;
                boolean appending =
                        !anew
                                && (open.content().appends()
                                        || open.content().appended() != appendedBefore);
                boolean outgrew = !(anew && pastPages(open)) && open.inode.outgrew(version, end);
                outgrown = into.hasRemaining() && (appending || outgrew);
                anew = true;
                if (outgrown) {
                    grants.readAgain(ino);
                }
            } while (outgrown && !patience.over());
        } catch (ContentException e) {
            throw failed(e);
        }
    }

    /** Whether what is read through it usually goes to the program, not into pages. */
    private boolean pastPages(Handle handle) {
        return kernel == null || handle.direct || (handle.flags & OpenFlags.O_DIRECT) != 0;
    }

    int write(Caller caller, long handle, long offset, ByteBuffer content, int flags)
            throws FsException {
        Handle open = files.usable(handle);
        if (!open.writes()) {
            throw FsException.of(Errno.EBADF);
        }
        open.checkErrors();
        long room = Math.max(0, Ranges.FILE_SIZE_MAX - offset);
        if (room == 0 && content.hasRemaining()) {
            throw FsException.of(Errno.EFBIG);
        }
        int length = (int) Math.min(content.remaining(), room);
        content.limit(content.position() + length);
        boolean append = (flags & OpenFlags.O_APPEND) != 0;
        try {
            Credentials writer = Requests.credentials(caller);
            if ((flags & OpenFlags.PAGES) != 0 && !append) {
                open.content().writePages(offset, content, writer, requests.patience(caller));
            } else {
                open.content().write(offset, content, append, writer, requests.patience(caller));
            }
        } catch (ContentException e) {
            throw failed(e);
        }
        if (append) {
            appended(open);
        }
        if (appends(open.flags) && (flags & OpenFlags.O_DSYNC) != 0) {
            // The kernel has a synced write of its pages followed by an fsync, and no other.
            open.content().flush();
        }
        open.checkErrors();
        return length;
    }

    /**
     * Once the write is answered the kernel makes the file longer for every reader of this mount,
     * and takes what its pages lack for zeros: they must be gone by then, and what is read anew
     * must have the record.
     */
    private void appended(Handle open) throws FsException {
        long ino = open.content().ino();
        boolean direct = appends(open.flags);
        if (!direct || grants.has(ino)) {
            open.content().flush();
        }
        // O_APPEND may come with fcntl(2): then the kernel holds the pages until it is answered.
        if (direct) {
            grants.settle(ino);
        }
    }

    /** close(2): commits what was written, unless the handle is a reader's. */
    void flush(long handle) throws FsException {
        if (files.handle(handle).writes()) {
            sync(handle);
        }
    }

    /** Commits what was written through this handle or any other. */
    void sync(long handle) throws FsException {
        Handle open = files.handle(handle);
        if (open.content().hasPending()) {
            open.content().flush();
        }
        open.checkErrors();
    }

    long seek(Caller caller, long handle, long offset, int whence) throws FsException {
        boolean data = whence == 3;
        if (!data && whence != 4) {
            throw FsException.of(Errno.EINVAL);
        }
        Handle open = files.usable(handle);
        if (files.isWritable(open.content().ino())) {
            // What was stored through a mapping is the kernel's until it writes the page back.
            grants.drop(open.content().ino());
        }
        try {
            long found = open.content().seek(offset, data, requests.patience(caller));
            if (found < 0) {
                throw FsException.of(Errno.ENXIO);
            }
            return found;
        } catch (ContentException e) {
            throw failed(e);
        }
    }

    private static FsException failed(ContentException e) {
        return FsException.of(e.errno(), String.valueOf(e.getMessage()));
    }
}
