package org.globalfs.client.jnr;

import jnr.ffi.Pointer;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.Stat;
import ru.serce.jnrfuse.struct.FuseOperations;

/** Calls that make, move or remove names. */
final class NameCalls {
    private final FileSystem fileSystem;
    private final Calls calls;

    NameCalls(FileSystem fileSystem, Calls calls) {
        this.fileSystem = fileSystem;
        this.calls = calls;
    }

    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.mknod, Callbacks.OfMakeNode.class, this::makeNode);
        library.set(table.mkdir, Callbacks.OfMode.class, this::makeDirectory);
        library.set(table.symlink, Callbacks.OfPathAndPointer.class, this::symbolicLink);
        library.set(table.link, Callbacks.OfPathAndPointer.class, this::link);
        library.set(table.rename, Callbacks.OfPathAndPointer.class, this::rename);
        library.set(table.unlink, Callbacks.OfPath.class, this::unlink);
        library.set(table.rmdir, Callbacks.OfPath.class, this::removeDirectory);
    }

    private int makeNode(Pointer path, long mode, long device) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.MKNOD,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    walk.counted(
                            fileSystem.makeNode(
                                    caller,
                                    place.parent(),
                                    place.name(),
                                    (int) mode,
                                    (int) device));
                });
    }

    private int makeDirectory(Pointer path, long mode) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.MKDIR,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    walk.counted(
                            fileSystem.makeDirectory(
                                    caller,
                                    place.parent(),
                                    place.name(),
                                    Stat.DIRECTORY | ((int) mode & ~Stat.TYPE_MASK)));
                });
    }

    private int symbolicLink(Pointer target, Pointer path) {
        byte[] content = Native.string(target);
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.SYMLINK,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    walk.counted(
                            fileSystem.symbolicLink(caller, place.parent(), place.name(), content));
                });
    }

    private int link(Pointer path, Pointer newPath) {
        byte[] known = Native.string(path);
        byte[] name = Native.string(newPath);
        return calls.act(
                Opcode.LINK,
                name,
                (caller, walk) -> {
                    long ino = walk.inode(known);
                    Walk.Place place = walk.place(name);
                    walk.counted(fileSystem.link(caller, ino, place.parent(), place.name()));
                });
    }

    private int rename(Pointer path, Pointer newPath) {
        byte[] name = Native.string(path);
        byte[] newName = Native.string(newPath);
        return calls.act(
                Opcode.RENAME,
                name,
                (caller, walk) -> {
                    Walk.Place from = walk.place(name);
                    Walk.Place to = walk.place(newName);
                    fileSystem.rename(
                            caller, from.parent(), from.name(), to.parent(), to.name(), 0);
                });
    }

    private int unlink(Pointer path) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.UNLINK,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    fileSystem.unlink(caller, place.parent(), place.name());
                });
    }

    private int removeDirectory(Pointer path) {
        byte[] name = Native.string(path);
        return calls.act(
                Opcode.RMDIR,
                name,
                (caller, walk) -> {
                    Walk.Place place = walk.place(name);
                    fileSystem.removeDirectory(caller, place.parent(), place.name());
                });
    }
}
