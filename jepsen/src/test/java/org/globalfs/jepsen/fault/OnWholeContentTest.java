package org.globalfs.jepsen.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.junit.jupiter.api.Test;

/** When all content has to be readable. */
class OnWholeContentTest {
    private final TestedCluster cluster =
            new TestedCluster(
                    List.of(),
                    Path.of("none"),
                    new Surroundings(Optional.empty(), Optional.empty(), Optional.empty()));

    private OnWholeContent killed(Optional<String> lacking, String... servers) {
        return new OnWholeContent(
                new ProcessFault("kill-nodes", cluster, List.of(servers), true), limit -> lacking);
    }

    @Test
    void wholeContentStaysReadableWithOneServerOfEachRegionDead() throws IOException {
        OnWholeContent fault = killed(Optional.empty(), "us-west-a", "us-east-b", "eu-west-a");
        fault.aim();
        for (String client : TestedCluster.REGIONS) {
            assertThat(fault.readable(client, FaultKind.GLOBAL)).isTrue();
            for (String region : TestedCluster.REGIONS) {
                assertThat(fault.readable(client, region)).isTrue();
            }
        }
    }

    @Test
    void thatOfADeadRegionDoesNot() throws IOException {
        OnWholeContent fault = killed(Optional.empty(), "us-west-a", "us-west-b", "us-west-c");
        fault.aim();
        assertThat(fault.readable("us-east", "us-west")).isFalse();
        assertThat(fault.readable("us-east", "eu-west")).isTrue();
        assertThat(fault.readable("us-west", FaultKind.GLOBAL)).isTrue();
    }

    @Test
    void nothingIsClaimedWhereAChunkLacksBefore() throws IOException {
        OnWholeContent fault = killed(Optional.of("us-west-a-1 to rebuild: 1"), "us-east-b");
        assertThat(fault.readable("us-west", "us-west")).isFalse();
        fault.aim();
        assertThat(fault.readable("us-west", "us-west")).isFalse();
        assertThat(fault.spares("us-west", "us-west")).isTrue();
    }

    @Test
    void otherFaultsClaimNothing() {
        Fault fault = new ProcessFault("kill-majority", cluster, List.of("us-west-a"), true);
        assertThat(fault.readable("us-west", "us-west")).isFalse();
    }
}
