package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A server's second storage node gets a configuration of its own. */
class StorageProcessTest {
    private static final String HEAD =
            """
            name: %s
            bind: 10.77.2.14
            region: us-east
            data: ../data/%s
            """;
    private static final String FIRST =
            """
              storage:
                - id: us-east-a-1
                  port: 1
            """;
    private static final String SECOND =
            """
                - id: us-east-a-2
                  repairGrace: 5s
                  port: 2
            """;
    private static final String TOPOLOGY =
            """
            topology:
              - region: us-east
            """;

    @Test
    void theSecondNodeMovesWithItsFiles() throws IOException {
        String server = "us-east-a";
        String roles = "roles:\n  replica:\n    id: 4\n";
        String head = HEAD.formatted(server, server) + roles;
        StorageProcess split = StorageProcess.split(server, head + FIRST + SECOND + TOPOLOGY);
        assertThat(split.server()).isEqualTo(head + FIRST + TOPOLOGY);
        assertThat(split.storage())
                .isEqualTo(
                        HEAD.formatted("us-east-a-storage", "us-east-a/storage/us-east-a-storage")
                                + "roles:\n  storage:\n"
                                + SECOND
                                + "      data: ../data/us-east-a/storage/us-east-a-2\n"
                                + TOPOLOGY);
    }

    @Test
    void aServerOfOneNodeHasNoSecond() {
        String yaml = HEAD.formatted("s", "s") + "roles:\n" + FIRST + TOPOLOGY;
        assertThatThrownBy(() -> StorageProcess.split("s", yaml))
                .hasMessageContaining("no two storage nodes");
    }

    /** Faults of a server are of all that runs in its datacenter. */
    @Test
    void whatHappensToAServerHappensToItsStorageToo() {
        Set<String> alone = new HashSet<>(TestedCluster.storageProcesses());
        assertThat(alone)
                .containsExactlyInAnyOrder(
                        "us-east-a-storage", "us-east-b-storage", "us-east-c-storage");
        assertThat(TestedCluster.withStorage(List.of("us-east-a", "us-west-a")))
                .containsExactly("us-east-a", "us-east-a-storage", "us-west-a");
        assertThat(TestedCluster.withStorage(List.of("us-east-b-storage")))
                .containsExactly("us-east-b-storage");
    }
}
