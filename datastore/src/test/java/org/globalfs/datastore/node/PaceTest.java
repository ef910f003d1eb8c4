package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Shutdown;
import org.junit.jupiter.api.Test;

class PaceTest {
    private final Shutdown shutdown = new Shutdown();

    @Test
    void those_who_share_it_share_the_rate() {
        Pace pace = new Pace(1_000_000, shutdown);
        long now = System.nanoTime();

        assertThat(pace.delayNs(now, 500_000)).isZero();
        assertThat(pace.delayNs(now, 500_000)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
        assertThat(pace.delayNs(now, 1)).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void what_was_not_used_is_not_saved() {
        Pace pace = new Pace(1_000_000, shutdown);
        long now = System.nanoTime() + TimeUnit.HOURS.toNanos(1);

        assertThat(pace.delayNs(now, 250_000)).isZero();
        assertThat(pace.delayNs(now, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(250));
    }

    @Test
    void the_time_that_the_work_took_counts() {
        Pace pace = new Pace(1_000_000, shutdown);
        long now = System.nanoTime();
        var _ = pace.delayNs(now, 250_000);

        long after = now + TimeUnit.MILLISECONDS.toNanos(150);

        assertThat(pace.delayNs(after, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
    }

    @Test
    void nobody_waits_once_it_ends() {
        Pace pace = new Pace(1, shutdown);
        var _ = pace.spend(Integer.MAX_VALUE); // the next would wait for 68 years
        shutdown.begin();

        assertThat(pace.spend(1)).isFalse();
    }
}
