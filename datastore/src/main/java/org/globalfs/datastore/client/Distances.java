package org.globalfs.datastore.client;

import org.globalfs.protocol.discovery.StorageSite;

/** How far away nodes are. */
interface Distances {
    /** About how long a round trip to the node takes, in nanoseconds. */
    long ns(StorageSite site);
}
