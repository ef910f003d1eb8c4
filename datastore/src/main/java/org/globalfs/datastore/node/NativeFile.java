package org.globalfs.datastore.node;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Java has no call for. fallocate(2) reserves disk space ahead of appends, and gives the space
 * of deleted chunks back: where it is missing, files grow as they are written and space comes back
 * only with whole segments. posix_fadvise(2) has the disk read what is sent next. A file is opened
 * for each call, as there are many files and few calls.
 */
final class NativeFile {
    private static final Logger LOG = LoggerFactory.getLogger(NativeFile.class);
    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final int WILL_NEED = 3;
    private static final int O_CLOEXEC = 0x80000;
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int ENOSPC = 28;
    private static final int EDQUOT = 122;
    private static final int EINTR = 4;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;

    private static final @Nullable Calls CALLS = link();

    private record Calls(
            MethodHandle open,
            MethodHandle close,
            MethodHandle fallocate,
            MethodHandle fadvise,
            StructLayout state,
            VarHandle errno) {}

    /** How a reservation ended. */
    enum Outcome {
        DONE,
        NO_SPACE,
        /** The process has no descriptor left. */
        NOT_NOW,
        UNSUPPORTED
    }

    private final Path path;

    private NativeFile(Path path) {
        this.path = path;
    }

    @SuppressWarnings("restricted") // --enable-native-access is given at start
    private static @Nullable Calls link() {
        if (!System.getProperty("os.name", "").equals("Linux")
                || System.getProperty("sun.arch.data.model", "").equals("32")) {
            return null;
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup lookup = linker.defaultLookup();
        StructLayout state = Linker.Option.captureStateLayout();
        Linker.Option capture = Linker.Option.captureCallState("errno");
        try {
            return new Calls(
                    linker.downcallHandle(
                            lookup.findOrThrow("open"),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_INT),
                            capture),
                    linker.downcallHandle(
                            lookup.findOrThrow("close"),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                            capture),
                    linker.downcallHandle(
                            lookup.findOrThrow("fallocate"),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG),
                            capture),
                    linker.downcallHandle(
                            lookup.findOrThrow("posix_fadvise"),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_INT)),
                    state,
                    state.varHandle(MemoryLayout.PathElement.groupElement("errno")));
        } catch (RuntimeException e) {
            LOG.warn(
                    "fallocate and fadvise cannot be called ({}); segment files grow as written",
                    e.toString());
            return null;
        }
    }

    /** Null where fallocate cannot be called. */
    static @Nullable NativeFile of(Path path) {
        return CALLS == null ? null : new NativeFile(path);
    }

    private static int errno(Calls calls, MemorySegment state) {
        return (int) calls.errno.get(state, 0L);
    }

    /** Reserves [offset, offset + length) and makes the file at least that long. */
    Outcome allocate(long offset, long length) throws IOException {
        Outcome outcome = call(0, offset, length);
        if (outcome == Outcome.NOT_NOW) {
            throw new IOException(path + ": Too many open files");
        }
        return outcome;
    }

    /** Gives [offset, offset + length) back to the file system; it reads as zeros afterwards. */
    Outcome punch(long offset, long length) throws IOException {
        return call(PUNCH_HOLE | KEEP_SIZE, offset, length);
    }

    /** Has the disk begin to read [offset, offset + length), if it can. */
    void willNeed(long offset, long length) {
        Calls calls = Objects.requireNonNull(CALLS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(calls.state);
            MemorySegment name = arena.allocateFrom(path.toString());
            int descriptor = (int) calls.open.invokeExact(state, name, O_RDONLY | O_CLOEXEC);
            if (descriptor >= 0) {
                int unread = (int) calls.fadvise.invokeExact(descriptor, offset, length, WILL_NEED);
                int unclosed = (int) calls.close.invokeExact(state, descriptor);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private Outcome call(int mode, long offset, long length) throws IOException {
        Calls calls = Objects.requireNonNull(CALLS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(calls.state);
            MemorySegment name = arena.allocateFrom(path.toString());
            int descriptor = (int) calls.open.invokeExact(state, name, O_RDWR | O_CLOEXEC);
            if (descriptor < 0) {
                int errno = errno(calls, state);
                if (errno == EMFILE || errno == ENFILE) {
                    return Outcome.NOT_NOW;
                }
                throw new IOException(path + ": open failed, errno " + errno);
            }
            try {
                return call(calls, state, descriptor, mode, offset, length);
            } finally {
                int ignored = (int) calls.close.invokeExact(state, descriptor);
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Outcome call(
            Calls calls, MemorySegment state, int descriptor, int mode, long offset, long length)
            throws Throwable {
        while (true) {
            int result = (int) calls.fallocate.invokeExact(state, descriptor, mode, offset, length);
            if (result == 0) {
                return Outcome.DONE;
            }
            int errno = errno(calls, state);
            switch (errno) {
                case EINTR -> {}
                case ENOSPC, EDQUOT -> {
                    return Outcome.NO_SPACE;
                }
                case 95, 38, 22 -> { // EOPNOTSUPP, ENOSYS, EINVAL: not on this file system
                    return Outcome.UNSUPPORTED;
                }
                default -> throw new IOException("fallocate failed, errno " + errno);
            }
        }
    }
}
