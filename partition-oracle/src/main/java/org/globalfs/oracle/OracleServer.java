package org.globalfs.oracle;

import java.io.IOException;
import java.util.Map;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcServer;

/**
 * The partition oracle of a region: says where things are. Keeps nothing; the tree in the replicas
 * is the truth.
 */
public final class OracleServer implements AutoCloseable {

    private final RpcServer server;
    private final TreeReader tree;

    private OracleServer(RpcServer server, TreeReader tree) {
        this.server = server;
        this.tree = tree;
    }

    /**
     * Serves and registers.
     *
     * @throws IOException names the address when it cannot be listened on
     */
    public static OracleServer start(OracleConfig config, Discovery discovery) throws IOException {
        NearestReplicas nearest =
                new NearestReplicas(
                        config.topology(), discovery, config.region(), config.datacenter());
        TreeReader tree = new TreeReader(nearest);
        Locator locator = new Locator(config.topology(), tree, nearest, config.policy());
        RpcServer server =
                RpcServer.start(
                        "oracle of " + config.region(),
                        config.bind(),
                        config.port(),
                        new RpcServer.Calls().on(OracleCalls.LOCATE, locator::locate));
        discovery.register(
                new Member(
                        Role.ORACLE,
                        config.region(),
                        config.region(),
                        config.home().partition(),
                        config.datacenter(),
                        new HostPort(config.bind(), server.port()),
                        Map.of("placement", "/: " + config.policy().of("/").word())));
        return new OracleServer(server, tree);
    }

    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
        tree.close();
    }
}
