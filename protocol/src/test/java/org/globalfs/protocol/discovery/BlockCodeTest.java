package org.globalfs.protocol.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BlockCodeTest {
    @Test
    void readsWhatItWrites() {
        assertThat(BlockCode.parse("9+3")).isEqualTo(new BlockCode(9, 3)).hasToString("9+3");
    }

    @Test
    void refusesWhatIsNoCode() {
        for (String text : List.of("", "4", "4+", "4-2", "4+2+1", "a+b", " 4+2")) {
            assertThatThrownBy(() -> BlockCode.parse(text)).hasMessageContaining("as in 4+2");
        }
        for (String text : List.of("0+2", "4+0", "33+2", "4+9")) {
            assertThatThrownBy(() -> BlockCode.parse(text))
                    .hasMessageContaining("1 to 32 data and 1 to 8 parity chunks");
        }
    }

    @Test
    void anEpochRecordKeepsItsCodes() throws IOException {
        Epoch epoch = new Epoch(3, List.of(), Set.of("gone"), BlockCode.parse("6+3"), Epoch.GLOBAL);
        assertThat(Records.epoch(3, Records.encode(epoch))).isEqualTo(epoch);
    }

    @Test
    void anEpochRecordWithoutCodesHasTheFirstOnes() throws IOException {
        Epoch epoch = Records.epoch(1, "format: 1\nnodes: []\n");
        assertThat(epoch.regional()).isEqualTo(new BlockCode(4, 2));
        assertThat(epoch.global()).isEqualTo(new BlockCode(9, 3));
    }
}
