package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RareWarningTest {
    private long nowNs = Long.MAX_VALUE - 1;

    private void pass(long ms) {
        nowNs += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Test
    void itIsDueAtOnceAndThenEveryTenSeconds() {
        RareWarning warning = new RareWarning();
        assertThat(warning.isDue(nowNs)).isTrue();
        assertThat(warning.isDue(nowNs)).isFalse();
        pass(9_999);
        assertThat(warning.isDue(nowNs)).isFalse();
        pass(1);
        assertThat(warning.isDue(nowNs)).isTrue();
        assertThat(warning.isDue(nowNs)).isFalse();
        pass(3_600_000);
        assertThat(warning.isDue(nowNs)).isTrue();
    }
}
