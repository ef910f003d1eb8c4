package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NodeTimesTest {
    private static final int BYTES = 4096;
    private static final List<StorageSite> HOMES = homes("west", "west", "west", "west", "east");

    private long nowNs;
    private final NodeTimes times = new NodeTimes(() -> nowNs);

    private static List<StorageSite> homes(String... regions) {
        List<StorageSite> homes = new ArrayList<>();
        for (String region : regions) {
            HostPort address = new HostPort("127.0.0.1", 1);
            homes.add(new StorageSite("n" + homes.size(), region, 1, "a", address, 1));
        }
        return homes;
    }

    private static long ms(long value) {
        return TimeUnit.MILLISECONDS.toNanos(value);
    }

    @BeforeEach
    void allAnswer() {
        for (int i = 0; i < 50; i++) {
            for (StorageSite home : HOMES) {
                times.answered(home.id(), BYTES, home.region().equals("west") ? ms(4) : ms(90));
            }
        }
    }

    private long[] lags() {
        return times.lagNs(HOMES, BYTES);
    }

    private void answers(String node, int count, long tookNs) {
        for (int i = 0; i < count; i++) {
            times.answered(node, BYTES, tookNs);
        }
    }

    @Test
    void whoIsFarAwayDoesNotLag() {
        assertThat(lags()).containsOnly(0);
    }

    @Test
    void whoIsSlowAgainAndAgainLagsBehindTheOthersOfItsRegion() {
        answers("n1", 40, ms(100));
        long[] lags = lags();
        assertThat(lags[1]).isBetween(ms(60), ms(100));
        assertThat(lags[0] + lags[2] + lags[3] + lags[4]).isZero();
        assertThat(times.lagNs(HOMES, 1 << 20)).containsOnly(0); // of small answers only
    }

    @Test
    void aPauseNowAndThenMakesNoLaggard() {
        for (int i = 0; i < 50; i++) {
            answers("n1", 3, ms(400));
            answers("n1", 6, ms(4));
            assertThat(lags()).containsOnly(0);
        }
    }

    @Test
    void whoIsAlwaysOvertakenLags() {
        for (int i = 0; i < 40; i++) {
            times.overtaken("n2", BYTES, ms(8));
        }
        assertThat(lags()[2]).isPositive();
    }

    @Test
    void aLaggardIsAskedAgainEachSecondUntilItIsAsQuickAsOthers() {
        answers("n1", 40, ms(100));
        int askedAgain = 0;
        while (lags()[1] > 0) {
            nowNs += TimeUnit.SECONDS.toNanos(1);
            assertThat(lags()[1]).isZero(); // for one read
            assertThat(times.lagNs(HOMES, BYTES)[1]).isPositive();
            answers("n1", 1, ms(4));
            askedAgain++;
        }
        assertThat(askedAgain).isBetween(5, 60);
    }

    @Test
    void withTooFewToCompareItWithNobodyLags() {
        answers("n1", 40, ms(100));
        assertThat(times.lagNs(HOMES.subList(1, 3), BYTES)).containsOnly(0);
    }
}
