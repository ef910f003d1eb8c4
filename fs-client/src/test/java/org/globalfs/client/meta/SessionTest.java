package org.globalfs.client.meta;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class SessionTest {

    private static final long LONG_NS = 10_000_000_000L;

    private final Session session = new Session(1);

    @Test
    void answeredBelowFollowsTheLowestUnanswered() {
        long first = session.nextSequence();
        long second = session.nextSequence();
        assertThat(session.answeredBelow()).isEqualTo(first);
        session.answered(second);
        assertThat(session.answeredBelow()).isEqualTo(first);
        session.answered(first);
        assertThat(session.answeredBelow()).isEqualTo(second + 1);
    }

    @Test
    void whatAThreadTakesIsSettledForOthersOnceItIsThrough() throws Exception {
        long other = session.nextSequence();
        long own;
        try (var _ = session.taking()) {
            try (var _ = session.taking()) {
                own = session.nextSequence();
                session.answered(own);
                assertThat(session.settledHere().unsettled()).containsExactly(other);
            }
            assertThat(session.settled()).isEqualTo(unsettled(own + 1, other, own));
            assertThat(session.settledHere().unsettled()).containsExactly(other);
            CompletableFuture<List<Long>> others =
                    CompletableFuture.supplyAsync(
                            () -> session.settledHere().unsettled(), elsewhere());
            assertThat(others.get(10, TimeUnit.SECONDS)).containsExactly(other, own);
        }
        assertThat(session.settled()).isEqualTo(unsettled(own + 1, other));
        session.answered(other);
        assertThat(session.settled()).isEqualTo(unsettled(own + 1));
    }

    private static Executor elsewhere() {
        return task -> Thread.ofPlatform().daemon().start(task);
    }

    private static Session.Settled unsettled(long below, Long... sequences) {
        return new Session.Settled(below, List.of(sequences));
    }

    @Test
    void anAbandonedUpdateIsNotSettledThoughNobodyWaitsForIt() {
        long sequence = session.nextSequence();
        session.abandoned(sequence);
        assertThat(session.answeredBelow()).isEqualTo(sequence + 1);
        assertThat(session.settled().unsettled()).containsExactly(sequence);
        assertThat(session.settledHere().unsettled()).isEmpty();
    }

    @Test
    void whoWaitsForAnUpdateGoesOnOnceItIsSettled() throws Exception {
        long sequence = session.nextSequence();
        CompletableFuture<Boolean> waiting =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                session.awaitSettled(List.of(sequence), LONG_NS);
                                return session.settled().unsettled().isEmpty();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        elsewhere());
        session.awaitSettled(List.of(sequence), 1_000_000);
        assertThat(waiting.isDone()).isFalse();
        session.answered(sequence);
        assertThat(waiting.get(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatAThreadThatWaitsItselfWasAnsweredIsNotWaitedFor() throws Exception {
        try (Session.Taking _ = session.taking()) {
            long sequence = session.nextSequence();
            session.answered(sequence);
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> await(sequence, 10 * LONG_NS), elsewhere());
            await(sequence, 1_000_000);
            assertThat(waiting.isDone()).isFalse();
            try (Session.Deferring _ = session.deferring()) {
                waiting.get(10, TimeUnit.SECONDS);
                assertThat(session.settled().unsettled()).containsExactly(sequence);
            }
            long againNs = System.nanoTime();
            await(sequence, 50_000_000);
            assertThat(System.nanoTime() - againNs).isGreaterThanOrEqualTo(50_000_000);
        }
    }

    private void await(long sequence, long limitNs) {
        try {
            session.awaitSettled(List.of(sequence), limitNs);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whoever reads the message cannot take more. */
    @Test
    void moreUnsettledUpdatesThanAMessageHoldsCountFromTheFirstLeftOut() {
        for (int i = 0; i < 1_500; i++) {
            var _ = session.nextSequence();
        }
        Session.Settled settled = session.settled();
        assertThat(settled.unsettled()).hasSize(1_000);
        assertThat(settled.below()).isEqualTo(1_001);
    }
}
