package org.globalfs.oracle;

import java.io.IOException;

/** A replica answered that it cannot be done: with another tree it may be. */
final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
        super(message);
    }
}
