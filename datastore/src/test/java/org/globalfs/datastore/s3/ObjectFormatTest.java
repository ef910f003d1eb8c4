package org.globalfs.datastore.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;

class ObjectFormatTest {
    private static Piece piece(int payloadBytes) {
        return new Piece(
                0x0123456789abcdefL, 0xfedcba9876543210L, 600, 0, 6, 3, 4, 7, payloadBytes);
    }

    private static byte[] fetch(byte[] object, int payloadBytes, int offset, int length) {
        ObjectFormat.Span span = ObjectFormat.span(payloadBytes, offset, length);
        return Arrays.copyOfRange(object, span.from(), span.to());
    }

    @Test
    void goldenObject() throws IOException {
        byte[] golden;
        try (InputStream in = getClass().getResourceAsStream("/s3-object-v1.hex")) {
            String hex = new String(in.readAllBytes(), US_ASCII);
            golden = HexFormat.of().parseHex(hex.replaceAll("#[^\n]*\n|\\s", ""));
        }
        byte[] payload = new byte[128];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) i;
        }
        assertThat(HexFormat.of().formatHex(ObjectFormat.encode(piece(128), payload, 0)))
                .isEqualTo(HexFormat.of().formatHex(golden));
        byte[] read = new byte[128];
        assertThat(ObjectFormat.decode(piece(128), fetch(golden, 128, 0, 128), 0, 128, read, 0))
                .isTrue();
        assertThat(read).isEqualTo(payload);
        assertThat(ObjectFormat.version(Arrays.copyOf(golden, ObjectFormat.HEADER_BYTES)))
                .isEqualTo(1);
        assertThat(piece(128).key("demo"))
                .isEqualTo("demo/0/fedc/0123456789abcdeffedcba9876543210-258-6-3-4-07");
        assertThat(Piece.block(0, piece(128).key("demo")))
                .isEqualTo(
                        new BlockRef(
                                0x0123456789abcdefL,
                                0xfedcba9876543210L,
                                600,
                                0,
                                (byte) 6,
                                (byte) 3,
                                4));
        assertThat(Piece.block(0, "demo/0/fedc/somebody-elses")).isNull();
        String id = "demo/0/fedc/0123456789abcdeffedcba9876543210-";
        for (String noBlocks :
                List.of("258-99-99-4-07", "258-6-0-4-07", "0-6-3-4-07", "258-6-3-0-07")) {
            assertThat(Piece.block(0, id + noBlocks)).as(noBlocks).isNull();
        }
    }

    @Test
    void anyRangeIsReadFromThePagesThatItTouches() {
        Random random = new Random(7);
        byte[] payload = new byte[3 * ObjectFormat.PAGE_BYTES + 1];
        random.nextBytes(payload);
        for (int size : new int[] {1, 65_535, 65_536, 65_537, payload.length}) {
            byte[] object = ObjectFormat.encode(piece(size), payload, 0);
            assertThat(object).hasSize(ObjectFormat.objectBytes(size));
            for (int i = 0; i < 200; i++) {
                int offset = random.nextInt(size);
                int length = 1 + random.nextInt(size - offset);
                byte[] into = new byte[length + 2];
                byte[] fetched = fetch(object, size, offset, length);
                assertThat(fetched.length).isLessThan(length + 2 * (ObjectFormat.PAGE_BYTES + 4));
                assertThat(ObjectFormat.decode(piece(size), fetched, offset, length, into, 1))
                        .isTrue();
                assertThat(Arrays.copyOfRange(into, 1, length + 1))
                        .isEqualTo(Arrays.copyOfRange(payload, offset, offset + length));
            }
        }
    }

    @Test
    void everyFlippedBitIsNoticed() {
        byte[] object = ObjectFormat.encode(piece(200), new byte[200], 0);
        for (int bit = 0; bit < object.length * 8; bit++) {
            byte[] damaged = object.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            if (bit / 8 < ObjectFormat.HEADER_BYTES) {
                byte[] header = Arrays.copyOf(damaged, ObjectFormat.HEADER_BYTES);
                assertThat(ObjectFormat.version(header)).isZero();
            } else {
                byte[] pages = fetch(damaged, 200, 0, 200);
                assertThat(ObjectFormat.decode(piece(200), pages, 0, 200, new byte[200], 0))
                        .isFalse();
            }
        }
        byte[] cut = Arrays.copyOf(fetch(object, 200, 0, 200), 100);
        assertThat(ObjectFormat.decode(piece(200), cut, 0, 200, new byte[200], 0)).isFalse();
    }
}
