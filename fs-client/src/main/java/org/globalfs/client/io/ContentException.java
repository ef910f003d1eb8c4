package org.globalfs.client.io;

import org.globalfs.protocol.Errno;

/** Content could not be read or written: the errno that the application gets. */
public final class ContentException extends Exception {
    private static final long serialVersionUID = 1;

    private final Errno errno;

    public ContentException(Errno errno, String message) {
        super(message, null, false, false);
        this.errno = errno;
    }

    public Errno errno() {
        return errno;
    }
}
