package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Attaches a FUSE connection to a directory and detaches it: as root by mount(2), else through
 * {@code fusermount3}.
 */
final class Mounter {
    static final String TYPE = "fuse.globalfs";

    private static final Logger log = LoggerFactory.getLogger(Mounter.class);

    private Mounter() {}

    static boolean privileged() {
        return Libc.effectiveUid() == 0;
    }

    /** The mountpoint without symbolic links, found without touching what may be mounted on it. */
    static Path resolve(Path mountpoint) throws IOException {
        Path absolute = mountpoint.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        Path name = absolute.getFileName();
        if (parent == null || name == null) {
            throw new MountException("mountpoint " + mountpoint + " is the root directory");
        }
        if (!Files.isDirectory(parent)) {
            throw missing(mountpoint);
        }
        Path candidate = parent.toRealPath().resolve(name);
        boolean plain = MountTable.at(candidate) != null || !Files.isSymbolicLink(candidate);
        return plain || !Files.exists(candidate) ? candidate : candidate.toRealPath();
    }

    private static MountException missing(Path mountpoint) {
        return new MountException(
                "mountpoint "
                        + mountpoint
                        + " does not exist: create it with 'mkdir -p "
                        + mountpoint
                        + "'");
    }

    /**
     * Makes sure that this is an existing directory that nothing of ours is mounted on, after
     * removing what a process that died has left there.
     */
    static void prepare(Path mountpoint) throws IOException {
        removeDeadMount(mountpoint);
        if (!Files.exists(mountpoint)) {
            throw missing(mountpoint);
        }
        if (!Files.isDirectory(mountpoint)) {
            throw new MountException("mountpoint " + mountpoint + " is not a directory");
        }
    }

    static FuseDevice mount(Path mountpoint, MountOptions options) throws IOException {
        prepare(mountpoint);
        return privileged()
                ? mountAsRoot(mountpoint, options)
                : FuserMount.mount(mountpoint, options);
    }

    /**
     * A mount whose process died answers everything with ENOTCONN. Ours is removed; another
     * program's is reported. A living mount of ours is refused, because a second one would only
     * hide it.
     */
    private static void removeDeadMount(Path mountpoint) throws IOException {
        MountTable.Mount mount = MountTable.at(mountpoint);
        boolean dead = Libc.exists(mountpoint.toString()) == -Errno.ENOTCONN.number();
        boolean ours = mount != null && mount.type().equals(TYPE);
        if (!dead) {
            if (ours) {
                throw new MountException(
                        mountpoint
                                + " is mounted already: unmount it first with 'umount "
                                + mountpoint
                                + "'");
            }
            return;
        }
        if (!ours || !detach(mountpoint)) {
            String command = privileged() ? "umount -l " : "fusermount3 -u ";
            throw new MountException(
                    "mountpoint "
                            + mountpoint
                            + " was left by a process that died: remove it with '"
                            + command
                            + mountpoint
                            + "'");
        }
        log.warn("removed the mount that a dead process had left at {}", mountpoint);
        removeDeadMount(mountpoint);
    }

    private static FuseDevice mountAsRoot(Path mountpoint, MountOptions options)
            throws MountException {
        FuseDevice device = FuseDevice.open();
        long flags =
                (options.allowSetId() ? 0 : Libc.MS_NOSUID)
                        | (options.allowDevices() ? 0 : Libc.MS_NODEV)
                        | (options.allowExec() ? 0 : Libc.MS_NOEXEC)
                        | (options.readOnly() ? Libc.MS_RDONLY : 0);
        List<String> data = new ArrayList<>();
        data.add("fd=" + device.fd());
        data.add("rootmode=40000");
        data.add("user_id=" + Libc.effectiveUid());
        data.add("group_id=" + Libc.effectiveGid());
        data.addAll(commonOptions(options));
        int result =
                Libc.mount(
                        options.source(),
                        mountpoint.toString(),
                        TYPE,
                        flags,
                        String.join(",", data));
        if (result >= 0) {
            return device;
        }
        device.close();
        Errno errno = Errno.of(-result);
        throw new MountException(
                switch (errno) {
                    case EPERM, EACCES ->
                            "no permission to mount on "
                                    + mountpoint
                                    + ": mount(2) needs CAP_SYS_ADMIN (a container must be started with --cap-add SYS_ADMIN)";
                    case ENODEV -> "this kernel has no FUSE: load its module with 'modprobe fuse'";
                    default -> "cannot mount on " + mountpoint + ": " + errno;
                });
    }

    static List<String> commonOptions(MountOptions options) {
        List<String> result = new ArrayList<>();
        result.add("max_read=" + Exchange.MAX_TRANSFER);
        if (options.allowOther()) {
            result.add("allow_other");
        }
        if (options.defaultPermissions()) {
            result.add("default_permissions");
        }
        return result;
    }

    /** Unmounts if nobody uses it. Zero, or the positive errno. */
    static int unmount(Path mountpoint) {
        if (!privileged()) {
            return FuserMount.unmount(mountpoint, false) ? 0 : Errno.EBUSY.number();
        }
        return -Libc.umount(mountpoint.toString(), Libc.UMOUNT_NOFOLLOW);
    }

    /**
     * Unmounts whoever uses it: open files answer ENOTCONN from then on (without root and without
     * fusectl, only once the process ends).
     */
    static boolean detach(Path mountpoint) {
        if (!privileged()) {
            return detachAsUser(mountpoint);
        }
        // MNT_FORCE ends the connection, even when it then finds the mount busy
        Libc.umount(mountpoint.toString(), Libc.UMOUNT_NOFOLLOW | Libc.MNT_FORCE);
        int result = Libc.umount(mountpoint.toString(), Libc.UMOUNT_NOFOLLOW | Libc.MNT_DETACH);
        return result == 0 || result == -Errno.EINVAL.number() || result == -Errno.ENOENT.number();
    }

    private static boolean detachAsUser(Path mountpoint) {
        // Opened before, as the mount's number may be another's once it is gone.
        try (FileChannel abort = abort(mountpoint)) {
            boolean detached = FuserMount.unmount(mountpoint, true);
            if (detached && abort != null) {
                abort.write(ByteBuffer.wrap(new byte[] {'1'}));
            }
            return detached;
        } catch (IOException e) {
            log.warn("the connection of {} is not ended: {}", mountpoint, e.toString());
            return true;
        }
    }

    /** What ends the connection of the user's mount there; null: it cannot be had. */
    private static @Nullable FileChannel abort(Path mountpoint) {
        try {
            MountTable.Mount mount = MountTable.at(mountpoint);
            return mount == null || !mount.type().equals(TYPE)
                    ? null
                    : FileChannel.open(mount.abortFile(), StandardOpenOption.WRITE);
        } catch (IOException e) {
            log.info("the connection of {} cannot be ended: {}", mountpoint, e.toString());
            return null;
        }
    }

    /**
     * Lets the kernel read further ahead than the 128 KiB that it gives a FUSE mount; quietly not,
     * without the right to.
     */
    static void raiseReadAhead(Path mountpoint, int readAheadKb) throws IOException {
        MountTable.Mount mount = MountTable.at(mountpoint);
        if (mount == null || !privileged()) {
            return;
        }
        Path setting = Path.of("/sys/class/bdi", mount.device(), "read_ahead_kb");
        try {
            Files.writeString(setting, Integer.toString(readAheadKb));
        } catch (IOException e) {
            log.info("read-ahead stays at the kernel's default: {}", e.toString());
        }
    }
}
