package org.globalfs.protocol.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PlacementPolicyTest {

    @Test
    void directoriesInTheRootGoToTheirCreatorsRegion() {
        PlacementPolicy policy = PlacementPolicy.standard();
        assertThat(policy.partitionOfNewDirectory("/", 0, 2)).isEqualTo(2);
        assertThat(policy.partitionOfNewDirectory("/shared", 0, 2)).isZero();
        assertThat(policy.partitionOfNewDirectory("/home", 3, 2)).isEqualTo(3);
        assertThat(PlacementPolicy.parse(Map.of("/", "inherit")).partitionOfNewDirectory("/", 0, 2))
                .isZero();
    }

    @Test
    void wrongRulesAreNamed() {
        assertThatThrownBy(() -> PlacementPolicy.parse(Map.of("/", "nearest")))
                .hasMessageContaining("'nearest'")
                .hasMessageContaining("creator, inherit");
        assertThatThrownBy(() -> PlacementPolicy.parse(Map.of("/home", "creator")))
                .hasMessageContaining("'/home'");
        assertThatThrownBy(() -> PlacementPolicy.parse(Map.of())).hasMessageContaining("no rule");
    }
}
