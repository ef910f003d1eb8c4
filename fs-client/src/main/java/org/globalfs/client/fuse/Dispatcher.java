package org.globalfs.client.fuse;

import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.KernelCache;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place that every operation passes: finds what serves the request, times, counts and logs
 * it, and turns what was thrown into an errno.
 */
final class Dispatcher {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private final FileSystem fileSystem;
    private final KernelCache kernelCache;
    private final OperationStatistics statistics;
    private final OperationLog operations;
    private final InodeOperations inodes;
    private final XattrOperations xattrs;
    private final NameOperations names;
    private final FileOperations files;
    private final DirectoryOperations directories;
    private final LockOperations locks;

    Dispatcher(
            FileSystem fileSystem,
            LockOperations locks,
            KernelCache kernelCache,
            OperationStatistics statistics,
            OperationLog operations,
            MountOptions options) {
        this.fileSystem = fileSystem;
        this.locks = locks;
        this.kernelCache = kernelCache;
        this.statistics = statistics;
        this.operations = operations;
        inodes = new InodeOperations(fileSystem, options.ioSizeBytes());
        xattrs = new XattrOperations(fileSystem);
        names = new NameOperations(fileSystem, options.ioSizeBytes());
        files = new FileOperations(fileSystem, options.ioSizeBytes());
        directories = new DirectoryOperations(fileSystem, options.ioSizeBytes());
    }

    FileSystem.Answering answering() {
        return fileSystem.answering();
    }

    /**
     * Runs the request in the exchange, which then holds the answer; returns its errno, 0 for
     * success. Never throws.
     */
    int run(Exchange x, long startNs) {
        Opcode opcode = Opcode.of(x.opcode());
        int errno;
        try {
            errno = opcode == null ? Errno.ENOSYS.number() : perform(opcode, x);
        } catch (FsException e) {
            errno = e.errno().number();
        } catch (Throwable unexpected) {
            log.error("{} of inode {} failed unexpectedly", opcode, x.node(), unexpected);
            errno = Errno.EIO.number();
        }
        if (errno != 0) {
            x.answerEmpty();
        }
        long elapsedNs = System.nanoTime() - startNs;
        if (opcode != null) {
            statistics.count(opcode, errno, elapsedNs);
        }
        if (errno == 0 && opcode == Opcode.READ) {
            statistics.countRead(x.answerLength());
        } else if (errno == 0 && opcode == Opcode.WRITE) {
            statistics.countWritten(x.int32(FuseLayout.WriteIn.SIZE));
        }
        operations.ended(x, opcode, errno, elapsedNs);
        return errno;
    }

    private int perform(Opcode opcode, Exchange x) throws FsException {
        switch (opcode) {
            case LOOKUP -> names.lookup(x);
            case FORGET -> inodes.forget(x);
            case BATCH_FORGET -> inodes.forgetMany(x);
            case GETATTR -> inodes.getAttributes(x);
            case STATX -> inodes.statx(x);
            case SETATTR -> inodes.setAttributes(x);
            case ACCESS -> inodes.access(x);
            case READLINK -> inodes.readLink(x);
            case STATFS -> inodes.statFs(x);
            case SETXATTR -> xattrs.set(x);
            case GETXATTR -> xattrs.get(x);
            case LISTXATTR -> xattrs.list(x);
            case REMOVEXATTR -> xattrs.remove(x);
            case SYMLINK -> names.symbolicLink(x);
            case MKNOD -> names.makeNode(x);
            case MKDIR -> names.makeDirectory(x);
            case LINK -> names.link(x);
            case UNLINK -> names.unlink(x);
            case RMDIR -> names.removeDirectory(x);
            case RENAME -> names.rename(x);
            case RENAME2 -> names.renameWithFlags(x);
            case OPEN -> files.open(x);
            case CREATE -> files.create(x);
            case READ -> files.read(x);
            case WRITE -> files.write(x);
            case LSEEK -> files.seek(x);
            case FALLOCATE -> files.allocate(x);
            case COPY_FILE_RANGE -> files.copyRange(x, false);
            case COPY_FILE_RANGE_64 -> files.copyRange(x, true);
            case TMPFILE -> files.createTemporary(x);
            case FLUSH -> files.flush(x);
            case RELEASE -> files.release(x);
            case FSYNC -> files.sync(x);
            case GETLK -> locks.test(x);
            case OPENDIR -> directories.open(x);
            case READDIR -> directories.read(x);
            case READDIRPLUS -> directories.readWithEntries(x);
            case RELEASEDIR -> directories.release(x);
            case FSYNCDIR -> directories.sync(x);
            case SYNCFS -> {
                fileSystem.syncAll();
                x.answerEmpty();
            }
            case DESTROY -> x.answerEmpty();
            // INTERRUPT is the worker's; the others are not served, see Opcode
            default -> {
                return Errno.ENOSYS.number();
            }
        }
        return 0;
    }

    /**
     * The answer reached nobody: the kernel was answered for the request before, or gave it up.
     * What the answer would have handed over is taken back, and what the kernel believes about the
     * names and inodes concerned is no longer trusted.
     */
    void takeBack(Exchange x, int errno) {
        Opcode opcode = Opcode.of(x.opcode());
        try {
            if (errno == 0) {
                takeBackHandles(x, opcode);
            }
        } catch (RuntimeException | Error e) {
            log.error("taking back {} of inode {} failed", opcode, x.node(), e);
        }
        for (Exchange.TouchedName name : x.touched()) {
            kernelCache.invalidateEntry(name.parent(), name.name());
            kernelCache.invalidateInode(name.parent(), -1, 0);
        }
        if (x.changedInode() != 0) {
            kernelCache.invalidateInode(x.changedInode(), 0, 0);
        }
    }

    private void takeBackHandles(Exchange x, @Nullable Opcode opcode) {
        if (x.openedHandle() != FileSystem.NO_HANDLE) {
            if (x.openedDirectory()) {
                fileSystem.releaseDirectory(x.openedInode(), x.openedHandle());
            } else {
                fileSystem.release(x.openedInode(), x.openedHandle());
            }
        }
        if (x.countedInode() != 0) {
            fileSystem.forget(x.countedInode(), 1);
        }
        if (opcode == Opcode.READDIRPLUS) {
            DirectoryOperations.forgetListed(x.memory(), x.answerLength(), fileSystem);
        }
    }
}
