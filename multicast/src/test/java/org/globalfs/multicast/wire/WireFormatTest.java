package org.globalfs.multicast.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.globalfs.multicast.core.Message;
import org.junit.jupiter.api.Test;

/** A message of each kind, as protocol version 2 sends it: one a line, in hexadecimal. */
class WireFormatTest {
    private static final String GOLDEN = "golden/multicast-wire-2.txt";

    @Test
    void messagesAreTheGoldenBytes() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (Message message : MessageCodecTest.messages()) {
            ByteBuffer to =
                    ByteBuffer.allocate(MessageCodec.sizeBound(message))
                            .order(ByteOrder.LITTLE_ENDIAN);
            MessageCodec.encode(message, to);
            lines.append(message.getClass().getSimpleName())
                    .append(' ')
                    .append(HexFormat.of().formatHex(to.array(), 0, to.position()))
                    .append('\n');
        }
        if (Boolean.getBoolean("globalfs.golden.write")) {
            Files.writeString(Path.of("src/test/resources").resolve(GOLDEN), lines);
            return;
        }
        try (InputStream in = WireFormatTest.class.getClassLoader().getResourceAsStream(GOLDEN)) {
            assertThat(in).as(GOLDEN + " should be\n" + lines).isNotNull();
            assertThat(lines.toString())
                    .isEqualTo(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
