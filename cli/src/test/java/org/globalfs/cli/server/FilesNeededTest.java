package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FilesNeededTest {
    private static final String CONFIG =
            """
            cluster: demo
            zookeeper: 127.0.0.1:1
            data: data
            region: us-west
            datacenter: a
            roles:
              replica:
                id: 1
              storage:
                - {id: s1, port: 3}
                - {id: s2, port: 4}
              cache:
                port: 5
            topology:
              - region: us-west
                partition: 1
                replicas:
                  - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
            """;

    @TempDir private Path folder;

    @Test
    void aLimitThatIsTooLowIsNamedWithTheMend() throws Exception {
        ServerConfig server =
                ServerConfig.read(Files.writeString(folder.resolve("s.yaml"), CONFIG));
        FilesNeeded.check(List.of(server), 256);
        List<ServerConfig> nine = Collections.nCopies(9, server);
        FilesNeeded.check(nine, 1024 + 12 * 8);
        assertThatThrownBy(() -> FilesNeeded.check(nine, 256))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 256 files")
                .hasMessageContaining("ulimit -n 65536")
                .hasMessageContaining("LimitNOFILE=65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
    }
}
