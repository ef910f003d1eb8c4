package org.globalfs.datastore.cache;

import java.nio.file.Path;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;

/**
 * What a cache is started with.
 *
 * @param id unique among the cluster's caches
 * @param bind where to listen; port 0 takes a free one
 * @param advertise the host that others reach it by
 * @param data its own folder
 * @param capacityBytes disk space that chunks may take
 * @param reserve free space of the disk that is left to others
 * @param chunks kept of each block, where the policy has a fixed number
 * @param periodMs from one plan to the next
 * @param fetchBytesPerSecond got from the origin at most
 */
public record CacheOptions(
        String cluster,
        String id,
        String region,
        int partition,
        String datacenter,
        HostPort bind,
        String advertise,
        Path data,
        long capacityBytes,
        DiskReserve reserve,
        CachePolicyKind policy,
        int chunks,
        long periodMs,
        long fetchBytesPerSecond) {}
