package org.globalfs.client.fuse;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.globalfs.protocol.Errno;

/**
 * The system calls that the protocol needs. A negative answer is {@code -errno}, as the kernel
 * itself gives it.
 */
final class Libc {
    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CLOEXEC = 02000000;
    static final int AF_UNIX = 1;
    static final int SOCK_STREAM = 1;
    static final int SOCK_CLOEXEC = 02000000;
    static final int MNT_FORCE = 1;
    static final int MNT_DETACH = 2;
    static final int UMOUNT_NOFOLLOW = 8;
    static final int MS_RDONLY = 1;
    static final int MS_NOSUID = 2;
    static final int MS_NODEV = 4;
    static final int MS_NOEXEC = 8;

    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle STATE_ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

    private static final MethodHandle OPEN = call("open", JAVA_INT, 2, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = call("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle READ =
            call("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WRITE =
            call("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WRITEV =
            call("writev", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle IOCTL =
            call("ioctl", JAVA_INT, 2, JAVA_INT, JAVA_LONG, ADDRESS);
    private static final MethodHandle ACCESS = call("access", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle MOUNT =
            call("mount", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle UMOUNT = call("umount2", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle MMAP =
            call("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = call("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SOCKETPAIR =
            call("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle RECVMSG =
            call("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle PIPE = call("pipe2", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle WAITPID =
            call("waitpid", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETEUID = call("geteuid", JAVA_INT);
    private static final MethodHandle GETEGID = call("getegid", JAVA_INT);
    private static final MethodHandle SPAWN =
            call("posix_spawn", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle ACTIONS_INIT =
            call("posix_spawn_file_actions_init", JAVA_INT, ADDRESS);
    private static final MethodHandle ACTIONS_DUP2 =
            call("posix_spawn_file_actions_adddup2", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle ACTIONS_DESTROY =
            call("posix_spawn_file_actions_destroy", JAVA_INT, ADDRESS);

    private Libc() {}

    private static MethodHandle call(String name, ValueLayout result, ValueLayout... arguments) {
        return call(name, result, -1, arguments);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle call(
            String name, ValueLayout result, int firstVariadic, ValueLayout... arguments) {
        FunctionDescriptor type = FunctionDescriptor.of(result, arguments);
        MemorySegment function = LINKER.defaultLookup().findOrThrow(name);
        return firstVariadic < 0
                ? LINKER.downcallHandle(function, type, ERRNO)
                : LINKER.downcallHandle(
                        function, type, ERRNO, Linker.Option.firstVariadicArg(firstVariadic));
    }

    /**
     * Where a call leaves errno: one for each thread that calls {@link #read} and {@link #write}.
     */
    static MemorySegment newState() {
        return Arena.ofAuto().allocate(STATE);
    }

    static long read(int fd, long address, long length, MemorySegment state) {
        try {
            long result = (long) READ.invokeExact(state, fd, address, length);
            return result < 0 ? -errno(state) : result;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long write(int fd, long address, long length, MemorySegment state) {
        try {
            long result = (long) WRITE.invokeExact(state, fd, address, length);
            return result < 0 ? -errno(state) : result;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * As {@link #write} of {@code length} bytes at {@code address} and {@code missing} more that
     * are nowhere: what takes them gets EFAULT there.
     *
     * @param vectors room for two of struct iovec
     */
    static long writeShort(
            int fd,
            long address,
            long length,
            long missing,
            MemorySegment vectors,
            MemorySegment state) {
        vectors.setAtIndex(JAVA_LONG, 0, address);
        vectors.setAtIndex(JAVA_LONG, 1, length);
        vectors.setAtIndex(JAVA_LONG, 2, 0);
        vectors.setAtIndex(JAVA_LONG, 3, missing);
        try {
            long result = (long) WRITEV.invokeExact(state, fd, vectors.address(), 2);
            return result < 0 ? -errno(state) : result;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int open(String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer((int) OPEN.invokeExact(state, arena.allocateFrom(path), flags, 0), state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int close(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer((int) CLOSE.invokeExact(state, fd), state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** An ioctl whose argument is the address of one 32-bit number. */
    static int ioctl(int fd, long request, int argument) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer(
                    (int)
                            IOCTL.invokeExact(
                                    state, fd, request, arena.allocateFrom(JAVA_INT, argument)),
                    state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** access(2) for existence. */
    static int exists(String path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer((int) ACCESS.invokeExact(state, arena.allocateFrom(path), 0), state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int mount(String source, String target, String type, long flags, String data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer(
                    (int)
                            MOUNT.invokeExact(
                                    state,
                                    arena.allocateFrom(source),
                                    arena.allocateFrom(target),
                                    arena.allocateFrom(type),
                                    flags,
                                    arena.allocateFrom(data)),
                    state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int umount(String target, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            return answer(
                    (int) UMOUNT.invokeExact(state, arena.allocateFrom(target), flags), state);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int effectiveUid() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) GETEUID.invokeExact(arena.allocate(STATE));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int effectiveGid() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) GETEGID.invokeExact(arena.allocate(STATE));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * Zeroed pages that cost memory only once touched; given back when nothing refers to them any
     * more.
     */
    @SuppressWarnings("restricted")
    static MemorySegment pages(long sizeBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long address =
                    (long)
                            MMAP.invokeExact(
                                    state,
                                    0L,
                                    sizeBytes,
                                    PROT_READ_WRITE,
                                    MAP_PRIVATE_ANONYMOUS,
                                    -1,
                                    0L);
            if (address == -1) {
                throw new OutOfMemoryError(
                        "mmap of " + sizeBytes + " bytes: " + Errno.of(errno(state)));
            }
            return MemorySegment.ofAddress(address)
                    .reinterpret(sizeBytes, Arena.ofAuto(), Libc::unmap);
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static void unmap(MemorySegment segment) {
        try (Arena arena = Arena.ofConfined()) {
            int ignored =
                    (int)
                            MUNMAP.invokeExact(
                                    arena.allocate(STATE), segment.address(), segment.byteSize());
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Two connected sockets, or a negative errno in the first place. */
    static int[] socketPair() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment fds = arena.allocate(JAVA_INT, 2);
            int result =
                    answer(
                            (int)
                                    SOCKETPAIR.invokeExact(
                                            state, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                            state);
            return result < 0
                    ? new int[] {result, -1}
                    : new int[] {fds.getAtIndex(JAVA_INT, 0), fds.getAtIndex(JAVA_INT, 1)};
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Reading and writing end of a pipe, or a negative errno in the first place. */
    static int[] pipe() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment fds = arena.allocate(JAVA_INT, 2);
            int result = answer((int) PIPE.invokeExact(state, fds, O_CLOEXEC), state);
            return result < 0
                    ? new int[] {result, -1}
                    : new int[] {fds.getAtIndex(JAVA_INT, 0), fds.getAtIndex(JAVA_INT, 1)};
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * Waits for a message that carries a descriptor, and returns that; negative errno, or -EPROTO
     * for one without.
     */
    static int receiveDescriptor(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment data = arena.allocate(16, 8);
            MemorySegment vector = arena.allocate(16, 8);
            vector.set(JAVA_LONG, 0, data.address());
            vector.set(JAVA_LONG, 8, 1);
            MemorySegment control = arena.allocate(64, 8);
            // struct msghdr: name, namelen, iov, iovlen, control, controllen, flags
            MemorySegment message = arena.allocate(56, 8);
            message.set(JAVA_LONG, 16, vector.address());
            message.set(JAVA_LONG, 24, 1);
            message.set(JAVA_LONG, 32, control.address());
            message.set(JAVA_LONG, 40, control.byteSize());
            long result = (long) RECVMSG.invokeExact(state, socket, message, MSG_CMSG_CLOEXEC);
            if (result < 0) {
                return -errno(state);
            }
            // struct cmsghdr: len, level, type, data
            boolean carries =
                    message.get(JAVA_LONG, 40) >= 20
                            && control.get(JAVA_INT, 8) == SOL_SOCKET
                            && control.get(JAVA_INT, 12) == SCM_RIGHTS;
            return carries ? control.get(JAVA_INT, 16) : -Errno.EPROTO.number();
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * Starts a program with {@code given} as its descriptor 3 and {@code errorOutput} as 2
     * (descriptor duplicates survive exec whatever the originals say); its process id, or a
     * negative errno.
     */
    static int spawn(String[] command, String[] environment, int given, int errorOutput) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment actions = arena.allocate(512, 16);
            MemorySegment pid = arena.allocate(JAVA_INT);
            int result = (int) ACTIONS_INIT.invokeExact(state, actions);
            if (result == 0) {
                result = (int) ACTIONS_DUP2.invokeExact(state, actions, errorOutput, 2);
            }
            if (result == 0 && given >= 0) {
                result = (int) ACTIONS_DUP2.invokeExact(state, actions, given, 3);
            }
            if (result == 0) {
                result =
                        (int)
                                SPAWN.invokeExact(
                                        state,
                                        pid,
                                        arena.allocateFrom(command[0]),
                                        actions,
                                        MemorySegment.NULL,
                                        strings(arena, command),
                                        strings(arena, environment));
            }
            int destroyed = (int) ACTIONS_DESTROY.invokeExact(state, actions);
            return result != 0 ? -result : destroyed != 0 ? -destroyed : pid.get(JAVA_INT, 0);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Waits for the end of a program; its exit code, 128 + signal, or a negative errno. */
    static int waitFor(int pid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment status = arena.allocate(JAVA_INT);
            int result;
            do {
                result = answer((int) WAITPID.invokeExact(state, pid, status, 0), state);
            } while (result == -Errno.EINTR.number());
            int code = status.get(JAVA_INT, 0);
            return result < 0
                    ? result
                    : (code & 0x7f) != 0 ? 128 + (code & 0x7f) : (code >> 8) & 0xff;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static MemorySegment strings(Arena arena, String[] values) {
        MemorySegment array = arena.allocate(ADDRESS, values.length + 1L);
        for (int i = 0; i < values.length; i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(values[i]));
        }
        return array;
    }

    private static int answer(int result, MemorySegment state) {
        return result < 0 ? -errno(state) : result;
    }

    private static int errno(MemorySegment state) {
        return (int) STATE_ERRNO.get(state, 0L);
    }

    private static IllegalStateException unexpected(Throwable t) {
        return new IllegalStateException("a call into the C library failed", t);
    }
}
