package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.junit.jupiter.api.Test;

/** Rows of the table {@code forward}, as docs/formats/metadata-state.md says, byte for byte. */
class HomesTest {

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    @Test
    void aRowSaysWhereAnInodeLives() {
        assertThat(Homes.encode(300)).isEqualTo(bytes("01ac02"));
        assertThat(Homes.decode(bytes("01ac02"))).isEqualTo(300);
        assertThat(Homes.isDirectory(bytes("01ac02"))).isFalse();
    }

    @Test
    void thatOfADirectoryThatWasBornGlobalSaysSo() {
        assertThat(Homes.encodeDirectory(3)).isEqualTo(bytes("0203"));
        assertThat(Homes.decode(bytes("0203"))).isEqualTo(3);
        assertThat(Homes.isDirectory(bytes("0203"))).isTrue();
    }

    @Test
    void aNewerFormatIsRefused() {
        assertThatThrownBy(() -> Homes.decode(bytes("0303")))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("forwarding entry has format version 3");
    }
}
