package org.globalfs.protocol.discovery;

import java.util.Locale;

/** Where a cluster keeps the content of its files. */
public enum StoreKind {
    /** On its own storage nodes. */
    DHT,
    /** In buckets of S3 or of a service that is compatible with it, one a region. */
    S3;

    /** As configurations and records spell it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
