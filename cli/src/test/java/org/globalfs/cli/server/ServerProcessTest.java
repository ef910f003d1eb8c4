package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.EmbeddedZooKeeper;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A whole server, without a replica, and a real ZooKeeper. */
@Timeout(120)
final class ServerProcessTest {
    @TempDir private Path folder;

    @Test
    void othersAreToldTheAddressThatTheyReachItBy() throws Exception {
        int oracle = FreePorts.one();
        int node = FreePorts.one();
        int cache = FreePorts.one();
        try (EmbeddedZooKeeper zookeeper =
                EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {})) {
            Path file =
                    Files.writeString(
                            folder.resolve("server.yaml"),
                            """
                            cluster: demo
                            zookeeper: %s
                            data: data
                            bind: 127.0.0.1
                            advertise: localhost
                            region: us-west
                            datacenter: a
                            roles:
                              oracle: {port: %d}
                              storage:
                                - {id: s1, port: %d, capacity: 1GiB, reserve: 0B}
                              cache: {port: %d, capacity: 1GiB, reserve: 0B}
                            topology:
                              - region: us-west
                                partition: 1
                                replicas:
                                  - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
                            """
                                    .formatted(zookeeper.connectString(), oracle, node, cache));
            try (ServerProcess _ = ServerProcess.start(List.of(ServerConfig.read(file)), e -> {});
                    ZooKeeperDiscovery discovery =
                            ZooKeeperDiscovery.connect(zookeeper.connectString(), "demo", 30_000)) {
                await().until(() -> discovery.members(Role.SERVER).size() == 1);
                assertThat(
                                Stream.of(Role.ORACLE, Role.STORAGE, Role.CACHE)
                                        .flatMap(role -> discovery.members(role).stream())
                                        .map(Member::address))
                        .containsExactly(
                                new HostPort("localhost", oracle),
                                new HostPort("localhost", node),
                                new HostPort("localhost", cache));
                assertThat(discovery.newest().nodes().getFirst().address())
                        .isEqualTo(new HostPort("localhost", node));
            }
        }
    }
}
