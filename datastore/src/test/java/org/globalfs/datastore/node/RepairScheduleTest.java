package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.datastore.node.RepairSchedule.AGAIN_NS;
import static org.globalfs.datastore.node.RepairSchedule.MOST_NS;
import static org.globalfs.datastore.node.RepairSchedule.PERIOD_NS;

import org.globalfs.datastore.node.RepairSchedule.Outcome;
import org.junit.jupiter.api.Test;

class RepairScheduleTest {
    /** Times of the system's clock may be negative, and pass its end. */
    private long nowNs = Long.MAX_VALUE - AGAIN_NS / 2;

    private final RepairSchedule schedule = new RepairSchedule(nowNs);

    /** A pass that ended so is followed by the next one after exactly this. */
    private void assertWait(Outcome outcome, long waitNs) {
        assertThat(schedule.isDue(nowNs)).isTrue();
        schedule.ended(outcome, nowNs);
        assertThat(schedule.isDue(nowNs + waitNs - 1)).isFalse();
        nowNs += waitNs;
        assertThat(schedule.isDue(nowNs)).isTrue();
    }

    @Test
    void passesInVainAreLessAndLessFrequent() {
        for (long waitNs = AGAIN_NS; waitNs < MOST_NS; waitNs *= 2) {
            assertWait(Outcome.STUCK, waitNs);
        }
        assertWait(Outcome.STUCK, MOST_NS);
        assertWait(Outcome.STUCK, MOST_NS);
    }

    @Test
    void onceAPassDoesSomethingTheNextOneIsSoon() {
        assertWait(Outcome.STUCK, AGAIN_NS);
        assertWait(Outcome.STUCK, 2 * AGAIN_NS);
        assertWait(Outcome.GOES_ON, AGAIN_NS);
        assertWait(Outcome.GOES_ON, AGAIN_NS);
        assertWait(Outcome.STUCK, AGAIN_NS);
        assertWait(Outcome.STUCK, 2 * AGAIN_NS);
    }

    @Test
    void otherNodesOrARequestMakeItSoon() {
        assertWait(Outcome.STUCK, AGAIN_NS);
        assertWait(Outcome.STUCK, 2 * AGAIN_NS);
        schedule.renew();
        assertWait(Outcome.STUCK, AGAIN_NS);
    }

    @Test
    void whereNothingIsLeftItIsAnHour() {
        assertWait(Outcome.CLEAN, PERIOD_NS);
        assertWait(Outcome.STUCK, AGAIN_NS);
    }
}
