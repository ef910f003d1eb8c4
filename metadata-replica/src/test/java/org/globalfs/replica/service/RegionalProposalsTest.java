package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How often an update is brought into its ring while nothing of it is heard. */
@Timeout(60)
class RegionalProposalsTest {

    private static final int RING = 1;
    private static final long WAIT_NS = 1_500_000_000L;

    /** For calls that end by themselves, on a slow machine too. */
    private static final long LONG_NS = 20_000_000_000L;

    @TempDir private Path folder;
    private final AtomicInteger proposed = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicLong term = new AtomicLong(7);
    private final Waiters waiters = new Waiters();
    private final Waiters.Waiter waiter = waiters.enter(5, 1);
    private volatile boolean taking = true;
    private CutRegions all;
    private RegionalProposals proposals;

    @BeforeEach
    void start() throws IOException {
        all = new CutRegions(folder);
        Multicast multicast =
                new SteppedMulticast(all, 1) {
                    @Override
                    public long term(int ring) {
                        return term.get();
                    }

                    @Override
                    public boolean proposeHere(int ring, byte[] value) {
                        (taking ? proposed : refused).incrementAndGet();
                        return taking;
                    }
                };
        proposals = new RegionalProposals(multicast, new Shutdown());
    }

    @AfterEach
    void stop() {
        waiter.close();
        all.close();
    }

    private @Nullable UpdateReply order(long waitNs) {
        try {
            return proposals.order(RING, new byte[1], waiter, System.nanoTime() + waitNs);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitProposals(int count) {
        await().untilAtomic(proposed, greaterThanOrEqualTo(count));
    }

    @Test
    void aTermGetsOneProposalHoweverLongItTakes() {
        assertThat(order(WAIT_NS)).isNull();
        assertThat(proposed).hasValue(1);
    }

    @Test
    void theNextTermGetsAnother() {
        CompletableFuture<@Nullable UpdateReply> call =
                CompletableFuture.supplyAsync(() -> order(LONG_NS), Thread::startVirtualThread);
        awaitProposals(1);
        term.set(8);
        awaitProposals(2);
        UpdateReply reply = new UpdateReply(Status.DONE, 0);
        waiters.executed(5, 1, reply);
        assertThat(call.join()).isEqualTo(reply);
        assertThat(proposed).hasValue(2);
    }

    @Test
    void whatIsNotTakenIsTriedAgainUntilThereIsNoTerm() {
        taking = false;
        CompletableFuture<@Nullable UpdateReply> call =
                CompletableFuture.supplyAsync(() -> order(LONG_NS), Thread::startVirtualThread);
        await().untilAtomic(refused, greaterThanOrEqualTo(2));
        taking = true;
        awaitProposals(1);
        term.set(Multicast.NONE);
        assertThat(call.join()).isNull();
        assertThat(proposed).hasValue(1);
    }
}
