package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.globalfs.protocol.Errno;

/**
 * The first exchange on a connection: versions, sizes and features.
 *
 * <p>What is asked for, and what is not:
 *
 * <ul>
 *   <li>ASYNC_READ, BIG_WRITES, MAX_PAGES: reads and writes of 1 MiB, read-ahead in parallel.
 *   <li>ATOMIC_O_TRUNC: open(O_TRUNC) is one request.
 *   <li>PARALLEL_DIROPS: lookups and listings of one directory run at the same time.
 *   <li>DO_READDIRPLUS with READDIRPLUS_AUTO: attributes come with a listing when the kernel sees
 *       that they are used.
 *   <li>CACHE_SYMLINKS: an inode's link target never changes, so it may be kept.
 *   <li>HANDLE_KILLPRIV_V2, or else HANDLE_KILLPRIV: the file system takes set-id bits and
 *       capabilities away on write, truncation and chown by itself. With V2 the kernel also
 *       remembers that a file has none, instead of asking before each write. Its flags, which say
 *       who may keep set-id bits, are passed over: the replica decides that by the caller's uid.
 *   <li>DONT_MASK: the replica applies the umask, because it must not where a directory has a
 *       default access control list.
 *   <li>POSIX_ACL, with {@link MountOptions#defaultPermissions} only, which it implies: the kernel
 *       checks access control lists, too, and remembers them as long as attributes. Not
 *       SETXATTR_EXT: the replica knows by itself when a list costs the set-gid bit.
 *   <li>EXPORT_SUPPORT: inodes can be found by number (name_to_handle_at, NFS).
 *   <li>POSIX_LOCKS and FLOCK_LOCKS, where the file system serves locks; else they are the local
 *       kernel's.
 *   <li>AUTO_INVAL_DATA or EXPLICIT_INVAL_DATA as {@link MountOptions#explicitInvalidation} says.
 *   <li>DIRECT_IO_ALLOW_MMAP: mmap works on files opened with directIo.
 *   <li>Not WRITEBACK_CACHE: it hides other clients' changes of size. Not ASYNC_DIO: its reads
 *       cannot be interrupted.
 * </ul>
 */
final class InitNegotiation {
    private static final long WANTED =
            FuseFlags.ASYNC_READ
                    | FuseFlags.ATOMIC_O_TRUNC
                    | FuseFlags.EXPORT_SUPPORT
                    | FuseFlags.BIG_WRITES
                    | FuseFlags.DO_READDIRPLUS
                    | FuseFlags.READDIRPLUS_AUTO
                    | FuseFlags.PARALLEL_DIROPS
                    | FuseFlags.DONT_MASK
                    | FuseFlags.ABORT_ERROR
                    | FuseFlags.MAX_PAGES
                    | FuseFlags.CACHE_SYMLINKS
                    | FuseFlags.INIT_EXT
                    | FuseFlags.DIRECT_IO_ALLOW_MMAP;

    private static final int MAX_PAGES = Exchange.MAX_TRANSFER / 4096;
    private static final int MAX_BACKGROUND = 64;

    /**
     * What both sides agreed on; {@code expiresEntries}: a name can be marked as to be looked up
     * again, without being dropped under those who stand in it.
     */
    record Agreement(int kernelMinor, int minor, long flags, boolean expiresEntries) {}

    private InitNegotiation() {}

