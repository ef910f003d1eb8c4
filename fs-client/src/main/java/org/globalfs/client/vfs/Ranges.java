package org.globalfs.client.vfs;

import org.globalfs.client.io.FileContent;
import org.globalfs.client.vfs.OpenFiles.Handle;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;

/**
 * fallocate(2) and copy_file_range(2): changes of a file's content map that move no bytes. The
 * replicas may do a part only; allocating goes on until all is done, a copy says how much was.
 */
final class Ranges {

    /** As the replicas have it. */
    static final long FILE_SIZE_MAX = 1L << 60;

    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int ZERO_RANGE = 16;

    private final Requests requests;
    private final OpenFiles files;
    private final Statistics statistics;

    Ranges(Requests requests, OpenFiles files, Statistics statistics) {
        this.requests = requests;
        this.files = files;
        this.statistics = statistics;
    }

    void allocate(Caller caller, long handle, long offset, long length, int mode)
            throws FsException {
        Handle open = writable(handle);
        boolean known =
                switch (mode) {
                    case 0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE ->
                            true;
                    default -> false;
                };
        if (!known) {
            throw FsException.of(Errno.EOPNOTSUPP);
        }
        if (offset < 0 || length <= 0) {
            throw FsException.of(Errno.EINVAL);
        }
        if (length > FILE_SIZE_MAX || offset > FILE_SIZE_MAX - length) {
            throw FsException.of(Errno.EFBIG);
        }
        boolean takesSpace = (mode & PUNCH_HOLE) == 0;
        long present = open.inode.attributes().getAllocated();
        if (takesSpace && length > present && statistics.exceededBy(length - present)) {
            throw FsException.of(Errno.ENOSPC);
        }
        for (long done = 0; done < length; ) {
            AllocateOp op =
                    new AllocateOp(open.content().ino(), offset + done, length - done, mode);
            done += update(caller, open, UpdateOp.allocate(op)).getDone();
            requests.progressed(caller);
        }
    }

    long copy(
            Caller caller,
            FileSystem.Range source,
            FileSystem.Range target,
            long length,
            long flags)
            throws FsException {
        Handle from = files.usable(source.handle());
        Handle to = writable(target.handle());
        if (!OpenFlags.reads(from.flags)) {
            throw FsException.of(Errno.EBADF);
        }
        if (flags != 0 || source.offset() < 0 || target.offset() < 0 || length < 0) {
            throw FsException.of(Errno.EINVAL);
        }
        if (requests.home(source.ino()) != requests.home(target.ino())) {
            throw FsException.of(Errno.EXDEV);
        }
        long most = Math.min(length, FILE_SIZE_MAX - target.offset());
        if (most <= 0) {
            if (length == 0) {
                return 0;
            }
            throw FsException.of(Errno.EFBIG);
        }
        if (from.content().hasPending()) {
            from.content().flush();
            from.checkErrors();
        }
        CopyRangeOp op =
                new CopyRangeOp(target.ino(), target.offset(), source.ino(), source.offset(), most);
        return update(caller, to, UpdateOp.copyRange(op)).getDone();
    }

    private Handle writable(long handle) throws FsException {
        Handle open = files.usable(handle);
        if (!open.writes()) {
            throw FsException.of(Errno.EBADF);
        }
        open.checkErrors();
        return open;
    }

    private UpdateReply update(Caller caller, Handle open, UpdateOp op) throws FsException {
        FileContent.Outcome outcome =
                open.content().update(op, Requests.credentials(caller), requests.patience(caller));
        UpdateReply reply = done(open, outcome);
        Attributes attributes = reply.getAttributes();
        open.inode.attributes(attributes);
        return reply;
    }

    private static UpdateReply done(Handle open, FileContent.Outcome outcome) throws FsException {
        try {
            open.checkErrors();
            Requests.check(outcome.errno());
            if (outcome.answer() == null) {
                throw FsException.of(Errno.EIO);
            }
            return outcome.answer().reply();
        } catch (FsException e) {
            open.content().failed();
            throw e;
        }
    }
}
