package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.client.meta.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class WriteBudgetTest {

    private static final Patience NONE = Patience.of(Duration.ofNanos(1));

    private final Set<Integer> pressed = ConcurrentHashMap.newKeySet();
    private final AtomicInteger allPressed = new AtomicInteger();
    private final WriteBudget budget =
            new WriteBudget(900, pressed::add, allPressed::incrementAndGet);

    private void takeAllThatThereIs(int partition) {
        while (budget.take(partition, 10, NONE)) {
            assertThat(budget.usedBytes()).isLessThanOrEqualTo(900);
        }
    }

    /** What goes to a silent region is given back late, or never. */
    @Test
    void aPartitionLeavesRoomForOthers() {
        takeAllThatThereIs(2);
        assertThat(budget.usedBytes()).isEqualTo(600);
        takeAllThatThereIs(3);
        assertThat(budget.usedBytes()).isEqualTo(800);
        assertThat(budget.take(1, 10, NONE)).isTrue();
        budget.release(1, 10);
        assertThat(budget.take(1, 100, NONE)).as("alone, all that is free").isTrue();
        assertThat(budget.take(1, 1, NONE)).isFalse();
    }

    /** Those of others would be committed in ever smaller parts, for nothing. */
    @Test
    void aPartitionThatTakesItsShareHasOnlyItsOwnFilesWritten() {
        takeAllThatThereIs(2);
        assertThat(pressed).containsExactly(2);
        takeAllThatThereIs(3);
        assertThat(pressed).containsExactlyInAnyOrder(2, 3);
        assertThat(allPressed).hasValue(0);
        assertThat(budget.take(1, 101, NONE)).isFalse();
        assertThat(allPressed).hasPositiveValue();
        assertThat(pressed).doesNotContain(1);
    }

    @Test
    void whoWaitsGoesOnWhenItsOwnPartitionGivesBack() throws InterruptedException {
        takeAllThatThereIs(2);
        AtomicInteger taken = new AtomicInteger();
        Patience patience = Patience.of(Duration.ofSeconds(15));
        Thread waiter =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> taken.set(budget.take(2, 200, patience) ? 1 : -1));
        budget.release(2, 200);
        waiter.join();
        assertThat(taken).hasValue(1);
        assertThat(budget.usedBytes()).isEqualTo(600);
    }

    /** Longer than all that there may ever be. */
    @Test
    void whatIsTooLargeGoesAlone() {
        assertThat(budget.take(1, 10, NONE)).isTrue();
        assertThat(budget.take(1, 2000, NONE)).isFalse();
        budget.release(1, 10);
        assertThat(budget.take(1, 2000, NONE)).isTrue();
        budget.release(1, 2000);
        assertThat(budget.usedBytes()).isZero();
    }
}
