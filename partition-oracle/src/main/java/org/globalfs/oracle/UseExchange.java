package org.globalfs.oracle;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.UseReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the other regions' oracles what this one's mounts did. What one of them does not hear is
 * lost to it: it knows a little less of how much a tree is used here, until the next time.
 */
final class UseExchange implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(UseExchange.class);
    private static final long TIMEOUT_MS = 3_000;

    private final String region;
    private final Discovery discovery;
    private final UseMonitor monitor;
    private final ConcurrentMap<HostPort, RpcClient> clients = new ConcurrentHashMap<>();

    UseExchange(String region, Discovery discovery, UseMonitor monitor) {
        this.region = region;
        this.discovery = discovery;
        this.monitor = monitor;
    }

    void tell() {
        List<DirectoryUse> uses = monitor.takeUntold();
        if (uses.isEmpty()) {
            return;
        }
        UseReport report = new UseReport(region, uses);
        for (Member oracle : discovery.members(Role.ORACLE)) {
            if (!oracle.region().equals(region)) {
                Thread.startVirtualThread(() -> tell(oracle, report));
            }
        }
    }

    private void tell(Member oracle, UseReport report) {
        try {
            clients.computeIfAbsent(oracle.address(), a -> new RpcClient(a.host(), a.port()))
                    .call(OracleCalls.REPORT_USE, report, TIMEOUT_MS);
        } catch (RpcException e) {
            LOG.debug("the oracle of {}: {}", oracle.region(), e.getMessage());
        }
    }

    @Override
    public void close() {
        clients.values().forEach(RpcClient::close);
    }
}
