package org.globalfs.client.fuse;

import java.io.IOException;

/** A mount that could not be made or removed; the message names what is wrong and the mend. */
public final class MountException extends IOException {
    private static final long serialVersionUID = 1;

    public MountException(String message) {
        super(message);
    }
}
