package org.globalfs.client.use;

import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.RpcClient;
import org.jspecify.annotations.Nullable;

/** The way to the partition oracle of a region, wherever it is announced at the time. */
public final class RegionOracle implements AutoCloseable {

    private final Discovery discovery;
    private final String region;
    private @Nullable HostPort address;
    private @Nullable RpcClient client;
    private boolean closed;

    /** The discovery stays the caller's. */
    public RegionOracle(Discovery discovery, String region) {
        this.discovery = discovery;
        this.region = region;
    }

    public String region() {
        return region;
    }

    /** For the next call, not to be kept or closed; null: no oracle of the region is announced. */
    public synchronized @Nullable RpcClient client() {
        HostPort announced = closed ? null : announced();
        if (announced == null) {
            return null;
        }
        if (client == null || !announced.equals(address)) {
            drop();
            address = announced;
            client = new RpcClient(announced.host(), announced.port());
        }
        return client;
    }

    private @Nullable HostPort announced() {
        for (Member member : discovery.members(Role.ORACLE)) {
            if (member.region().equals(region)) {
                return member.address();
            }
        }
        return null;
    }

    private void drop() {
        if (client != null) {
            client.close();
            client = null;
        }
    }

    /** Ends calls that are under way. */
    @Override
    public synchronized void close() {
        closed = true;
        drop();
    }
}
