package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class RepeatedTaskTest {
    private final AtomicReference<Throwable> ended = new AtomicReference<>();
    private final AtomicInteger runs = new AtomicInteger();
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform()
                            .daemon()
                            .uncaughtExceptionHandler((_, cause) -> ended.set(cause))
                            .factory());

    private void repeat(Runnable first) {
        RepeatedTask task =
                new RepeatedTask(
                        LoggerFactory.getLogger(RepeatedTaskTest.class),
                        "the task failed",
                        () -> {
                            if (runs.getAndIncrement() == 0) {
                                first.run();
                            }
                        });
        ScheduledFuture<?> _ = timer.scheduleWithFixedDelay(task, 0, 1, TimeUnit.MILLISECONDS);
    }

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void whatFailedIsDoneAgain() {
        repeat(() -> {
            throw new IllegalStateException("once");
        });
        await().until(() -> runs.get() > 1);
    }

    @Test
    void whereNoThreadCouldBeBegunItIsTriedAgain() {
        repeat(() -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        await().until(() -> runs.get() > 1);
        assertThat(ended).hasNullValue();
    }

    @Test
    void anErrorIsToldToWhoEndsTheProcess() {
        repeat(() -> {
            throw new StackOverflowError("once");
        });
        await().until(() -> ended.get() instanceof StackOverflowError);
    }
}
