package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.Shutdown;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class UpkeepTest {
    private static final long AN_HOUR_MS = 3_600_000;

    private final Shutdown shutdown = new Shutdown();
    private final List<Throwable> fatal = new CopyOnWriteArrayList<>();
    private final Upkeep upkeep = new Upkeep("upkeep", shutdown, fatal::add);

    @AfterEach
    void end() {
        shutdown.begin();
        upkeep.close();
    }

    @Test
    void eachWorkIsDoneAgainAndAgainAtItsPeriod() {
        AtomicInteger often = new AtomicInteger();
        AtomicInteger seldom = new AtomicInteger();
        AtomicInteger notYet = new AtomicInteger();
        upkeep.every(20, often::incrementAndGet)
                .every(200, seldom::incrementAndGet)
                .every(AN_HOUR_MS, notYet::incrementAndGet)
                .start();
        await().until(() -> seldom.get() >= 2 && often.get() > 2 * seldom.get());
        assertThat(notYet.get()).isZero();
        assertThat(fatal).isEmpty();
    }

    @Test
    void aShutdownNeedNotWaitForWorkThatIsDueLater() {
        upkeep.every(AN_HOUR_MS, () -> {}).start();
        shutdown.begin();
        upkeep.close();
    }

    @Test
    void aShutdownWaitsForTheWorkUnderWayAndBeginsNoOther() {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger ended = new AtomicInteger();
        upkeep.every(
                        1,
                        () -> {
                            begun.countDown();
                            await().until(shutdown::begun);
                            ended.incrementAndGet();
                        })
                .every(1, ended::incrementAndGet)
                .start();
        await().until(() -> begun.getCount() == 0);
        int before = ended.get();
        shutdown.begin();
        upkeep.close();
        assertThat(ended.get()).isEqualTo(before + 1);
    }

    @Test
    void workThatFailsIsReportedAndNothingIsDoneAfterIt() {
        AtomicInteger after = new AtomicInteger();
        upkeep.every(
                        1,
                        () -> {
                            throw new IOException("no room");
                        })
                .every(1, after::incrementAndGet)
                .start();
        await().until(() -> !fatal.isEmpty());
        upkeep.close();
        assertThat(fatal).singleElement().satisfies(e -> assertThat(e).hasMessage("no room"));
        assertThat(after.get()).isZero();
    }
}
