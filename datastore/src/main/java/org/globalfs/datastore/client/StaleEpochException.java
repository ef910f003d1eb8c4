package org.globalfs.datastore.client;

import java.io.IOException;

/** What was asked for may be elsewhere, by a placement epoch that has become known meanwhile. */
final class StaleEpochException extends IOException {
    private static final long serialVersionUID = 1;
}
