package org.globalfs.client.vfs;

import org.globalfs.protocol.Errno;

/**
 * An operation's expected failure, as the errno that its caller gets. Without a stack trace: it is
 * an answer, not an accident.
 */
public final class FsException extends Exception {
    private static final long serialVersionUID = 1;

    private final Errno errno;

    private FsException(Errno errno, String message) {
        super(message, null, false, false);
        this.errno = errno;
    }

    public static FsException of(Errno errno) {
        return new FsException(errno, errno.name());
    }

    public static FsException of(Errno errno, String detail) {
        return new FsException(errno, errno.name() + ": " + detail);
    }

    public Errno errno() {
        return errno;
    }
}
