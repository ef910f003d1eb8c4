package org.globalfs.client.fuse;

import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.Errno;

/**
 * One descriptor of {@code /dev/fuse}. A request that was read from it must be answered through it.
 */
final class FuseDevice {
    static final String PATH = "/dev/fuse";

    private final int fd;
    private final AtomicBoolean open = new AtomicBoolean(true);

    FuseDevice(int fd) {
        this.fd = fd;
    }

    /** A descriptor that no mount uses yet. */
    static FuseDevice open() throws MountException {
        int fd = Libc.open(PATH, Libc.O_RDWR | Libc.O_CLOEXEC);
        if (fd >= 0) {
            return new FuseDevice(fd);
        }
        throw new MountException(refusal(Errno.of(-fd)));
    }

    static String refusal(Errno errno) {
        return switch (errno) {
            case ENOENT, ENODEV, ENXIO ->
                    PATH
                            + " is missing: load the kernel's module with 'modprobe fuse'"
                            + " (a container must be started with --device /dev/fuse --cap-add SYS_ADMIN)";
            case EACCES, EPERM ->
                    "no permission to open "
                            + PATH
                            + ": 'chmod 666 "
                            + PATH
                            + "' as root lets every user mount;"
                            + " a container must be started with --device /dev/fuse --cap-add SYS_ADMIN";
            default -> "cannot open " + PATH + ": " + errno;
        };
    }

    int fd() {
        return fd;
    }

    /**
     * A further descriptor of the same mount with a queue of its own for requests being worked on.
     * Where the device may not be opened again (a user whose mount fusermount3 made), the same one
     * serves for all threads.
     */
    FuseDevice another() {
        int other = Libc.open(PATH, Libc.O_RDWR | Libc.O_CLOEXEC);
        if (other < 0) {
            return this;
        }
        if (Libc.ioctl(other, FuseFlags.DEV_IOC_CLONE, fd) < 0) {
            Libc.close(other);
            return this;
        }
        return new FuseDevice(other);
    }

    /** Only once no thread uses the descriptor any more. */
    void close() {
        if (open.compareAndSet(true, false)) {
            Libc.close(fd);
        }
    }
}
