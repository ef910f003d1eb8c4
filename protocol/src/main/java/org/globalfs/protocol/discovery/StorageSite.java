package org.globalfs.protocol.discovery;

import org.globalfs.protocol.HostPort;

/**
 * A storage node in a placement epoch.
 *
 * @param weight share of the chunks that it takes, relative to the others
 */
public record StorageSite(
        String id,
        String region,
        int partition,
        String datacenter,
        HostPort address,
        double weight) {
    public StorageSite {
        if (!(weight > 0) || Double.isInfinite(weight)) {
            throw new IllegalArgumentException("storage node " + id + ": weight must be above 0");
        }
    }
}
