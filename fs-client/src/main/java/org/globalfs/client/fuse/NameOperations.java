package org.globalfs.client.fuse;

import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.Stat;
import org.globalfs.protocol.Errno;

/** Requests that look up, make, move or remove names. */
final class NameOperations {
    private final FileSystem fileSystem;
    private final int ioSizeBytes;

    NameOperations(FileSystem fileSystem, int ioSizeBytes) {
        this.fileSystem = fileSystem;
        this.ioSizeBytes = ioSizeBytes;
    }

    void lookup(Exchange x) throws FsException {
        byte[] name = x.name(0);
        if (name.length == 1 && name[0] == '.') {
            answer(x, fileSystem.lookupInode(x.caller(), x.node()));
        } else if (name.length == 2 && name[0] == '.' && name[1] == '.') {
            answer(
                    x,
                    fileSystem.lookupInode(x.caller(), fileSystem.parentOf(x.caller(), x.node())));
        } else {
            answer(x, fileSystem.lookup(x.caller(), x.node(), name));
        }
    }

    void makeNode(Exchange x) throws FsException {
        byte[] name = x.name(FuseLayout.MknodIn.SIZE_OF);
        int mode = x.int32(FuseLayout.MknodIn.MODE);
        int rdev = x.int32(FuseLayout.MknodIn.RDEV);
        x.caller().umask(x.int32(FuseLayout.MknodIn.UMASK));
        x.touches(x.node(), name);
        answer(x, fileSystem.makeNode(x.caller(), x.node(), name, mode, rdev));
    }

    void makeDirectory(Exchange x) throws FsException {
        byte[] name = x.name(FuseLayout.MkdirIn.SIZE_OF);
        int mode = x.int32(FuseLayout.MkdirIn.MODE);
        x.caller().umask(x.int32(FuseLayout.MkdirIn.UMASK));
        x.touches(x.node(), name);
        answer(
                x,
                fileSystem.makeDirectory(
                        x.caller(), x.node(), name, Stat.DIRECTORY | (mode & ~Stat.TYPE_MASK)));
    }

    void symbolicLink(Exchange x) throws FsException {
        byte[] name = x.name(0);
        byte[] target = x.name(name.length + 1);
        x.touches(x.node(), name);
        answer(x, fileSystem.symbolicLink(x.caller(), x.node(), name, target));
    }

    void link(Exchange x) throws FsException {
        long ino = x.int64(FuseLayout.LinkIn.OLDNODEID);
        byte[] name = x.name(FuseLayout.LinkIn.SIZE_OF);
        x.touches(x.node(), name);
        x.changes(ino);
        answer(x, fileSystem.link(x.caller(), ino, x.node(), name));
    }

    private void answer(Exchange x, Entry entry) {
        x.timeouts(System.nanoTime());
        int at = x.clear(FuseLayout.EntryOut.SIZE_OF);
        Attributes.putEntry(x.memory(), at, entry, ioSizeBytes);
        Stat stat = entry.stat();
        if (stat != null) {
            x.counted(stat.ino());
        }
        x.answer(FuseLayout.EntryOut.SIZE_OF);
    }

    void unlink(Exchange x) throws FsException {
        byte[] name = x.name(0);
        x.touches(x.node(), name);
        fileSystem.unlink(x.caller(), x.node(), name);
        x.answerEmpty();
    }

    void removeDirectory(Exchange x) throws FsException {
        byte[] name = x.name(0);
        x.touches(x.node(), name);
        fileSystem.removeDirectory(x.caller(), x.node(), name);
        x.answerEmpty();
    }

    void rename(Exchange x) throws FsException {
        rename(x, x.int64(FuseLayout.RenameIn.NEWDIR), 0, FuseLayout.RenameIn.SIZE_OF);
    }

    void renameWithFlags(Exchange x) throws FsException {
        rename(
                x,
                x.int64(FuseLayout.Rename2In.NEWDIR),
                x.int32(FuseLayout.Rename2In.FLAGS),
                FuseLayout.Rename2In.SIZE_OF);
    }

    private void rename(Exchange x, long newParent, int flags, int names) throws FsException {
        int known =
                FileSystem.RENAME_NOREPLACE
                        | FileSystem.RENAME_EXCHANGE
                        | FileSystem.RENAME_WHITEOUT;
        if ((flags & ~known) != 0) {
            throw FsException.of(Errno.EINVAL);
        }
        byte[] name = x.name(names);
        byte[] newName = x.name(names + name.length + 1);
        x.touches(x.node(), name);
        x.touches(newParent, newName);
        fileSystem.rename(x.caller(), x.node(), name, newParent, newName, flags);
        x.answerEmpty();
    }
}
