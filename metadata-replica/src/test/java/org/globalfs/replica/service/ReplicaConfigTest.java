package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplicaConfigTest {

    @TempDir Path folder;

    @Test
    void replicasOfOneProcessShareItsHeap() throws Exception {
        Path file = folder.resolve("server.yaml");
        Files.writeString(
                file,
                """
                cluster: demo
                zookeeper: "127.0.0.1:2181"
                data: data
                bind: 127.0.0.1
                advertise: localhost
                region: us-west
                datacenter: a
                roles:
                  replica: {id: 1}
                topology:
                  - region: us-west
                    partition: 1
                    replicas:
                      - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
                """);
        ServerConfig server = ServerConfig.read(file);
        long heapBytes = Runtime.getRuntime().maxMemory();
        assertThat(ReplicaConfig.of(server, 1).options().heapBytes()).isEqualTo(heapBytes);
        assertThat(ReplicaConfig.of(server, 3).options().heapBytes()).isEqualTo(heapBytes / 3);
    }
}
