package org.globalfs.replica.state.operations;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.junit.jupiter.api.Test;

/** The bytes of a cargo, as docs/formats/metadata-state.md has them. */
final class CargoTest {

    private static final String RECORDS =
            "01" // inodes
                    + "0001000000000005" // number
                    + "03" // bytes of the record
                    + "0a0b0c"
                    + "01" // extents
                    + "8020" // offset
                    + "0107"
                    + "00" // attributes
                    + "01" // entries
                    + "0166"
                    + "020809"
                    + "01" // of the rest
                    + "0001000000000006"
                    + "01" // stay
                    + "0001000000000007";

    private static final String PLAIN = "01" + RECORDS;
    private static final String WITH_LIMITS =
            "02"
                    + RECORDS
                    + "01" // limits
                    + "0001000000000005" // directory
                    + "8020" // bytes
                    + "00"; // inodes

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static Cargo cargo(List<Cargo.Limits> limits) {
        long ino = 0x0001_0000_0000_0005L;
        Cargo.Item item =
                new Cargo.Item(
                        ino,
                        bytes("0a0b0c"),
                        List.of(new Cargo.Extent(4096, bytes("07"))),
                        List.of(),
                        List.of(new Cargo.Named("f".getBytes(UTF_8), bytes("0809"))));
        return new Cargo(List.of(item), List.of(ino + 1), List.of(ino + 2), limits, List.of());
    }

    @Test
    void withoutQuotasItIsAsOlderReplicasReadIt() {
        assertThat(cargo(List.of()).encode()).isEqualTo(bytes(PLAIN));
        assertThat(Cargo.decode(bytes(PLAIN)).limits()).isEmpty();
    }

    @Test
    void limitsComeLast() {
        Cargo.Limits limits = new Cargo.Limits(0x0001_0000_0000_0005L, 4096, 0);
        assertThat(cargo(List.of(limits)).encode()).isEqualTo(bytes(WITH_LIMITS));
        Cargo read = Cargo.decode(bytes(WITH_LIMITS));
        assertThat(read.limits()).containsExactly(limits);
        assertThat(read.rest()).containsExactly(0x0001_0000_0000_0006L);
        assertThat(read.stayed()).containsExactly(0x0001_0000_0000_0007L);
        assertThat(read.encode()).isEqualTo(bytes(WITH_LIMITS));
    }

    @Test
    void partsComeLast() {
        Cargo.Part part =
                new Cargo.Part(
                        0x0001_0000_0000_0009L,
                        0x0001_0000_0000_000aL,
                        300,
                        true,
                        List.of(new Cargo.Named("g".getBytes(UTF_8), new byte[0])));
        Cargo plain = cargo(List.of());
        Cargo cargo =
                new Cargo(plain.items(), plain.rest(), plain.stayed(), List.of(), List.of(part));
        String expected =
                "03"
                        + RECORDS
                        + "00" // limits
                        + "01" // parts
                        + "0001000000000009" // directory
                        + "000100000000000a" // copying
                        + "ac02" // number
                        + "01" // the last
                        + "01" // entries
                        + "0167"
                        + "00"; // no such name any more
        assertThat(cargo.encode()).isEqualTo(bytes(expected));
        Cargo read = Cargo.decode(bytes(expected));
        assertThat(read.encode()).isEqualTo(bytes(expected));
        assertThat(read.brings(0x0001_0000_0000_0009L)).isTrue();
        assertThat(read.brings(0x0001_0000_0000_0005L)).isFalse();
    }

    @Test
    void aNewerOneIsRefused() {
        assertThatThrownBy(() -> Cargo.decode(bytes("04" + RECORDS)))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("cargo has format version 4");
    }
}