    /** Reads the kernel's offer and answers it. */
    static Agreement run(FuseDevice device, MountOptions options, boolean locks)
            throws MountException {
        Exchange x = new Exchange();
        MemorySegment state = Libc.newState();
        while (true) {
            long count =
                    Libc.read(device.fd(), x.requestAddress(), Exchange.REQUEST_CAPACITY, state);
            if (count == -Errno.EINTR.number() || count == -Errno.EAGAIN.number()) {
                continue;
            }
            if (count < 0) {
                throw new MountException(
                        "the kernel ended the connection at once: " + Errno.of((int) -count));
            }
            if (!x.decode((int) count, 0, 0) || x.opcode() != Opcode.INIT.number) {
                throw new MountException(
                        "the kernel's first request is not INIT but " + x.opcode());
            }
            int major = x.int32(FuseLayout.InitIn.MAJOR);
            int minor = x.int32(FuseLayout.InitIn.MINOR);
            if (major < FuseFlags.MAJOR
                    || (major == FuseFlags.MAJOR && minor < FuseFlags.OLDEST_MINOR)) {
                send(device, x, Errno.EPROTO.number(), state);
                throw new MountException(
                        "this kernel speaks FUSE "
                                + major
                                + "."
                                + minor
                                + "; "
                                + FuseFlags.MAJOR
                                + "."
                                + FuseFlags.OLDEST_MINOR
                                + " (Linux 5.2) or newer is needed");
            }
            Agreement agreement = answer(x, minor, options, locks);
            if (major > FuseFlags.MAJOR) {
                // the kernel repeats its offer in the version that it is told
                x.answer(FuseLayout.InitOut.SIZE_OF);
                send(device, x, 0, state);
                continue;
            }
            send(device, x, 0, state);
            return agreement;
        }
    }

    private static Agreement answer(
            Exchange x, int kernelMinor, MountOptions options, boolean locks) {
        long offered = x.int32(FuseLayout.InitIn.FLAGS) & 0xffffffffL;
        if ((offered & FuseFlags.INIT_EXT) != 0) {
            offered |= (long) x.int32(FuseLayout.InitIn.FLAGS2) << 32;
        }
        long wanted =
                WANTED
                        | (locks ? FuseFlags.POSIX_LOCKS | FuseFlags.FLOCK_LOCKS : 0)
                        | (options.explicitInvalidation()
                                ? FuseFlags.EXPLICIT_INVAL_DATA
                                : FuseFlags.AUTO_INVAL_DATA);
        wanted |=
                (offered & FuseFlags.HANDLE_KILLPRIV_V2) != 0
                        ? FuseFlags.HANDLE_KILLPRIV_V2
                        : FuseFlags.HANDLE_KILLPRIV;
        wanted |= options.defaultPermissions() ? FuseFlags.POSIX_ACL : 0;
        long flags = wanted & offered;
        int minor = Math.min(kernelMinor, FuseFlags.NEWEST_MINOR);
        int readAhead =
                Math.max(x.int32(FuseLayout.InitIn.MAX_READAHEAD), options.readAheadKb() << 10);
        int at = x.clear(FuseLayout.InitOut.SIZE_OF);
        ByteBuffer out = x.memory();
        out.putInt(at + FuseLayout.InitOut.MAJOR, FuseFlags.MAJOR);
        out.putInt(at + FuseLayout.InitOut.MINOR, minor);
        out.putInt(at + FuseLayout.InitOut.MAX_READAHEAD, readAhead);
        out.putInt(at + FuseLayout.InitOut.FLAGS, (int) flags);
        out.putInt(at + FuseLayout.InitOut.FLAGS2, (int) (flags >>> 32));
        out.putShort(at + FuseLayout.InitOut.MAX_BACKGROUND, (short) MAX_BACKGROUND);
        out.putShort(
                at + FuseLayout.InitOut.CONGESTION_THRESHOLD, (short) (MAX_BACKGROUND * 3 / 4));
        out.putInt(at + FuseLayout.InitOut.MAX_WRITE, Exchange.MAX_TRANSFER);
        out.putInt(at + FuseLayout.InitOut.TIME_GRAN, 1);
        out.putShort(at + FuseLayout.InitOut.MAX_PAGES, (short) MAX_PAGES);
        x.answer(FuseLayout.InitOut.SIZE_OF);
        return new Agreement(kernelMinor, minor, flags, (offered & FuseFlags.HAS_EXPIRE_ONLY) != 0);
    }

    private static void send(FuseDevice device, Exchange x, int errno, MemorySegment state)
            throws MountException {
        long address = x.seal(errno);
        long written = Libc.write(device.fd(), address, x.sealedLength(errno), state);
        if (written < 0) {
            throw new MountException(
                    "the kernel refused the answer to INIT: " + Errno.of((int) -written));
        }
    }
}
