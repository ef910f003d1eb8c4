package org.globalfs.client.control;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.globalfs.client.fuse.MountTable;

/**
 * Where a mount's control socket is: {@code /run/globalfs/DEVICE.sock} of root's, {@code
 * /run/user/UID/globalfs/DEVICE.sock} of a user's, or under {@code /tmp/globalfs-UID} of one who
 * has no place in {@code /run}.
 */
final class ControlAddress {

    private ControlAddress() {}

    /**
     * @param mount as the kernel's table has it: the device tells mounts apart, and the user is who
     *     serves it
     */
    static UnixDomainSocketAddress of(MountTable.Mount mount) {
        return UnixDomainSocketAddress.of(
                folder(mount.uid()).resolve(mount.device().replace(':', '-') + ".sock"));
    }

    private static Path folder(int uid) {
        if (uid == 0) {
            return Path.of("/run/globalfs");
        }
        Path own = Path.of("/run/user", Integer.toUnsignedString(uid));
        return Files.isDirectory(own)
                ? own.resolve("globalfs")
                : Path.of("/tmp", "globalfs-" + Integer.toUnsignedString(uid));
    }

    /** The topmost mount at this path, or where symbolic links lead; one of ours. */
    static MountTable.Mount mount(Path mountpoint) throws IOException {
        MountTable.Mount mount = MountTable.named(mountpoint);
        if (mount != null && MountTable.isOurs(mount)) {
            return mount;
        }
        MountTable.Mount over = mount == null ? MountTable.over(mountpoint) : null;
        String mend =
                over != null && MountTable.isOurs(over)
                        ? " is on the mount " + over.mountpoint() + ": name that"
                        : " is no mount of GlobalFS: name its mountpoint";
        throw new IOException(mountpoint + mend);
    }
}
