package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The configuration of a server that the cluster did not begin with. */
class AddedServerTest {
    private static final String LIKE =
            """
            name: us-west-b
            bind: 10.1.2.3
            region: us-west
            datacenter: b
            data: ../data/us-west-b
            roles:
              replica:
                id: 2
              storage:
                - id: us-west-b-1
                  port: 17000
            topology:
              - region: us-west
                partition: 1
                replicas:
                  - id: 2
                    datacenter: b
              - region: us-east
                partition: 2
                replicas:
                  - id: 4
                    datacenter: a
            """;

    @Test
    void itIsAReplicaOfTheSameRegion() throws IOException {
        AddedServer added = AddedServer.like("us-west-b", "us-west", LIKE, 12);
        assertThat(added.name()).isEqualTo("us-west-12");
        assertThat(added.insteadOf()).isEqualTo(2);
        String ports = added.yaml().replaceAll("10\\.1\\.2\\.3:3[12]\\d{3}", "HOST:PORT");
        assertThat(ports)
                .isEqualTo(
                        """
                        name: us-west-12
                        bind: 10.1.2.3
                        region: us-west
                        datacenter: dc-12
                        data: ../data/us-west-12
                        roles:
                          replica:
                            id: 12
                        topology:
                          - region: us-west
                            partition: 1
                            replicas:
                              - id: 2
                                datacenter: b
                              - id: 12
                                datacenter: dc-12
                                ring: HOST:PORT
                                rpc: HOST:PORT
                                added: true
                          - region: us-east
                            partition: 2
                            replicas:
                              - id: 4
                                datacenter: a
                        """);
    }

    @Test
    void theLastRegionHasNoneBehindIt() throws IOException {
        String like = LIKE.replace("us-west", "north").replace("us-east", "us-west");
        AddedServer added =
                AddedServer.like("us-west-b", "us-west", like.replace("north-b", "us-west-b"), 10);
        assertThat(added.yaml()).endsWith("        added: true\n").contains("- id: 4\n");
    }
}
