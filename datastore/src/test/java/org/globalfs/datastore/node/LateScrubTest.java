package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LateScrubTest {
    private static final long WEEK_MS = TimeUnit.DAYS.toMillis(7);
    private static final long BYTES_PER_SECOND = 32L << 20;
    private static final long ENOUGH = BYTES_PER_SECOND * 7 * 86_400;

    private final LateScrub late = new LateScrub(new ScrubOptions(WEEK_MS, BYTES_PER_SECOND));

    @Test
    void whoHoldsMoreThanItReadsInAPeriodIsToldTheMendOnceAPeriod() {
        long nowNs = 5;
        assertThat(late.of(ENOUGH, nowNs)).isEmpty();
        assertThat(late.of(ENOUGH * 2, nowNs))
                .contains(
                        "takes 336.0 h to read all its chunks, and not its scrubPeriod of 168.0 h:"
                                + " set scrubBandwidth to 64MiB at least, or a longer"
                                + " scrubPeriod");
        nowNs += TimeUnit.MILLISECONDS.toNanos(WEEK_MS) - 1;
        assertThat(late.of(ENOUGH * 2, nowNs)).isEmpty();
        assertThat(late.of(ENOUGH * 3, nowNs + 1)).isPresent();
    }

    @Test
    void whoMayReadNothingIsToldSo() {
        LateScrub none = new LateScrub(new ScrubOptions(WEEK_MS, 0));
        assertThat(none.of(0, 0)).isEmpty();
        assertThat(none.of(1, 0).orElseThrow())
                .startsWith("reads none of its chunks")
                .contains("1MiB");
    }

    @Test
    void whoNeedNotReadIsNeverLate() {
        assertThat(new LateScrub(ScrubOptions.NEVER).of(Long.MAX_VALUE, 0)).isEmpty();
    }
}
