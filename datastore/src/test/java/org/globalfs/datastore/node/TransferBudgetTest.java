package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for memory, and whose turn it is then. */
@Timeout(60)
class TransferBudgetTest {
    private final TransferBudget budget = new TransferBudget(100);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private Future<TransferBudget.Share> later(long bytes, boolean background) {
        int before = budget.waiting();
        Future<TransferBudget.Share> share = threads.submit(() -> budget.take(bytes, background));
        await().until(() -> share.isDone() || budget.waiting() > before);
        return share;
    }

    private static TransferBudget.Share get(Future<TransferBudget.Share> share) throws Exception {
        return share.get(30, TimeUnit.SECONDS);
    }

    @Test
    void whoCameFirstIsServedFirstAndTheBackgroundLast() throws Exception {
        TransferBudget.Share all = budget.take(100, false);
        Future<TransferBudget.Share> behind = later(10, true);
        Future<TransferBudget.Share> much = later(90, false);
        Future<TransferBudget.Share> little = later(20, false);
        assertThat(budget.waiting()).isEqualTo(3);
        all.close();
        TransferBudget.Share served = get(much);
        assertThat(budget.waiting()).as("the one behind would fit").isEqualTo(2);
        assertThat(budget.usedBytes()).isEqualTo(90);
        served.close();
        get(little).close();
        get(behind).close();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void theBackgroundLeavesHalfToOthers() throws Exception {
        TransferBudget.Share half = budget.take(1_000, true);
        assertThat(budget.usedBytes()).isEqualTo(50);
        Future<TransferBudget.Share> more = later(1, true);
        assertThat(budget.waiting()).isEqualTo(1);
        budget.take(50, false).close();
        half.close();
        get(more).close();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void whoIsInterruptedHoldsUpNobody() throws Exception {
        TransferBudget.Share some = budget.take(60, false);
        Future<TransferBudget.Share> interrupted = threads.submit(this::takeInterrupted);
        await().until(() -> budget.waiting() == 1);
        Future<TransferBudget.Share> next = later(30, false);
        assertThat(budget.waiting()).isEqualTo(2);
        waiter.interrupt();
        assertThatThrownBy(() -> get(interrupted))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedIOException.class);
        get(next).close();
        some.close();
        assertThat(budget.usedBytes()).isZero();
    }

    private volatile Thread waiter;

    private TransferBudget.Share takeInterrupted() throws IOException {
        waiter = Thread.currentThread();
        return budget.take(100, false);
    }

    @Test
    void partsOfServersAddUpToTheProcessAndComeBackToTheOthers() throws Exception {
        ServerBudgets process = new ServerBudgets(100);
        TransferBudget one = process.ofServer().requests();
        TransferBudget other = process.ofServer().requests();
        process.begin();
        TransferBudget.Share all = one.take(1_000, false);
        assertThat(one.usedBytes()).isEqualTo(100);
        process.begin();
        TransferBudget.Share half = other.take(1_000, false);
        assertThat(other.usedBytes()).isEqualTo(50);
        all.close();
        one.take(1_000, false).close();
        half.close();
        process.end();
        TransferBudget.Share again = other.take(1_000, false);
        assertThat(other.usedBytes()).isEqualTo(100);
        again.close();
    }
}
