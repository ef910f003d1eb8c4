package org.globalfs.client.jnr;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.Stat;
import org.globalfs.protocol.Errno;

/**
 * Finds inodes by path, for one call, and takes the lookups that it counted back when it is closed.
 * Of one thread.
 *
 * <p>Directories on the way are looked up as root: the kernel walked the path before, component by
 * component, and each of its steps was a getattr whose last name was looked up as the caller (see
 * {@link InodeCalls}). Looking all of it up as the caller would fail a process that works below a
 * directory which it may not search any more.
 */
final class Walk implements AutoCloseable {

    /** A name and the directory that it is in. */
    record Place(long parent, byte[] name) {}

    private final FileSystem fileSystem;
    private final Caller root;
    private final List<Long> counted = new ArrayList<>();

    /** {@code deadlineNs}: the call's. */
    Walk(FileSystem fileSystem, long deadlineNs) {
        this.fileSystem = fileSystem;
        this.root = new Caller(0, 0, 0, deadlineNs);
    }

    /** Where the last name of a path is, which need not exist. The root has no name: EBUSY. */
    Place place(byte[] path) throws FsException {
        int end = path.length;
        long parent = FileSystem.ROOT;
        int start = 1;
        for (int i = start; i < end; i++) {
            if (path[i] == '/') {
                parent = step(parent, Arrays.copyOfRange(path, start, i));
                start = i + 1;
            }
        }
        if (start >= end) {
            throw FsException.of(Errno.EBUSY);
        }
        return new Place(parent, Arrays.copyOfRange(path, start, end));
    }

    private long step(long parent, byte[] name) throws FsException {
        return lookup(root, new Place(parent, name)).ino();
    }

    /** What is there now, looked up as root. */
    Stat stat(byte[] path) throws FsException {
        if (isRoot(path)) {
            return fileSystem.getAttributes(root, FileSystem.ROOT, FileSystem.NO_HANDLE).stat();
        }
        return lookup(root, place(path));
    }

    /** As {@link #stat}, the number only. */
    long inode(byte[] path) throws FsException {
        return isRoot(path) ? FileSystem.ROOT : stat(path).ino();
    }

    static boolean isRoot(byte[] path) {
        return path.length == 1;
    }

    Stat lookup(Caller caller, Place place) throws FsException {
        return counted(fileSystem.lookup(caller, place.parent, place.name));
    }

    Stat lookupAsRoot(Place place) throws FsException {
        return lookup(root, place);
    }

    /** Takes over an entry that the file system counted. */
    Stat counted(Entry entry) throws FsException {
        Stat stat = entry.stat();
        if (stat == null) {
            throw FsException.of(Errno.ENOENT);
        }
        counted.add(stat.ino());
        return stat;
    }

    @Override
    public void close() {
        for (long ino : counted) {
            fileSystem.forget(ino, 1);
        }
    }
}
