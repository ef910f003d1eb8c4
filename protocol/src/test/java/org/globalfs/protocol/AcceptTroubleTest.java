package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class AcceptTroubleTest {

    @Test
    void itIsSaidOnceAMinute() {
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(AcceptTroubleTest.class);
        logger.addAppender(told);
        AcceptTrouble trouble = new AcceptTrouble(logger, "node");
        long began = Long.MAX_VALUE - 5;
        for (int s = 0; s < 120; s++) {
            trouble.failed(new IOException("no"), began + TimeUnit.SECONDS.toNanos(s));
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "node cannot accept connections: java.io.IOException: no",
                        "node cannot accept connections: java.io.IOException: no");
    }
}
