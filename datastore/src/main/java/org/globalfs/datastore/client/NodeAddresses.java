package org.globalfs.datastore.client;

import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;

/** Where the nodes are that a client talks to. Thread-safe. */
interface NodeAddresses {

    /** Null: the node is gone for good, as far as is known here. */
    @Nullable HostPort address(String node);
}
