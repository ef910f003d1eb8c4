package org.globalfs.client.jnr;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import jnr.ffi.provider.jffi.ClosureHelper;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.DirectorySink;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.Stat;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;

/**
 * Calls on directories. "." and ".." are added here, at the offsets 0 and 1; entries of the file
 * system follow from offset 2 on, their cookies raised by 2.
 */
final class DirectoryCalls {
    private static final byte[] SELF = {'.'};
    private static final byte[] PARENT = {'.', '.'};
    private static final int DOTS = 2;
    private static final int NAME_MAX = 255;

    /** More than fit the page that Linux asks for at a time. */
    private static final int BATCH = 180;

    private static final int ENDED = 0;
    private static final int MORE = 1;

    private record Name(byte[] bytes, long ino, int type, long offset) {}

    /** Entries in the directory's order; {@code complete}: none follows. */
    private record Batch(List<Name> names, boolean complete) {}

    private final FileSystem fileSystem;
    private final Calls calls;
    private final Handles handles;

    DirectoryCalls(FileSystem fileSystem, Calls calls, Handles handles) {
        this.fileSystem = fileSystem;
        this.calls = calls;
        this.handles = handles;
    }

    void register(Library library) {
        FuseOperations table = library.table();
        library.set(table.opendir, Callbacks.OfPathAndPointer.class, this::open);
        library.set(table.readdir, Callbacks.OfListing.class, this::list);
        library.set(table.releasedir, Callbacks.OfPathAndPointer.class, this::release);
        library.set(table.fsyncdir, Callbacks.OfSync.class, this::sync);
    }

    private int open(Pointer path, Pointer info) {
        byte[] name = Native.string(path);
        FuseFileInfo directory = FuseFileInfo.of(info);
        int flags = directory.flags.get();
        return calls.serve(
                Opcode.OPENDIR,
                name,
                (caller, walk) -> {
                    long ino = walk.inode(name);
                    return new Handles.Open(
                            ino, fileSystem.openDirectory(caller, ino, flags).handle());
                },
                opened -> {
                    directory.fh.set(handles.add(opened));
                    return 0;
                },
                opened -> fileSystem.releaseDirectory(opened.ino(), opened.handle()));
    }

    private int release(Pointer path, Pointer info) {
        FuseFileInfo directory = FuseFileInfo.of(info);
        int result =
                calls.actOpen(
                        Opcode.RELEASEDIR,
                        directory,
                        (caller, open) -> fileSystem.releaseDirectory(open.ino(), open.handle()));
        handles.remove(directory.fh.get());
        return result;
    }

    private int sync(Pointer path, int dataOnly, Pointer info) {
        return calls.actOpen(
                Opcode.FSYNCDIR,
                FuseFileInfo.of(info),
                (caller, open) ->
                        fileSystem.syncDirectory(caller, open.ino(), open.handle(), dataOnly != 0));
    }

    private int list(Pointer path, Pointer buffer, Pointer filler, long offset, Pointer info) {
        FuseFileInfo directory = FuseFileInfo.of(info);
        Listing listing = new Listing(buffer, filler, offset);
        int result;
        do {
            long from = listing.offset;
            result =
                    calls.serveOpen(
                            Opcode.READDIR,
                            directory,
                            (caller, open) -> {
                                Gathering gathering = new Gathering(from);
                                gathering.dots(caller, open.ino(), fileSystem);
                                fileSystem.readDirectory(
                                        caller,
                                        open.ino(),
                                        open.handle(),
                                        Math.max(0, from - DOTS),
                                        gathering);
                                return gathering.batch();
                            },
                            listing::take,
                            nothing -> {});
        } while (result == MORE);
        return result;
    }

    /** Collects a batch, on the thread that works. */
    private static final class Gathering implements DirectorySink {
        private final long from;
        private final List<Name> names = new ArrayList<>();
        private boolean full;

        Gathering(long from) {
            this.from = from;
        }

        void dots(Caller caller, long ino, FileSystem fileSystem) throws FsException {
            if (from == 0) {
                names.add(new Name(SELF, ino, Stat.DIRECTORY, 1));
            }
            if (from <= 1) {
                long parent = fileSystem.parentOf(caller, ino);
                names.add(new Name(PARENT, parent, Stat.DIRECTORY, DOTS));
            }
        }

        @Override
        public boolean wantsEntries() {
            return false;
        }

        @Override
        public boolean add(byte[] name, long ino, int type, long cookie, @Nullable Entry entry) {
            if (names.size() >= BATCH) {
                full = true;
                return false;
            }
            names.add(new Name(name, ino, type & Stat.TYPE_MASK, cookie + DOTS));
            return true;
        }

        Batch batch() {
            return new Batch(names, !full);
        }
    }

    /** Fills the library's buffer, on the library's thread. */
    private static final class Listing {
        private final Pointer buffer;
        private final FuseFillDir filler;
        private final Pointer statMemory;
        private final FileStat stat;
        private final ByteBuffer name = ByteBuffer.allocateDirect(NAME_MAX + 1);
        private long offset;

        Listing(Pointer buffer, Pointer filler, long offset) {
            this.buffer = buffer;
            this.offset = offset;
            ClosureHelper closures = ClosureHelper.getInstance();
            this.filler =
                    closures.getNativeConveter(FuseFillDir.class)
                            .fromNative(filler, closures.getFromNativeContext());
            Runtime runtime = Runtime.getSystemRuntime();
            statMemory = Memory.allocateDirect(runtime, Struct.size(new FileStat(runtime)), true);
            stat = FileStat.of(statMemory);
        }

        int take(Batch batch) {
            for (Name each : batch.names) {
                stat.st_ino.set(each.ino);
                stat.st_mode.set(each.type);
                name.clear().put(each.bytes).put((byte) 0).flip();
                if (filler.apply(buffer, name, statMemory, each.offset) != 0) {
                    return ENDED;
                }
                offset = each.offset;
            }
            return batch.complete ? ENDED : MORE;
        }
    }
}
