package org.globalfs.client;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.Role;

/** What is wrong when no replica of a client's region is known. */
final class MissingRegion {

    private MissingRegion() {}

    /**
     * A region that has storage nodes or a bucket, be they away too, is there, and its replicas are
     * down. Else the client's configuration names what is not there.
     */
    static IOException error(
            ClientConfig config, Discovery discovery, Epoch epoch, RecordedStore store) {
        Set<String> regions = new TreeSet<>();
        epoch.nodes().forEach(node -> regions.add(node.region()));
        store.buckets().forEach(bucket -> regions.add(bucket.region()));
        discovery.members(Role.REPLICA).forEach(replica -> regions.add(replica.region()));
        if (regions.contains(config.region())) {
            return new IOException(
                    "no metadata replica of region '"
                            + config.region()
                            + "' is known: start its servers");
        }
        String message =
                regions.isEmpty()
                        ? "ZooKeeper at "
                                + config.zookeeper()
                                + " knows nothing of a cluster '"
                                + config.cluster()
                                + "': correct the key 'cluster' or 'zookeeper', or start its servers"
                        : "cluster '"
                                + config.cluster()
                                + "' has no region '"
                                + config.region()
                                + "': correct the key 'region' to one of "
                                + String.join(", ", regions);
        return new IOException(message, new ConfigException(message));
    }
}
