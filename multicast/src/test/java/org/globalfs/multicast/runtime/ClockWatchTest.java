package org.globalfs.multicast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.HybridClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ClockWatchTest {
    private static final long WALL_MS = 1_795_000_000_000L;

    private final Logger logger = (Logger) LoggerFactory.getLogger(ClockWatch.class);
    private final ListAppender<ILoggingEvent> told = new ListAppender<>();
    private final ClockWatch watch = new ClockWatch(7);

    @BeforeEach
    void listen() {
        told.start();
        logger.addAppender(told);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(told);
    }

    private void look(long aheadMs, long atSecond) {
        watch.look(
                HybridClock.of(WALL_MS + aheadMs, 3), WALL_MS, TimeUnit.SECONDS.toNanos(atSecond));
    }

    @Test
    void aSmallDifferenceAndAClockThatIsAheadAreNoNews() {
        look(0, 0);
        look(10_000, 1);
        look(-1_000_000, 2);
        assertThat(told.list).isEmpty();
    }

    @Test
    void aLargeOneIsSaidNowAndThen() {
        for (int second = 0; second < 1200; second++) {
            look(185_000, second);
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .hasSize(2)
                .allMatch(line -> line.startsWith("replica 7: ") && line.contains(" 185 s ahead"));
    }
}
