package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The stored form of votes, and how they are put together. */
final class FactsTest {

    private static final Facts.OfInode INODE = new Facts.OfInode(5, 0100000, true, false, true);
    private static final Facts PLAIN =
            new Facts(
                    Facts.LOCKED,
                    new Facts.Named(3, 0040000, true),
                    null,
                    List.of(INODE),
                    List.of());
    private static final Facts.Segment SEGMENT = new Facts.Segment(7, 1L << 48, false, true);

    private static String hex(Facts facts) {
        return HexFormat.of().formatHex(facts.encode());
    }

    @Test
    void areStoredAsTheyAlwaysWere() {
        String plain =
                "01ffffffffffffffff020000000000000003808001000100000000000000058080020" + "5";
        assertThat(hex(PLAIN)).isEqualTo(plain);
        assertThat(Facts.decode(HexFormat.of().parseHex(plain))).isEqualTo(PLAIN);
        Facts above = new Facts(0, null, null, List.of(), List.of(SEGMENT));
        String withSegments = "02" + "0".repeat(16) + "000000" + "01" + "0000000000000007";
        assertThat(hex(above)).isEqualTo(withSegments + "000100000000000002");
        assertThat(Facts.decode(above.encode())).isEqualTo(above);
    }

    @Test
    void joinWhatPartitionsKnow() {
        Facts above = new Facts(0, null, null, List.of(), List.of(SEGMENT));
        Facts both = PLAIN.with(above);
        assertThat(both.refusal()).isEqualTo(Facts.LOCKED);
        assertThat(both.segment(7)).isEqualTo(SEGMENT);
        assertThat(both.segment(8)).isNull();
        assertThat(both.of(5)).isEqualTo(INODE);
    }
}
