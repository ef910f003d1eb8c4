package org.globalfs.client.fuse;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InodeLanesTest {
    private static final String NAME = "lanes-of-test";
    private final InodeLanes lanes = new InodeLanes(NAME);
    private final CountDownLatch letGo = new CountDownLatch(1);

    @BeforeEach
    void start() {
        lanes.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        letGo.countDown();
        lanes.end();
        // The last one has yet to leave when it says that it is.
        Awaitility.await().until(() -> threads() == 0);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(NAME))
                .count();
    }

    private void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private CountDownLatch reached(long ino) {
        CountDownLatch reached = new CountDownLatch(1);
        lanes.after(ino, reached::countDown);
        return reached;
    }

    @Test
    void whatOneInodeWaitsForOthersDoNot() {
        int held = 40;
        for (long ino = 1; ino <= held; ino++) {
            lanes.add(ino, () -> await(letGo));
        }
        List<Long> sent = new ArrayList<>();
        for (long i = 0; i < 1_000; i++) {
            long number = i;
            lanes.add(held + 1, () -> sent.add(number));
        }
        await(reached(held + 1));
        assertThat(sent).hasSize(1_000).isSorted();
        CountDownLatch first = reached(1);
        assertThat(first.getCount()).isOne();
        letGo.countDown();
        await(first);
        Awaitility.await().until(() -> threads() <= 2);
    }

    @Test
    void ofOneInodeEachWaitsForTheOneBefore() {
        List<Integer> sent = new ArrayList<>();
        CountDownLatch began = new CountDownLatch(1);
        lanes.add(
                7,
                () -> {
                    began.countDown();
                    await(letGo);
                    sent.add(1);
                });
        lanes.add(7, () -> sent.add(2));
        await(began);
        lanes.add(8, () -> {});
        await(reached(8));
        letGo.countDown();
        await(reached(7));
        assertThat(sent).containsExactly(1, 2);
    }

    @Test
    void manyInodesFromManyThreads() throws InterruptedException {
        int count = 20_000;
        CountDownLatch done = new CountDownLatch(2 * count);
        for (int t = 0; t < 2; t++) {
            Thread.ofPlatform()
                    .start(() -> {
                        for (int i = 0; i < count; i++) {
                            lanes.add(i % 300, done::countDown);
                        }
                    });
        }
        assertThat(done.await(60, SECONDS)).isTrue();
    }

    @Test
    void whatWaitsAtTheEndRuns() throws InterruptedException {
        lanes.add(1, () -> await(letGo));
        CountDownLatch reached = reached(1);
        letGo.countDown();
        lanes.end();
        assertThat(reached.getCount()).isZero();
        lanes.add(1, () -> await(new CountDownLatch(1)));
        assertThat(reached(1).getCount()).isZero();
    }
}
