package org.globalfs.bench.multicast.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosedLoopTest {
    private static final long NEVER_NS = Long.MAX_VALUE / 4;

    /** A log that keeps what was proposed until the test acknowledges it. */
    private static final class HeldLog implements MeasuredLog {
        private final List<Long> proposed = new ArrayList<>();
        private volatile int coordinator = 1;
        private boolean taking = true;

        @Override
        public synchronized boolean propose(byte[] value) {
            if (taking) {
                proposed.add(Values.id(value));
            }
            return taking;
        }

        synchronized List<Long> proposed() {
            return List.copyOf(proposed);
        }

        synchronized void taking(boolean now) {
            taking = now;
        }

        @Override
        public int coordinator() {
            return coordinator;
        }

        @Override
        public void close() {}
    }

    private final HeldLog log = new HeldLog();
    private final List<Long> announced = new ArrayList<>();

    private ClosedLoop loop(long firstSequence, int outstanding) {
        ClosedLoop loop =
                new ClosedLoop(
                        log, 2, firstSequence, outstanding, 200, NEVER_NS, 0, announced::add);
        loop.start();
        return loop;
    }

    private static long acknowledged(ClosedLoop loop) {
        String first = Arrays.asList(loop.measured().split(" ")).getFirst();
        return Long.parseLong(first.substring("acknowledged=".length()));
    }

    @Test
    void restsBeforeTheNextValueIfTold() {
        for (long pauseNs : new long[] {NEVER_NS, 1}) {
            int before = log.proposed().size();
            try (ClosedLoop loop =
                    new ClosedLoop(log, 2, 0, 1, 200, NEVER_NS, pauseNs, announced::add)) {
                loop.start();
                loop.acknowledged(log.proposed().getLast());
                assertThat(acknowledged(loop)).isEqualTo(1);
                long deadline = System.nanoTime() + 10_000_000_000L;
                while (pauseNs == 1
                        && log.proposed().size() < before + 2
                        && System.nanoTime() < deadline) {
                    Thread.onSpinWait();
                }
                assertThat(log.proposed()).hasSize(before + (pauseNs == 1 ? 2 : 1));
            }
        }
    }

    @Test
    void eachAcknowledgementMakesRoomForOne() {
        try (ClosedLoop loop = loop(0, 4)) {
            assertThat(log.proposed()).hasSize(4);
            for (int i = 0; i < 10; i++) {
                loop.acknowledged(log.proposed().get(i));
            }
            assertThat(log.proposed()).hasSize(14);
            assertThat(new HashSet<>(log.proposed())).hasSize(14);
            assertThat(announced).isEqualTo(log.proposed().subList(0, 10));
            assertThat(acknowledged(loop)).isEqualTo(10);
        }
    }

    @Test
    void whatOthersOrEarlierLoadsProposedCountsForNothing() {
        try (ClosedLoop loop = loop(100, 2)) {
            loop.acknowledged(Values.id(3, 0, 100));
            loop.acknowledged(Values.id(2, 0, 1));
            assertThat(acknowledged(loop)).isZero();
            assertThat(log.proposed()).hasSize(2);
        }
    }

    @Test
    void proposesAgainUnderAnotherIdWhenTheCoordinatorChanges() {
        try (ClosedLoop loop = loop(0, 2)) {
            log.coordinator = 3;
            await().until(() -> log.proposed().size() == 4);
            List<Long> ids = log.proposed();
            assertThat(new HashSet<>(ids)).hasSize(4);
            assertThat(Values.sequence(ids.get(2))).isEqualTo(Values.sequence(ids.get(0)));
            loop.acknowledged(ids.get(0));
            loop.acknowledged(ids.get(2));
            assertThat(acknowledged(loop)).isEqualTo(1);
        }
    }

    @Test
    void whatIsNotTakenIsOfferedAgain() {
        log.taking(false);
        try (ClosedLoop loop = loop(0, 3)) {
            assertThat(log.proposed()).isEmpty();
            log.taking(true);
            await().until(() -> log.proposed().size() == 3);
            assertThat(acknowledged(loop)).isZero();
        }
    }
}
