package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadTimesTest {
    private static final int SMALL = 4 << 10;
    private static final int LARGE = 1 << 20;

    private final ReadTimes times = new ReadTimes();

    private static long ms(long ms) {
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }

    private void record(int bytes, int slowOfAHundred) {
        for (int i = 0; i < 20_000; i++) {
            times.record(bytes, ms(i % 100 < slowOfAHundred ? 200 : 10));
        }
    }

    @Test
    void aReadIsHedgedAfterWhatNinetyFiveOfAHundredTake() {
        record(SMALL, 2);
        assertThat(times.hedgeAfterNs(SMALL)).isBetween(ms(8), ms(30));
        record(SMALL, 20);
        assertThat(times.hedgeAfterNs(SMALL)).isBetween(ms(120), ms(250));
    }

    @Test
    void largeRangesAreReckonedApart() {
        record(LARGE, 20);
        assertThat(times.hedgeAfterNs(SMALL)).isEqualTo(ms(20));
        assertThat(times.hedgeAfterNs(LARGE)).isGreaterThan(ms(120));
    }

    @Test
    void fartherOnesAreAskedLaterAndNeverTooLate() {
        record(LARGE, 20);
        assertThat(times.hedgeFarAfterNs(LARGE))
                .isGreaterThan(times.hedgeAfterNs(LARGE))
                .isLessThanOrEqualTo(ms(400));
    }
}
