package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AtATimeTest {
    @Test
    void whatIsOnItsWayFitsASmallHeap() {
        assertThat(AtATime.of(1L << 30)).isEqualTo(new AtATime(24, 6));
        for (long mib = 192; mib <= 768; mib += 64) {
            AtATime some = AtATime.of(mib << 20);
            int fetching = some.transfers() - some.uploads();
            assertThat(fetching).isPositive();
            assertThat(4L * fetching + 6L * some.uploads()).isLessThanOrEqualTo(mib / 6);
        }
    }
}
