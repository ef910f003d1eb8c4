package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NamesakesTest {
    @TempDir private Path folder;
    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private List<ServerConfig> configs = List.of();

    @BeforeEach
    void read() throws Exception {
        Path file = Files.writeString(folder.resolve("server.yaml"), OneServer.YAML);
        configs = List.of(ServerConfig.read(file));
    }

    private void announce(Role role, String id, String address) {
        discovery.register(
                new Member(role, id, "us-west", 1, "a", HostPort.parse(address), Map.of()));
    }

    private void refuse(Duration patience) throws Failure {
        Namesakes.refuse(configs, discovery, patience);
    }

    @Test
    void whoIsAnnouncedElsewhereUnderTheSameIdKeepsIt() {
        announce(Role.REPLICA, "1", "127.0.0.1:20");
        assertThatThrownBy(() -> refuse(Duration.ZERO))
                .isInstanceOfSatisfying(
                        Failure.class, e -> assertThat(e.code()).isEqualTo(ExitCode.CONFIG))
                .hasMessageContaining("replica 1 lives at 127.0.0.1:20 already")
                .hasMessageContaining("'roles.replica.id'");
        discovery.remove(Role.REPLICA, "1");
        announce(Role.STORAGE, "s1", "10.0.0.1:3");
        assertThatThrownBy(() -> refuse(Duration.ZERO))
                .hasMessageContaining("storage node s1 lives at 10.0.0.1:3 already")
                .hasMessageContaining("'roles.storage.id'");
    }

    @Test
    void ofTwoCachesOfOneNameTheSecondIsRefused() throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("server.yaml"),
                        OneServer.YAML.replace(
                                "  storage:", "  cache: {port: 4, capacity: 1GiB}\n  storage:"));
        configs = List.of(ServerConfig.read(file));
        announce(Role.CACHE, "us-west-a", "127.0.0.1:4");
        refuse(Duration.ZERO);
        discovery.remove(Role.CACHE, "us-west-a");
        announce(Role.CACHE, "us-west-a", "127.0.0.1:40");
        assertThatThrownBy(() -> refuse(Duration.ZERO))
                .hasMessageContaining("the cache of us-west-a lives at 127.0.0.1:40 already")
                .hasMessageContaining("'name'");
    }

    @Test
    void othersAndOnesOwnPredecessorsAreNoReasonToRefuse() throws Failure {
        announce(Role.REPLICA, "1", "127.0.0.1:2");
        announce(Role.STORAGE, "s1", "127.0.0.1:3");
        announce(Role.REPLICA, "2", "127.0.0.1:20");
        announce(Role.STORAGE, "s2", "127.0.0.1:30");
        announce(Role.ORACLE, "1", "127.0.0.1:40");
        refuse(Duration.ZERO);
    }

    @Test
    void whoWasSomewhereElseIsWaitedForUntilItIsForgotten() throws Exception {
        announce(Role.REPLICA, "1", "127.0.0.1:20");
        CompletableFuture<Void> end =
                CompletableFuture.runAsync(
                        () -> discovery.remove(Role.REPLICA, "1"), Thread::startVirtualThread);
        refuse(Duration.ofMinutes(1));
        end.join();
    }
}
