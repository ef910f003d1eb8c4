import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The few system calls that the router needs. */
final class Kernel {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout POINTER = ValueLayout.ADDRESS;

    private static final MethodHandle OPEN =
            function("open", FunctionDescriptor.of(INT, POINTER, INT), 2);
    private static final MethodHandle IOCTL_POINTER =
            function("ioctl", FunctionDescriptor.of(INT, INT, LONG, POINTER), 2);
    private static final MethodHandle IOCTL_NUMBER =
            function("ioctl", FunctionDescriptor.of(INT, INT, LONG, LONG), 2);
    private static final MethodHandle READ =
            function("read", FunctionDescriptor.of(LONG, INT, POINTER, LONG));
    private static final MethodHandle WRITE =
            function("write", FunctionDescriptor.of(LONG, INT, POINTER, LONG));
    private static final MethodHandle CLOSE = function("close", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle PRCTL =
            function("prctl", FunctionDescriptor.of(INT, INT, LONG, LONG, LONG, LONG), 1);
    private static final MethodHandle MMAP =
            function("mmap", FunctionDescriptor.of(POINTER, POINTER, LONG, INT, INT, INT, LONG));

    private static final MethodHandle SETNS =
            function("setns", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle SOCKET =
            function("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle BIND =
            function("bind", FunctionDescriptor.of(INT, INT, POINTER, INT));
    private static final MethodHandle SENDTO =
            function("sendto", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT, POINTER, INT));

    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final long TUNSETIFF = 0x400454caL;
    private static final long TUNSETOFFLOAD = 0x400454d0L;
    private static final int IFREQ_BYTES = 40;
    private static final int IFREQ_FLAGS_OFFSET = 16;
    private static final short IFF_TUN_NO_PI_VNET_HDR = 0x0001 | 0x1000 | 0x4000;
    private static final long CHECKSUM_TSO4_TSO6 = 0x1 | 0x2 | 0x4;
    private static final int PR_SET_TIMERSLACK = 29;
    private static final int CLONE_NEWNET = 0x40000000;
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCKADDR_BYTES = 16;
    private static final long SIOCGSTAMPNS = 0x8907L;
    private static final int PROT_READ_WRITE = 0x1 | 0x2;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;

    private Kernel() {}

    private static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker()
                .downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow(name), type);
    }

    private static MethodHandle function(String name, FunctionDescriptor type, int firstVariadic) {
        return Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow(name),
                        type,
                        Linker.Option.firstVariadicArg(firstVariadic));
    }

    /**
     * Makes a TUN device in this network namespace. Offload is on: the kernel hands over TCP
     * segments of up to 64 KiB whole, each behind a virtio header.
     *
     * @return its file descriptor; the device goes with it
     */
    static int openTun(String device) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) OPEN.invokeExact(arena.allocateFrom("/dev/net/tun"), O_RDWR);
            if (fd < 0) {
                throw new IOException(
                        "no /dev/net/tun: this kernel, or this container, has no TUN devices");
            }
            MemorySegment request = arena.allocate(IFREQ_BYTES);
            request.setString(0, device);
            request.set(ValueLayout.JAVA_SHORT, IFREQ_FLAGS_OFFSET, IFF_TUN_NO_PI_VNET_HDR);
            if ((int) IOCTL_POINTER.invokeExact(fd, TUNSETIFF, request) < 0) {
                throw new IOException("cannot make the TUN device " + device);
            }
            if ((int) IOCTL_NUMBER.invokeExact(fd, TUNSETOFFLOAD, CHECKSUM_TSO4_TSO6) < 0) {
                throw new IOException("cannot switch on offload of " + device);
            }
            return fd;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** One packet; negative on failure. */
    static long read(int fd, MemorySegment into, long limitBytes) {
        try {
            return (long) READ.invokeExact(fd, into, limitBytes);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** One packet; negative on failure. */
    static long write(int fd, MemorySegment from, long sizeBytes) {
        try {
            return (long) WRITE.invokeExact(fd, from, sizeBytes);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Lets this thread's waits end on time: the kernel's default allows itself 50 us. */
    static void exactTimers() {
        try {
            int ignored = (int) PRCTL.invokeExact(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Memory that costs nothing until it is touched. */
    static MemorySegment reserve(long sizeBytes) {
        try {
            MemorySegment mapped =
                    (MemorySegment)
                            MMAP.invokeExact(
                                    MemorySegment.NULL,
                                    sizeBytes,
                                    PROT_READ_WRITE,
                                    MAP_PRIVATE_ANONYMOUS,
                                    -1,
                                    0L);
            if (mapped.address() == -1) {
                throw new OutOfMemoryError("cannot map " + sizeBytes + " bytes");
            }
            return mapped.reinterpret(sizeBytes);
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** This thread's sockets are of that namespace from now on. */
    static void enterNamespace(String file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) OPEN.invokeExact(arena.allocateFrom(file), O_RDONLY);
            if (fd < 0 || (int) SETNS.invokeExact(fd, CLONE_NEWNET) < 0) {
                throw new IOException("cannot enter " + file);
            }
            int ignored = (int) CLOSE.invokeExact(fd);
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * @return the descriptor of a socket whose packets the kernel stamps as they arrive
     */
    static int openUdp(String address, int port) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) SOCKET.invokeExact(AF_INET, SOCK_DGRAM, 0);
            MemorySegment at = socketAddress(arena, address, port);
            if (fd < 0 || (int) BIND.invokeExact(fd, at, SOCKADDR_BYTES) < 0) {
                throw new IOException("cannot bind a socket to " + address + ":" + port);
            }
            arrivedNs(fd); // the first time only switches stamps on
            return fd;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Whether the kernel took it. */
    static boolean sendUdp(int fd, MemorySegment packet, String address, int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = socketAddress(arena, address, port);
            long sent =
                    (long) SENDTO.invokeExact(fd, packet, packet.byteSize(), 0, to, SOCKADDR_BYTES);
            return sent == packet.byteSize();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** When the packet that was read last arrived, in nanoseconds of the wall clock. */
    static long arrivedNs(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(LONG, 2);
            int ignored = (int) IOCTL_POINTER.invokeExact(fd, SIOCGSTAMPNS, time);
            return time.getAtIndex(LONG, 0) * 1_000_000_000L + time.getAtIndex(LONG, 1);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MemorySegment socketAddress(Arena arena, String address, int port) {
        MemorySegment bytes = arena.allocate(SOCKADDR_BYTES, LONG.byteAlignment());
        ByteBuffer fields = bytes.asByteBuffer().order(ByteOrder.nativeOrder());
        fields.putShort((short) AF_INET);
        fields.order(ByteOrder.BIG_ENDIAN).putShort((short) port);
        fields.put(InetAddress.ofLiteral(address).getAddress());
        return bytes;
    }
}
