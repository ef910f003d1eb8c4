package org.globalfs.client.jnr;

import java.util.ArrayList;
import java.util.List;
import jnr.ffi.BaseStruct;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.globalfs.client.fuse.MountException;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FuseOperations;

/**
 * libfuse 2, found and loaded by jnr-fuse, with the table of operations that we give it. The
 * operations of jnr-fuse itself are all left empty: see {@link Callbacks}.
 */
final class Library extends FuseStubFS {
    private static final int CAPABLE = 5 * Integer.BYTES;
    private static final int WANT = 6 * Integer.BYTES;

    /** FUSE_CAP_DONT_MASK: the umask is ours to apply, or not where a default list counts. */
    private static final int DONT_MASK = 1 << 6;

    /**
     * flag_nullpath_ok, flag_nopath, flag_utime_omit_ok: no paths with open files, and utimens with
     * UTIME_NOW and UTIME_OMIT.
     */
    private static final byte FLAGS = 0b111;

    private final Runnable connected;

    /** jnr-ffi keeps callbacks weakly. */
    private final List<Object> callbacks = new ArrayList<>();

    private Library(Runnable connected) {
        this.connected = connected;
        FuseOperations table = fuseOperations;
        // a bit field behind the pointer to bmap, for which jnr-fuse has no name that can be used
        long flags = table.bmap.offset() + Runtime.getSystemRuntime().addressSize();
        Struct.getMemory(table).putByte(flags, FLAGS);
    }

    /**
     * Loads the library.
     *
     * @param connected called once by a thread of the library's when the kernel is connected,
     *     before any other callback
     * @throws MountException it is not installed
     */
    static Library load(Runnable connected) throws MountException {
        try {
            return new Library(connected);
        } catch (UnsatisfiedLinkError missing) {
            String reason = String.valueOf(missing.getMessage());
            throw new MountException(
                    "--binding jnr needs libfuse 2 ("
                            + reason.lines().findFirst().orElse("")
                            + "): install it with 'apt-get install libfuse2'");
        }
    }

    FuseOperations table() {
        return fuseOperations;
    }

    <C> void set(BaseStruct.Func<?> place, Class<C> type, C callback) {
        callbacks.add(callback);
        Pointer function =
                Runtime.getSystemRuntime().getClosureManager().getClosurePointer(type, callback);
        Struct.getMemory(fuseOperations).putPointer(place.offset(), function);
    }

    /**
     * Mounts and serves; returns when it is unmounted. Not 0: it could not, or the end was rough.
     */
    int run(String[] arguments) {
        return libFuse.fuse_main_real(
                arguments.length, arguments, fuseOperations, Struct.size(fuseOperations), null);
    }

    @Override
    public @Nullable Pointer init(Pointer connection) {
        if ((connection.getInt(CAPABLE) & DONT_MASK) != 0) {
            connection.putInt(WANT, connection.getInt(WANT) | DONT_MASK);
        }
        connected.run();
        return null;
    }
}
