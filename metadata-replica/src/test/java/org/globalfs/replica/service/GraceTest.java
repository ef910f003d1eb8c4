package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GraceTest {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long HOUR_NS = 3_600 * SECOND_NS;

    private final Grace grace = new Grace();

    @Test
    void aJumpAheadMakesNothingOld() {
        assertThat(grace.over(0, HOUR_NS)).isEqualTo(Long.MIN_VALUE);
        assertThat(grace.over(5 * SECOND_NS, 9 * HOUR_NS)).isEqualTo(Long.MIN_VALUE);
        assertThat(grace.over(59 * SECOND_NS, 9 * HOUR_NS)).isEqualTo(Long.MIN_VALUE);
        assertThat(grace.over(60 * SECOND_NS, 9 * HOUR_NS)).isEqualTo(HOUR_NS);
        assertThat(grace.over(64 * SECOND_NS, 9 * HOUR_NS)).isEqualTo(HOUR_NS);
        assertThat(grace.over(65 * SECOND_NS, 9 * HOUR_NS)).isEqualTo(9 * HOUR_NS);
    }

    @Test
    void timeThatStandsStillAgesAllTheSame() {
        assertThat(grace.over(0, HOUR_NS)).isEqualTo(Long.MIN_VALUE);
        assertThat(grace.over(200 * SECOND_NS, HOUR_NS)).isEqualTo(HOUR_NS);
    }
}
