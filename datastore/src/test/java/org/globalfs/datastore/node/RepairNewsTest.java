package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RepairNewsTest {
    @Test
    void whatIsLeftIsToldWhenItChangesAndNowAndThen() {
        RepairNews news = new RepairNews();
        long began = Long.MAX_VALUE - 5;
        assertThat(news.of(3, 2, 0, began)).isTrue();
        for (int s = 10; s < 600; s += 10) {
            assertThat(news.of(3, 2, 0, began + TimeUnit.SECONDS.toNanos(s))).isFalse();
        }
        assertThat(news.of(3, 2, 0, began + TimeUnit.SECONDS.toNanos(600))).isTrue();
        assertThat(news.of(3, 1, 0, began + TimeUnit.SECONDS.toNanos(610))).isTrue();
        assertThat(news.of(3, 1, 1, began + TimeUnit.SECONDS.toNanos(620))).isTrue();
        assertThat(news.of(0, 0, 0, began + TimeUnit.SECONDS.toNanos(630))).isTrue();
        assertThat(news.of(3, 1, 1, began + TimeUnit.SECONDS.toNanos(640))).isTrue();
    }
}
