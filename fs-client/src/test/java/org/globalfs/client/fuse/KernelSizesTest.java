package org.globalfs.client.fuse;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.globalfs.client.vfs.KernelCache;
import org.junit.jupiter.api.Test;

class KernelSizesTest {
    private static final long INO = 77;
    private KernelSizes sizes = new KernelSizes(TimeUnit.HOURS.toNanos(1));
    private final AtomicLong stored = new AtomicLong();

    private KernelCache.Doubt doubt() {
        return Objects.requireNonNull(sizes.doubt(INO, (ino, size) -> stored.set(size)));
    }

    @Test
    void theKernelIsBelievedUntilSomethingIsTakenBack() {
        assertThat(sizes.doubt(INO, (ino, size) -> {})).isNull();
        sizes.invalidated(INO);
        assertThat(doubt().covers(1)).isFalse();
        sizes.sent(INO);
        assertThat(doubt().lengthen(10)).isTrue();
        assertThat(stored).hasValue(10);
    }

    @Test
    void whatIsStoredCountsUntilTheNextInvalidation() {
        sizes.invalidated(INO);
        assertThat(doubt().lengthen(10)).isTrue();
        assertThat(doubt().covers(10)).isTrue();
        assertThat(doubt().covers(11)).isFalse();
        sizes.shortened(INO);
        assertThat(doubt().covers(10)).isFalse();
        assertThat(doubt().lengthen(4)).isTrue();
        assertThat(doubt().covers(4)).isTrue();
        sizes.invalidated(INO);
        assertThat(doubt().covers(4)).isFalse();
    }

    @Test
    void aSizeAskedForBeforeAnInvalidationIsNotStoredAfterIt() {
        sizes.invalidated(INO);
        KernelCache.Doubt before = doubt();
        sizes.invalidated(INO);
        assertThat(before.lengthen(10)).isFalse();
        assertThat(before.covers(0)).isFalse();
        assertThat(stored).hasValue(0);
    }

    @Test
    void anInvalidationWaitsForTheStoreUnderWay() throws Exception {
        sizes.invalidated(INO);
        CountDownLatch storing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        KernelCache.Doubt slow = slow(storing, goOn);
        FutureTask<Boolean> store = started(() -> slow.lengthen(10));
        assertThat(storing.await(30, SECONDS)).isTrue();
        sizes.invalidated(INO);
        FutureTask<Long> seen =
                started(() -> {
                    sizes.awaitStored(INO);
                    return stored.get();
                });
        assertThat(seen.isDone()).isFalse();
        goOn.countDown();
        assertThat(store.get(30, SECONDS)).isTrue();
        assertThat(seen.get(30, SECONDS)).isEqualTo(10);
        assertThat(doubt().covers(10)).isFalse();
    }

    /** The kernel goes by what it hears last. */
    @Test
    void aSizeAskedForBeforeATruncationIsNotStoredAfterIt() {
        sizes.invalidated(INO);
        KernelCache.Doubt before = doubt();
        assertThat(doubt().lengthen(5)).isTrue();
        sizes.shortened(INO);
        assertThat(before.lengthen(10)).isFalse();
        assertThat(before.covers(1)).isFalse();
        assertThat(stored).hasValue(5);
        assertThat(doubt().lengthen(3)).isTrue();
    }

    @Test
    void aTruncationIsNotAnsweredBeforeTheStoreUnderWay() throws Exception {
        sizes.invalidated(INO);
        CountDownLatch storing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        KernelCache.Doubt slow = slow(storing, goOn);
        FutureTask<Boolean> store = started(() -> slow.lengthen(10));
        assertThat(storing.await(30, SECONDS)).isTrue();
        FutureTask<Long> seen =
                new FutureTask<>(() -> {
                    sizes.shortened(INO);
                    return stored.get();
                });
        Thread truncating = Thread.startVirtualThread(seen);
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> truncating.getState() == Thread.State.TIMED_WAITING);
        goOn.countDown();
        assertThat(seen.get(30, SECONDS)).isEqualTo(10);
        assertThat(store.get(30, SECONDS)).isTrue();
        assertThat(doubt().covers(10)).isFalse();
    }

    /** That waits for a page whose writing waits for the truncation. */
    @Test
    void aTruncationIsAnsweredThoughAStoreStaysUnderWay() throws Exception {
        sizes = new KernelSizes(TimeUnit.MILLISECONDS.toNanos(10));
        sizes.invalidated(INO);
        CountDownLatch storing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        KernelCache.Doubt slow = slow(storing, goOn);
        FutureTask<Boolean> store = started(() -> slow.lengthen(10));
        assertThat(storing.await(30, SECONDS)).isTrue();
        sizes.shortened(INO);
        assertThat(store.isDone()).isFalse();
        goOn.countDown();
        assertThat(store.get(30, SECONDS)).isTrue();
        assertThat(doubt().covers(10)).isFalse();
    }

    private KernelCache.Doubt slow(CountDownLatch storing, CountDownLatch goOn) {
        return Objects.requireNonNull(
                sizes.doubt(
                        INO,
                        (ino, size) -> {
                            storing.countDown();
                            try {
                                assertThat(goOn.await(30, SECONDS)).isTrue();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                            stored.set(size);
                        }));
    }

    /** Some of them share a slot with the one that is being stored. */
    @Test
    void aStoreUnderWayHoldsUpNoOtherInode() throws Exception {
        sizes.invalidated(INO);
        CountDownLatch storing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        KernelCache.Doubt slow = slow(storing, goOn);
        FutureTask<Boolean> store = started(() -> slow.lengthen(10));
        assertThat(storing.await(30, SECONDS)).isTrue();
        FutureTask<Integer> others =
                started(() -> {
                    int lengthened = 0;
                    for (long other = INO + 1; other <= INO + 10_000; other++) {
                        sizes.invalidated(other);
                        sizes.awaitStored(other);
                        KernelCache.Doubt doubt = sizes.doubt(other, (ino, size) -> {});
                        boolean longer = Objects.requireNonNull(doubt).lengthen(10);
                        lengthened += longer ? 1 : 0;
                    }
                    return lengthened;
                });
        assertThat(others.get(20, SECONDS)).isEqualTo(10_000);
        goOn.countDown();
        assertThat(store.get(30, SECONDS)).isTrue();
    }

    private static <T> FutureTask<T> started(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofVirtual().start(task);
        return task;
    }
}
