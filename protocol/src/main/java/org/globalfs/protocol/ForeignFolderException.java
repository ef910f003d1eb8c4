package org.globalfs.protocol;

import java.io.IOException;

/** A folder belongs to another cluster, process or version: nothing in it was touched. */
public final class ForeignFolderException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * @param message names the folder and the mend
     */
    public ForeignFolderException(String message) {
        super(message);
    }
}
