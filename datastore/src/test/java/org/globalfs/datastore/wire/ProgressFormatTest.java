package org.globalfs.datastore.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bytes of what a node says of its passes, as docs/formats/storage-protocol.md has them. */
class ProgressFormatTest {
    private static final ScrubProgress SCRUB =
            new ScrubProgress(1, PassState.RUNNING, 2, 3, 4, 5, 6, 7, 8, 9, List.of("why"));
    private static final RepairProgress REPAIR =
            new RepairProgress(
                    1,
                    PassState.ENDED,
                    2,
                    3,
                    4,
                    5,
                    6,
                    7,
                    8,
                    9,
                    10,
                    List.of(new RepairProgress.Away("s1", 11, 12)),
                    List.of());

    /** A later version's node may say more. */
    private static ByteBuffer more(ByteBuffer fields) {
        return fields.putLong(4711).flip();
    }

    @Test
    void scrub() throws IOException {
        ByteBuffer meta = ByteBuffer.allocate(Frame.MAX_META_BYTES);
        SCRUB.write(meta);
        assertThat(meta.position()).isEqualTo(73);
        assertThat(meta.getLong(0)).isEqualTo(1);
        assertThat(meta.get(8)).isEqualTo((byte) 2);
        for (int i = 2; i <= 9; i++) {
            assertThat(meta.getLong(9 + 8 * (i - 2))).isEqualTo(i);
        }
        ByteBuffer texts = SCRUB.texts();
        assertThat(texts).isEqualTo(ByteBuffer.wrap(new byte[] {0, 1, 3, 'w', 'h', 'y'}));
        assertThat(ScrubProgress.read(more(meta), texts)).isEqualTo(SCRUB);
    }

    @Test
    void statistics() {
        NodeStatistics all = new NodeStatistics(1, 2, 3, 4, 5, 6, 7, true, 8, 9, 10, 11);
        ByteBuffer meta = ByteBuffer.allocate(Frame.MAX_META_BYTES);
        all.write(meta);
        assertThat(meta.position()).isEqualTo(NodeStatistics.BYTES);
        assertThat(NodeStatistics.read(more(meta))).isEqualTo(all);
        assertThat(NodeStatistics.read(meta.position(0).limit(73)))
                .isEqualTo(new NodeStatistics(1, 2, 3, 4, 5, 6, 7, true, 8, 9, 0, 0));
        assertThat(NodeStatistics.read(meta.position(0).limit(57)))
                .isEqualTo(new NodeStatistics(1, 2, 3, 4, 5, 6, 7, true, 0, 0, 0, 0));
    }

    @Test
    void repair() throws IOException {
        ByteBuffer meta = ByteBuffer.allocate(Frame.MAX_META_BYTES);
        REPAIR.write(meta);
        assertThat(meta.position()).isEqualTo(81);
        assertThat(meta.getLong(0)).isEqualTo(1);
        assertThat(meta.get(8)).isEqualTo((byte) 3);
        for (int i = 2; i <= 10; i++) {
            assertThat(meta.getLong(9 + 8 * (i - 2))).isEqualTo(i);
        }
        ByteBuffer texts = REPAIR.texts();
        byte[] expected = {
            0, 1, 2, 's', '1', 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0
        };
        assertThat(texts).isEqualTo(ByteBuffer.wrap(expected));
        assertThat(RepairProgress.read(more(meta), texts)).isEqualTo(REPAIR);
    }

    @Test
    void longTextsAreCut() throws IOException {
        String text = "ä".repeat(1_000);
        ScrubProgress progress =
                new ScrubProgress(1, PassState.ENDED, 0, 0, 0, 0, 0, 0, 0, 0, List.of(text, "b"));
        ByteBuffer meta = ByteBuffer.allocate(Frame.MAX_META_BYTES);
        progress.write(meta);
        ScrubProgress read = ScrubProgress.read(meta.flip(), progress.texts());
        assertThat(text).startsWith(read.problems().getFirst());
        assertThat(read.problems().getLast()).isEqualTo("b");
    }

    @Test
    void aStateOfALaterVersionIsAnError() {
        ByteBuffer meta = ByteBuffer.allocate(100);
        meta.put(8, (byte) 77);
        assertThatThrownBy(() -> ScrubProgress.read(meta, SCRUB.texts()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("newer version");
    }
}
