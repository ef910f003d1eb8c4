package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MakersTest {
    private final Makers makers = new Makers();

    @AfterEach
    void end() {
        makers.close();
    }

    @Test
    void several_are_made_at_a_time() {
        CountDownLatch both = new CountDownLatch(2);
        AtomicInteger met = new AtomicInteger();
        Runnable meets =
                () -> {
                    both.countDown();
                    try {
                        if (both.await(1, TimeUnit.MINUTES)) {
                            met.incrementAndGet();
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                };

        makers.run(List.of(meets, meets));

        assertThat(met).hasValue(2);
    }

    @Test
    void all_is_done_on_return() {
        AtomicInteger done = new AtomicInteger();

        makers.run(Collections.nCopies(100, done::incrementAndGet));

        assertThat(done).hasValue(100);
    }

    @Test
    void what_there_is_no_thread_for_is_done_by_the_caller() {
        AtomicInteger done = new AtomicInteger();
        AtomicInteger threads = new AtomicInteger();
        try (Makers few =
                new Makers(task -> {
                    if (threads.incrementAndGet() > 1) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return new Thread(task);
                })) {
            few.run(Collections.nCopies(100, done::incrementAndGet));
        }

        assertThat(done).hasValue(100);
    }

    @Test
    void a_failure_reaches_the_caller_after_the_rest_is_done() {
        AtomicInteger done = new AtomicInteger();
        Runnable fails =
                () -> {
                    throw new AssertionError("broken");
                };

        assertThatThrownBy(() ->
                        makers.run(List.of(fails, done::incrementAndGet, done::incrementAndGet)))
                .isInstanceOf(AssertionError.class)
                .hasMessage("broken");

        assertThat(done).hasValue(2);
    }
}
