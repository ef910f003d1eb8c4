package org.globalfs.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.globalfs.client.vfs.Explanation;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.Test;

class StatusFormatsTest {
    private static final ClusterStatus STATUS =
            new ClusterStatus(
                    "demo",
                    List.of(
                            new ClusterStatus.Region(
                                    "us-west",
                                    1,
                                    List.of(
                                            replica(1, "a", true, 12),
                                            replica(2, "b", true, 10),
                                            replica(3, "c", false, 0)),
                                    List.of(
                                            new ClusterStatus.Storage(
                                                    "s1",
                                                    "a",
                                                    new HostPort("h", 7),
                                                    true,
                                                    3 << 20,
                                                    1L << 40)),
                                    Optional.of(
                                            new ClusterStatus.Oracle(new HostPort("h", 9), false)),
                                    List.of(
                                            new ClusterStatus.Mount(
                                                    "m", "/mnt/a \"b\"", true, true),
                                            new ClusterStatus.Mount("n", "/mnt/c", true, false),
                                            new ClusterStatus.Mount(
                                                    "o", "/mnt/d", false, false)))));

    private static ClusterStatus.Replica replica(
            int id, String datacenter, boolean alive, long applied) {
        return new ClusterStatus.Replica(
                id,
                datacenter,
                new HostPort("h", id),
                alive,
                alive
                        ? List.of(
                                new ClusterStatus.Ring(
                                        1,
                                        0,
                                        true,
                                        1,
                                        12,
                                        applied,
                                        4,
                                        8,
                                        false,
                                        Optional.of(new ClusterStatus.Hash("00ff11aa22", applied))))
                        : List.of(),
                alive
                        ? Optional.of(new ClusterStatus.Room(5 << 20, 6 << 20, id == 2))
                        : Optional.empty());
    }

    @Test
    void theTableShowsRingsAndWhoIsDown() {
        assertThat(StatusTable.write(STATUS))
                .containsPattern("1 us-west +us-west-a +12 +10..12 +2 of 3")
                .containsPattern("0 global +none +- +- +0 of 3")
                .containsPattern("us-west +c +replica 3 +h:3 +DOWN")
                .containsPattern("replica 1 .* hash 00ff11aa\n")
                .containsPattern(
                        "replica 2 .* hash 00ff11aa, DISK FULL: 5.0 MiB free, 6.0 MiB reserved\n")
                .containsPattern("storage s1 +h:7 +up +3.0 MiB of 1.0 TiB")
                .containsPattern("oracle +h:9 +DOWN")
                .containsPattern("/mnt/a \"b\" +up")
                .containsPattern("/mnt/c +SILENT")
                .containsPattern("/mnt/d +not mounted");
    }

    @Test
    void theJsonHasTheDocumentedKeys() {
        String json = StatusJson.write(STATUS).replaceAll("\\s+", "");
        assertThat(json)
                .startsWith(
                        "{\"cluster\":\"demo\",\"regions\":[{\"name\":\"us-west\",\"partition\":1,")
                .contains(
                        "{\"ring\":1,\"generation\":0,\"member\":true,\"coordinator\":1,\"decided\":12,"
                                + "\"applied\":10,\"imported\":4,"
                                + "\"checkpointed\":8,\"rejoining\":false,\"hash\":\"00ff11aa22\",\"hashPosition\":10}],"
                                + "\"freeBytes\":5242880,\"reservedBytes\":6291456,\"full\":true}")
                .contains(
                        "{\"id\":3,\"datacenter\":\"c\",\"address\":\"h:3\",\"alive\":false,\"rings\":[]}")
                .contains("\"usedBytes\":3145728,\"capacityBytes\":1099511627776")
                .contains("\"oracle\":{\"alive\":false,\"address\":\"h:9\"}")
                .contains("\"mountpoint\":\"/mnt/a\\\"b\\\"\"");
    }

    @Test
    void anExplanationShowsWhoUsesATree() {
        Explanation explanation =
                new Explanation(
                        "us-west",
                        "threshold",
                        List.of(
                                new Explanation.Use("us-west", 3.25, 0),
                                new Explanation.Use("us-east", 12_345.6, 800)),
                        "moves to us-east");
        assertThat(ExplanationTable.of(explanation))
                .isEqualTo(
                        """
                        lives in  us-west
                        rule      threshold

                        REGION   READS   WRITES
                        us-west  3.3     0.0
                        us-east  12,346  800

                        moves to us-east
                        """);
    }
}
