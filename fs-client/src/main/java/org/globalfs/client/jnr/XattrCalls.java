package org.globalfs.client.jnr;

import java.io.ByteArrayOutputStream;
import jnr.ffi.Pointer;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.struct.FuseOperations;

/** Calls about extended attributes. */
final class XattrCalls {
    private final FileSystem fileSystem;
    private final Calls calls;

    XattrCalls(FileSystem fileSystem, Calls calls) {
        this.fileSystem = fileSystem;
        this.calls = calls;
    }

    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.setxattr, Callbacks.OfSetXattr.class, this::set);
        library.set(table.getxattr, Callbacks.OfGetXattr.class, this::get);
        library.set(table.listxattr, Callbacks.OfBuffer.class, this::list);
        library.set(table.removexattr, Callbacks.OfPathAndPointer.class, this::remove);
    }

    private int set(Pointer path, Pointer name, @Nullable Pointer value, long size, int flags) {
        byte[] file = Native.string(path);
        byte[] key = Native.string(name);
        byte[] content = new byte[(int) size];
        if (value != null) {
            value.get(0, content, 0, content.length);
        }
        return calls.act(
                Opcode.SETXATTR,
                file,
                (caller, walk) ->
                        fileSystem.setXattr(caller, walk.inode(file), key, content, flags));
    }

    private int get(Pointer path, Pointer name, @Nullable Pointer into, long size) {
        byte[] file = Native.string(path);
        byte[] key = Native.string(name);
        return calls.serve(
                Opcode.GETXATTR,
                file,
                (caller, walk) -> fileSystem.getXattr(caller, walk.inode(file), key),
                value -> put(value, into, size));
    }

    private int list(Pointer path, @Nullable Pointer into, long size) {
        byte[] file = Native.string(path);
        return calls.serve(
                Opcode.LISTXATTR,
                file,
                (caller, walk) -> {
                    ByteArrayOutputStream names = new ByteArrayOutputStream();
                    for (byte[] name : fileSystem.listXattr(caller, walk.inode(file))) {
                        names.writeBytes(name);
                        names.write(0);
                    }
                    return names.toByteArray();
                },
                names -> put(names, into, size));
    }

    /** Size 0 asks how much room is needed. */
    private static int put(byte[] value, @Nullable Pointer into, long size) {
        if (size != 0 && into != null) {
            if (value.length > size) {
                return -Errno.ERANGE.number();
            }
            into.put(0, value, 0, value.length);
        }
        return value.length;
    }

    private int remove(Pointer path, Pointer name) {
        byte[] file = Native.string(path);
        byte[] key = Native.string(name);
        return calls.act(
                Opcode.REMOVEXATTR,
                file,
                (caller, walk) -> fileSystem.removeXattr(caller, walk.inode(file), key));
    }
}
