package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AtATimeTest {
    @Test
    void whatIsOnItsWayFitsASmallHeap() {
        assertThat(AtATime.of(1L << 30)).isEqualTo(new AtATime(30, 6));
        for (long mib = 192; mib <= 768; mib += 64) {
            AtATime some = AtATime.of(mib << 20);
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
