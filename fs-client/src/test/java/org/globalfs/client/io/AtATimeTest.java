package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AtATimeTest {
    private static final int MIB = 1 << 20;

    /** As in three buckets of which one takes no writes. */
    @Test
    void fewerAreStoredAtOnceWhereTheirChunksTakeMore() {
        assertThat(AtATime.of(2L << 30, 12 * MIB)).isEqualTo(new AtATime(30, 6));
        assertThat(AtATime.of(512L * MIB, 12 * MIB)).isEqualTo(new AtATime(16, 2));
        for (long mib = 192; mib <= 1024; mib += 64) {
            AtATime some = AtATime.of(mib * MIB, 12 * MIB);
            int uploads = some.uploads();
            int fetching = some.fetches() + AtATime.ofEachRegion(some.fetches());
            int uploading = uploads + AtATime.ofEachRegion(uploads);
            assertThat(uploads).isPositive();
            assertThat(4L * fetching + 12L * uploading)
                    .as("while a region is silent")
                    .isLessThanOrEqualTo(mib / 4);
            assertThat(4L * some.fetches() + 12L * uploads).isLessThanOrEqualTo(mib / 5);
        }
    }

    @Test
    void whatIsOnItsWayFitsASmallHeap() {
        assertThat(AtATime.of(1L << 30, 6 * MIB)).isEqualTo(new AtATime(30, 6));
        for (long mib = 192; mib <= 768; mib += 64) {
            AtATime some = AtATime.of(mib << 20, 6 * MIB);
            int fetching = some.fetches();
            assertThat(fetching).isPositive();
            int fetchingMore = AtATime.ofEachRegion(fetching);
            int uploadingMore = AtATime.ofEachRegion(some.uploads());
            assertThat(4L * (fetching + fetchingMore) + 6L * (some.uploads() + uploadingMore))
                    .as("while a region is silent")
                    .isLessThanOrEqualTo(mib / 5);
            assertThat(4L * fetching + 6L * some.uploads()).isLessThanOrEqualTo(mib / 6);
        }
    }
}
