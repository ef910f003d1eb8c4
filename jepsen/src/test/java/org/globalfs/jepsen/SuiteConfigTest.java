package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import clojure.lang.IFn;
import clojure.lang.PersistentVector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that the suite writes for its nodes are what GlobalFS reads. */
class SuiteConfigTest {
    private static final List<String> NODES = List.of("n1 n2 n3 n4 n5 n6 n7 n8 n9".split(" "));

    @TempDir private Path folder;

    private Path written(String kind, Object... arguments) throws Exception {
        IFn yaml = Clojures.function("globalfs.suite.cluster", kind);
        Object nodes = PersistentVector.create(NODES);
        Object text = arguments.length == 0 ? yaml.invoke(nodes) : yaml.invoke(nodes, arguments[0]);
        return Files.writeString(folder.resolve("config.yaml"), (String) text);
    }

    @Test
    void serversAreThreeRegions() throws Exception {
        for (int i = 0; i < NODES.size(); i++) {
            ServerConfig server = ServerConfig.read(written("server-yaml", NODES.get(i)));
            assertThat(server.advertise()).isEqualTo(NODES.get(i));
            assertThat(server.partition()).isEqualTo(i / 3 + 1);
            assertThat(server.roles().replica().orElseThrow().id()).isEqualTo(i + 1);
            assertThat(server.roles().oracle().isPresent()).isEqualTo(i % 3 == 0);
            assertThat(server.roles().storage()).hasSize(2);
        }
    }

    @Test
    void zooKeeperIsOnTheFirstNodeAndMountsAreInTheirRegions() throws Exception {
        ServerConfig zookeeper = ServerConfig.read(written("zookeeper-yaml"));
        assertThat(zookeeper.zookeeper()).isEqualTo("n1:2181");
        assertThat(zookeeper.roles().zookeeper().orElseThrow().port()).isEqualTo(2181);
        ClientConfig mount = ClientConfig.read(written("mount-yaml", "n5"));
        assertThat(mount.region()).isEqualTo("us-east");
        assertThat(mount.zookeeper()).isEqualTo("n1:2181");
    }
}
