package org.globalfs.protocol.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class EmbeddedZooKeeperTest {
    @TempDir Path folder;

    private void run() throws IOException {
        EmbeddedZooKeeper.start(folder, "127.0.0.1", 0, e -> fail("ended", e)).close();
    }

    private static CuratorFramework connect(EmbeddedZooKeeper server) {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(1_000));
        client.start();
        return client;
    }

    /** A power cut soon after the first start can leave them so. */
    @Test
    void whatItsLogTellsIsThereWithoutSnapshots() throws Exception {
        try (EmbeddedZooKeeper first =
                        EmbeddedZooKeeper.start(folder, "127.0.0.1", 0, e -> fail("ended", e));
                CuratorFramework client = connect(first)) {
            client.create().forPath("/there");
        }
        int emptied = 0;
        try (Stream<Path> all = Files.list(folder.resolve("version-2"))) {
            for (Path file : all.filter(f -> f.toString().contains("snapshot.")).toList()) {
                Files.write(file, new byte[0]);
                emptied++;
            }
        }
        assertThat(emptied).isPositive();
        try (EmbeddedZooKeeper again =
                        EmbeddedZooKeeper.start(folder, "127.0.0.1", 0, e -> fail("ended", e));
                CuratorFramework client = connect(again)) {
            assertThat(client.checkExists().forPath("/there")).isNotNull();
        }
    }

    @Test
    void whatThisUserMayNotReadIsNamed() throws IOException {
        run();
        List<Path> kept;
        try (Stream<Path> all = Files.walk(folder)) {
            kept = all.filter(Files::isRegularFile).toList();
        }
        assertThat(kept).isNotEmpty();
        for (Path each : kept) {
            Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("---------"));
            assumeFalse(Files.isReadable(each), "root may read everything");
            assertThatThrownBy(this::run)
                    .isInstanceOf(AccessDeniedException.class)
                    .hasMessage(each.toString());
            Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rw-------"));
        }
        run();
    }
}
