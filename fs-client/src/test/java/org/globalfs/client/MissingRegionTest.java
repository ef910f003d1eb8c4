package org.globalfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.discovery.StoreKind;
import org.junit.jupiter.api.Test;

/** What a client is told that finds no replica where its file says that it is. */
class MissingRegionTest {
    private static final HostPort ADDRESS = new HostPort("127.0.0.1", 1);
    private static final Epoch NO_NODES = new Epoch(0, List.of());
    private static final RecordedStore ON_NODES = new RecordedStore(StoreKind.DHT, List.of());

    private final InMemoryDiscovery discovery = new InMemoryDiscovery();

    @Test
    void aClusterThatNobodyKnows() {
        assertThat(error("us-west", NO_NODES, ON_NODES))
                .hasMessageContaining("nothing of a cluster 'demo'")
                .hasMessageContaining("127.0.0.1:1")
                .hasCauseInstanceOf(ConfigException.class);
    }

    @Test
    void aRegionThatTheClusterDoesNotHave() {
        discovery.register(new Member(Role.REPLICA, "4", "us-east", 2, "a", ADDRESS, Map.of()));
        assertThat(error("us-wst", nodesIn("us-west"), ON_NODES))
                .hasMessageContaining("no region 'us-wst'")
                .hasMessageEndingWith("one of us-east, us-west")
                .hasCauseInstanceOf(ConfigException.class);
    }

    /** Its file is right, so it is worth trying again. */
    @Test
    void aRegionThatIsDown() {
        assertThat(error("us-west", nodesIn("us-west"), ON_NODES))
                .hasMessageContaining("'us-west' is known: start its servers")
                .hasNoCause();
        RecordedStore buckets =
                new RecordedStore(
                        StoreKind.S3, List.of(new RecordedStore.Bucket("eu-west", 3, "acme")));
        assertThat(error("eu-west", NO_NODES, buckets)).hasNoCause();
    }

    private IOException error(String region, Epoch epoch, RecordedStore store) {
        ClientConfig config =
                new ClientConfig(
                        "demo",
                        "127.0.0.1:1",
                        region,
                        "",
                        ClientConfig.DEFAULT_MOUNT,
                        BlockStorage.STORAGE_NODES);
        return MissingRegion.error(config, discovery, epoch, store);
    }

    private static Epoch nodesIn(String region) {
        return NO_NODES.with(new StorageSite("s1", region, 1, "a", ADDRESS, 1));
    }
}
