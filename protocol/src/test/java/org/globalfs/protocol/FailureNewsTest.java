package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FailureNewsTest {
    private static IOException failure(String reason) {
        return new IOException("disk failed", new IOException(reason));
    }

    @Test
    void aReasonIsToldOnceAndAgainMuchLater() {
        FailureNews news = new FailureNews();
        assertThat(news.of(failure("a"), 0)).isTrue();
        assertThat(news.of(failure("a"), 1)).isFalse();
        assertThat(news.of(failure("b"), 2)).isTrue();
        assertThat(news.of(failure("b"), TimeUnit.MINUTES.toNanos(9))).isFalse();
        assertThat(news.of(failure("b"), TimeUnit.MINUTES.toNanos(11))).isTrue();
    }
}
