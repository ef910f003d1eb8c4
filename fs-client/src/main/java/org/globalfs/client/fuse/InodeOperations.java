package org.globalfs.client.fuse;

import org.globalfs.client.vfs.AttributesReply;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.SetAttributes;
import org.globalfs.client.vfs.StatFs;

/** Requests about one inode: attributes, permissions, links' targets, forgetting. */
final class InodeOperations {
    private static final int SETTABLE =
            FuseFlags.FATTR_MODE
                    | FuseFlags.FATTR_UID
                    | FuseFlags.FATTR_GID
                    | FuseFlags.FATTR_SIZE
                    | FuseFlags.FATTR_ATIME
                    | FuseFlags.FATTR_MTIME
                    | FuseFlags.FATTR_ATIME_NOW
                    | FuseFlags.FATTR_MTIME_NOW;

    private final FileSystem fileSystem;
    private final int ioSizeBytes;

    InodeOperations(FileSystem fileSystem, int ioSizeBytes) {
        this.fileSystem = fileSystem;
        this.ioSizeBytes = ioSizeBytes;
    }

    void getAttributes(Exchange x) throws FsException {
        boolean open = (x.int32(FuseLayout.GetattrIn.GETATTR_FLAGS) & FuseFlags.GETATTR_FH) != 0;
        long handle = open ? x.int64(FuseLayout.GetattrIn.FH) : FileSystem.NO_HANDLE;
        answer(x, fileSystem.getAttributes(x.caller(), x.node(), handle));
    }

    void statx(Exchange x) throws FsException {
        boolean open = (x.int32(FuseLayout.StatxIn.GETATTR_FLAGS) & FuseFlags.GETATTR_FH) != 0;
        long handle = open ? x.int64(FuseLayout.StatxIn.FH) : FileSystem.NO_HANDLE;
        AttributesReply reply = fileSystem.getAttributes(x.caller(), x.node(), handle);
        x.timeouts(System.nanoTime());
        int at = x.clear(FuseLayout.StatxOut.SIZE_OF);
        Attributes.putStatx(x.memory(), at, reply, ioSizeBytes);
        x.answer(FuseLayout.StatxOut.SIZE_OF);
    }

    void setAttributes(Exchange x) throws FsException {
        int valid = x.int32(FuseLayout.SetattrIn.VALID);
        SetAttributes change =
                new SetAttributes(
                        valid & SETTABLE,
                        x.int32(FuseLayout.SetattrIn.MODE),
                        x.int32(FuseLayout.SetattrIn.UID),
                        x.int32(FuseLayout.SetattrIn.GID),
                        x.int64(FuseLayout.SetattrIn.SIZE),
                        SetAttributes.time(
                                x.int64(FuseLayout.SetattrIn.ATIME),
                                x.int32(FuseLayout.SetattrIn.ATIMENSEC)),
                        SetAttributes.time(
                                x.int64(FuseLayout.SetattrIn.MTIME),
                                x.int32(FuseLayout.SetattrIn.MTIMENSEC)),
                        (valid & FuseFlags.FATTR_FH) != 0
                                ? x.int64(FuseLayout.SetattrIn.FH)
                                : FileSystem.NO_HANDLE);
        x.changes(x.node());
        answer(x, fileSystem.setAttributes(x.caller(), x.node(), change));
    }

    private void answer(Exchange x, AttributesReply reply) {
        x.timeouts(System.nanoTime());
        int at = x.clear(FuseLayout.AttrOut.SIZE_OF);
        Attributes.putAttributes(x.memory(), at, reply, ioSizeBytes);
        x.answer(FuseLayout.AttrOut.SIZE_OF);
    }

    void access(Exchange x) throws FsException {
        fileSystem.access(x.caller(), x.node(), x.int32(FuseLayout.AccessIn.MASK));
        x.answerEmpty();
    }

    void readLink(Exchange x) throws FsException {
        x.answerBytes(fileSystem.readLink(x.caller(), x.node()));
    }

    void statFs(Exchange x) throws FsException {
        StatFs reply = fileSystem.statFs(x.caller(), x.node());
        int at = x.clear(FuseLayout.Kstatfs.SIZE_OF);
        x.memory().putLong(at + FuseLayout.Kstatfs.BLOCKS, reply.blocks());
        x.memory().putLong(at + FuseLayout.Kstatfs.BFREE, reply.blocksFree());
        x.memory().putLong(at + FuseLayout.Kstatfs.BAVAIL, reply.blocksAvailable());
        x.memory().putLong(at + FuseLayout.Kstatfs.FILES, reply.files());
        x.memory().putLong(at + FuseLayout.Kstatfs.FFREE, reply.filesFree());
        x.memory().putInt(at + FuseLayout.Kstatfs.BSIZE, reply.blockSizeBytes());
        x.memory().putInt(at + FuseLayout.Kstatfs.FRSIZE, reply.blockSizeBytes());
        x.memory().putInt(at + FuseLayout.Kstatfs.NAMELEN, reply.nameMaxBytes());
        x.answer(FuseLayout.Kstatfs.SIZE_OF);
    }

    void forget(Exchange x) {
        fileSystem.forget(x.node(), x.int64(FuseLayout.ForgetIn.NLOOKUP));
    }

    void forgetMany(Exchange x) {
        int count = x.int32(FuseLayout.BatchForgetIn.COUNT);
        for (int i = 0; i < count; i++) {
            int at = FuseLayout.BatchForgetIn.SIZE_OF + i * FuseLayout.ForgetOne.SIZE_OF;
            fileSystem.forget(
                    x.int64(at + FuseLayout.ForgetOne.NODEID),
                    x.int64(at + FuseLayout.ForgetOne.NLOOKUP));
        }
    }
}
