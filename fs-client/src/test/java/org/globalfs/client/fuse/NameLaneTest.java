package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NameLaneTest {
    private static final int MOST = 10;

    private final List<String> told = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch locked = new CountDownLatch(1);
    private volatile boolean canForget = true;
    private final NameLane lane =
            new NameLane(
                    "names",
                    MOST,
                    new NameLane.Names() {
                        @Override
                        public boolean canForget() {
                            return canForget;
                        }

                        @Override
                        public void forget() {
                            told.add("all");
                        }
                    });

    @AfterEach
    void end() throws InterruptedException {
        locked.countDown();
        lane.end();
    }

    private void tellWhileADirectoryIsLocked(int names) {
        lane.start();
        lane.add(this::awaitUnlocked, true);
        while (told.isEmpty()) {
            LockSupport.parkNanos(1_000_000);
        }
        for (int i = 0; i < names; i++) {
            String name = "name " + i;
            lane.add(() -> told.add(name), true);
        }
    }

    private void awaitUnlocked() {
        told.add("locked");
        boolean interrupted = false;
        while (locked.getCount() > 0 && !interrupted) {
            LockSupport.parkNanos(1_000_000);
            interrupted = Thread.currentThread().isInterrupted();
        }
    }

    @Test
    void whereTooManyWaitAllAreForgotten() throws Exception {
        CountDownLatch before = lane.barrier();
        tellWhileADirectoryIsLocked(2);
        lane.add(() -> told.add("moved"), false);
        CountDownLatch between = lane.barrier();
        for (int i = 0; i < MOST; i++) {
            String name = "further name " + i;
            lane.add(() -> told.add(name), true);
        }
        CountDownLatch after = lane.barrier();
        assertThat(before.getCount()).isZero();
        assertThat(between.getCount()).isOne();

        locked.countDown();
        assertThat(after.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(between.getCount()).isZero();
        assertThat(told)
                .containsExactly("locked", "all", "moved", "further name 8", "further name 9");
    }

    @Test
    void whereNotAllCanBeForgottenEachIsTold() throws Exception {
        canForget = false;
        tellWhileADirectoryIsLocked(3 * MOST);
        locked.countDown();
        assertThat(lane.barrier().await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(told).hasSize(1 + 3 * MOST).doesNotContain("all");
    }

    @Test
    void nobodyWaitsForOneThatHasEnded() throws Exception {
        tellWhileADirectoryIsLocked(1);
        CountDownLatch under = lane.barrier();
        locked.countDown();
        lane.end();
        assertThat(under.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(lane.barrier().getCount()).isZero();
    }
}
