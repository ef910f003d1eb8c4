package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HybridClockTest {
    private final AtomicLong wall = new AtomicLong(1_000);
    private final HybridClock clock = new HybridClock(wall::get);

    @Test
    void growsWhileTheWallStandsStillAndWhenItGoesBack() {
        long first = clock.now();
        assertThat(HybridClock.wallMs(first)).isEqualTo(1_000);
        long second = clock.now();
        wall.set(10);
        long third = clock.now();
        assertThat(second).isEqualTo(first + 1);
        assertThat(third).isEqualTo(first + 2);
        wall.set(2_000);
        assertThat(clock.now()).isEqualTo(HybridClock.of(2_000, 0));
    }

    @Test
    void exceedsWhatItHasSeen() {
        long remote = HybridClock.of(5_000, 7);
        assertThat(clock.update(remote)).isEqualTo(HybridClock.of(5_000, 8));
        assertThat(clock.now()).isEqualTo(HybridClock.of(5_000, 9));
        assertThat(clock.update(HybridClock.of(3, 0))).isGreaterThan(HybridClock.of(5_000, 9));
    }

    @Test
    void aFullCounterCarriesIntoTheMilliseconds() {
        clock.update(HybridClock.of(1_000, 0xffff));
        assertThat(clock.last()).isEqualTo(HybridClock.of(1_001, 0));
    }

    @Test
    void refusesAWallClockOutOfRange() {
        assertThatThrownBy(() -> HybridClock.of(-1, 0)).isInstanceOf(Invariant.Broken.class);
        assertThat(HybridClock.format(HybridClock.of(0, 3))).isEqualTo("1970-01-01T00:00:00Z+3");
    }
}
