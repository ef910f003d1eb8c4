package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class AcceptTroubleTest {

    private final ListAppender<ILoggingEvent> told = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(AcceptTroubleTest.class);
    private final AcceptTrouble trouble = new AcceptTrouble(logger, "node");

    @BeforeEach
    void listen() {
        told.start();
        logger.addAppender(told);
    }

    @AfterEach
    void listenNoMore() {
        logger.detachAppender(told);
    }

    @Test
    void itIsSaidOnceAMinute() {
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

    @Test
    void refusalsAreSaidEveryTenSeconds() {
        long began = Long.MAX_VALUE - 5;
        for (int s = 0; s < 20; s++) {
            trouble.refused(1024, began + TimeUnit.SECONDS.toNanos(s));
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "node: 1024 connections are in use, 1 more refused",
                        "node: 1024 connections are in use, 10 more refused");
    }
}
