package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.Test;

class WritableRegionsTest {
    private static final HostPort ADDRESS = new HostPort("127.0.0.1", 1);

    private final Set<String> silent = new HashSet<>();
    private long nowNs = Long.MAX_VALUE - 5; // it may be anything
    private final WritableRegions writable = new WritableRegions(silent::contains, () -> nowNs);
    private final List<StorageSite> nodes = new ArrayList<>();

    {
        for (String region : List.of("east", "south", "west")) {
            for (int n = 1; n <= 2; n++) {
                nodes.add(new StorageSite(region + n, region, 1, "a", ADDRESS, 1));
            }
        }
    }

    @Test
    void aRegionCountsWhileOneOfItsNodesTakesChunks() {
        assertThat(writable.mostDataChunks(nodes, 3)).isEqualTo(6);
        silent.add("east1");
        writable.refused("south2");
        assertThat(writable.mostDataChunks(nodes, 3)).isEqualTo(6);
        writable.refused("east2");
        assertThat(writable.mostDataChunks(nodes, 3)).isEqualTo(3);
        silent.add("south1");
        assertThat(writable.mostDataChunks(nodes, 3)).isZero();
        writable.took("south2");
        assertThat(writable.mostDataChunks(nodes, 3)).isEqualTo(3);
    }

    @Test
    void aRefusalIsForgotten() {
        writable.refused("east1");
        writable.refused("east2");
        nowNs += TimeUnit.SECONDS.toNanos(9);
        assertThat(writable.mostDataChunks(nodes, 2)).isEqualTo(2);
        nowNs += TimeUnit.SECONDS.toNanos(1);
        assertThat(writable.mostDataChunks(nodes, 2)).isEqualTo(4);
    }
}
