package org.globalfs.protocol;

import java.io.IOException;

/** Another process, or another part of this one, keeps its data in the folder. */
public final class FolderInUseException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * @param message names the folder and the mend
     */
    public FolderInUseException(String message) {
        super(message);
    }
}
