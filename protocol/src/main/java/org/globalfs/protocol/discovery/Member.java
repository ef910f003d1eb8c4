package org.globalfs.protocol.discovery;

import java.util.Map;
import org.globalfs.protocol.HostPort;

/**
 * A process's role as others see it while it lives.
 *
 * @param id unique within the role
 * @param partition of the region
 * @param attributes what else the role tells, such as capacity
 */
public record Member(
        Role role,
        String id,
        String region,
        int partition,
        String datacenter,
        HostPort address,
        Map<String, String> attributes) {
    public Member {
        attributes = Map.copyOf(attributes);
    }
}
