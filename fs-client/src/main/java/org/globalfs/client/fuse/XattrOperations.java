package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import java.util.List;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.protocol.Errno;

/** Requests about extended attributes. */
final class XattrOperations {

    /** Without SETXATTR_EXT. */
    private static final int SET_NAME = FuseLayout.SetxattrIn.SETXATTR_FLAGS;

    private final FileSystem fileSystem;

    XattrOperations(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    void set(Exchange x) throws FsException {
        byte[] name = x.name(SET_NAME);
        int flags = x.int32(FuseLayout.SetxattrIn.FLAGS);
        byte[] value = x.bytes(SET_NAME + name.length + 1, x.int32(FuseLayout.SetxattrIn.SIZE));
        x.changes(x.node());
        fileSystem.setXattr(x.caller(), x.node(), name, value, flags);
        x.answerEmpty();
    }

    void get(Exchange x) throws FsException {
        int room = x.int32(FuseLayout.GetxattrIn.SIZE);
        byte[] name = x.name(FuseLayout.GetxattrIn.SIZE_OF);
        byte[] value = fileSystem.getXattr(x.caller(), x.node(), name);
        if (room == 0) {
            answerSize(x, value.length);
        } else {
            fit(value.length, room);
            x.room(value.length).put(value);
            x.answerFromPayload(value.length);
        }
    }

    void list(Exchange x) throws FsException {
        int room = x.int32(FuseLayout.GetxattrIn.SIZE);
        List<byte[]> names = fileSystem.listXattr(x.caller(), x.node());
        int size = names.stream().mapToInt(name -> name.length + 1).sum();
        if (room == 0) {
            answerSize(x, size);
            return;
        }
        fit(size, room);
        ByteBuffer out = x.room(size);
        names.forEach(name -> out.put(name).put((byte) 0));
        x.answerFromPayload(size);
    }

    private static void answerSize(Exchange x, int size) {
        int at = x.clear(FuseLayout.GetxattrOut.SIZE_OF);
        x.memory().putInt(at + FuseLayout.GetxattrOut.SIZE, size);
        x.answer(FuseLayout.GetxattrOut.SIZE_OF);
    }

    private static void fit(int size, int room) throws FsException {
        if (size > room) {
            throw FsException.of(Errno.ERANGE);
        }
    }

    void remove(Exchange x) throws FsException {
        byte[] name = x.name(0);
        x.changes(x.node());
        fileSystem.removeXattr(x.caller(), x.node(), name);
        x.answerEmpty();
    }
}
