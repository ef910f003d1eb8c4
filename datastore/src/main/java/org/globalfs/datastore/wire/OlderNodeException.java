package org.globalfs.datastore.wire;

import java.io.IOException;

/** A storage node does not know a request: asking again is of no use before it is upgraded. */
public final class OlderNodeException extends IOException {
    private static final long serialVersionUID = 1;

    OlderNodeException(String message) {
        super(message);
    }
}
