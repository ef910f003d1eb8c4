package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.Extent;
import org.junit.jupiter.api.Test;

/** When a client looks whether what it committed is fragmented, and where. */
class FragmentsTest {

    private static final long MIB = Compaction.WINDOW_BYTES;

    private final Fragments fragments = new Fragments();

    private static List<Extent> extents(int count, long offset, long length) {
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            extents.add(new Extent(offset, length));
        }
        return extents;
    }

    @Test
    void enoughSmallExtentsMakeTheirMibsDueOnce() {
        int enough = Compaction.LOOK_AFTER_EXTENTS;
        assertThat(fragments.note(extents(enough - 2, 0, 100))).isEmpty();
        assertThat(fragments.note(extents(1, 5 * MIB - 50, 100))).isEmpty();
        assertThat(fragments.note(extents(1, 3 * MIB - 100, 100))).containsExactly(0L, 2L, 4L, 5L);
        assertThat(fragments.note(extents(enough - 1, 0, 100))).isEmpty();
        assertThat(fragments.note(extents(1, 0, 100)))
                .as("and the last once more, as the file may go on behind it now")
                .containsExactly(0L, 5L);
    }

    @Test
    void longExtentsFragmentNothing() {
        assertThat(fragments.note(extents(1_000, 0, Compaction.SMALL_BYTES))).isEmpty();
    }

    @Test
    void aFileWrittenAllOverIsLookedAtInPart() {
        List<Extent> everywhere = new ArrayList<>();
        for (int i = 0; i < 10 * Compaction.WINDOWS_NOTED; i++) {
            everywhere.add(new Extent(i * MIB, 100));
        }
        assertThat(fragments.note(everywhere)).hasSize(Compaction.WINDOWS_NOTED);
    }
}
