package org.globalfs.multicast.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.merge.RoundRobin;
import org.junit.jupiter.api.Test;

/** Shows the checker each thing that must never happen. */
class CheckerTest {

    private boolean durable = true;
    private final Checker checker =
            new Checker(new Coverage(), (ring, instance, batch) -> durable, 1);

    private static Batch batch(long timestamp, int session, int sequence, int... destinations) {
        return new Batch(
                List.of(
                        new Entry.Command(
                                timestamp, new Value(session, sequence).bytes(), destinations)));
    }

    private static void violates(ThrowingCallable what, String message) {
        assertThatThrownBy(what)
                .isInstanceOf(Checker.Violation.class)
                .hasMessageContaining(message);
    }

    @Test
    void twoValuesOfAnInstance() {
        checker.decided(1, 1, 1, batch(5, 1, 1));
        checker.decided(1, 2, 1, batch(5, 1, 1));
        violates(() -> checker.decided(1, 2, 1, batch(5, 1, 2)), "process 2 has");
    }

    @Test
    void aGap() {
        violates(() -> checker.decided(1, 1, 2, batch(5, 1, 1)), "nobody anything after 0");
    }

    @Test
    void timestampsThatFall() {
        checker.decided(1, 1, 1, batch(5, 1, 1));
        violates(() -> checker.decided(1, 1, 2, batch(5, 1, 2)), "timestamps fall");
    }

    @Test
    void whatIsNotOnAMajoritysDisks() {
        durable = false;
        violates(() -> checker.decided(1, 1, 1, batch(5, 1, 1)), "not on a majority's disks");
    }

    @Test
    void statesThatDiffer() {
        checker.executed(1, 1, 77);
        checker.executed(1, 1, 77);
        violates(() -> checker.executed(1, 1, 78), "differ after 1");
    }

    @Test
    void importsOutOfOrder() {
        checker.decided(0, 1, 1, batch(1, 0, 1, 1));
        checker.decided(0, 1, 2, batch(2, 0, 2, 2));
        checker.decided(0, 1, 3, batch(3, 0, 3, 1, 2));
        checker.importing(1, 1, 0);
        checker.importing(1, 1, 1);
        checker.importing(1, 3, 1);
        violates(() -> checker.importing(1, 3, 0), "but 1 is next");
        violates(() -> checker.importing(1, 2, 1), "but 3 is next");
    }

    @Test
    void twoLeasesAtOnce() {
        checker.lease(1, 1, 1, 0, 100, 5);
        checker.lease(1, 1, 1, 50, 150, 5);
        violates(() -> checker.lease(1, 2, 1, 149, 300, 5), "has a lease while");
        checker.lease(1, 2, 1, 150, 300, 5);
    }

    @Test
    void acknowledgedAndUnknown() {
        violates(() -> checker.acknowledged(1, 1, new Value(1, 1)), "acknowledged, but not");
        checker.decided(1, 1, 1, batch(5, 1, 1));
        checker.acknowledged(1, 1, new Value(1, 1));
        violates(() -> checker.lease(1, 1, 1, 0, 100, 0), "would miss acknowledged");
    }

    @Test
    void operationsThatAreNotLinearizable() {
        checker.completed(1, true, 0, 4);
        assertThat(checker.version(1)).isEqualTo(4);
        checker.completed(1, false, checker.version(1), 4);
        violates(() -> checker.completed(1, false, checker.version(1), 3), "a read sees");
        violates(() -> checker.completed(1, true, checker.version(1), 4), "a write sees");
    }

    @Test
    void anAcknowledgedWriteThatAStateNeverSaw() {
        ModelState state = new ModelState(1, checker);
        ModelState global = new ModelState(0, checker);
        violates(
                () -> state.execute(1, batch(5, 3, 2), global, (session, reply) -> {}),
                "an acknowledged write is lost");
    }

    private static RoundRobin.Delivered delivered(int ring, long instance) {
        return new RoundRobin.Delivered(ring, instance, List.of());
    }

    private void decideInBothRings(int instances) {
        for (int i = 1; i <= instances; i++) {
            checker.decided(0, 1, i, batch(i, 0, i));
            checker.decided(1, 1, i, batch(i, 0, i));
        }
    }

    @Test
    void mergesThatDiffer() {
        decideInBothRings(3);
        checker.merged(1, 1, 0, delivered(0, 1));
        checker.merged(1, 2, 0, delivered(0, 1));
        checker.merged(1, 1, 1, delivered(1, 1));
        violates(() -> checker.merged(1, 2, 1, delivered(0, 2)), "process 2 merges");
        violates(() -> checker.merged(1, 2, 3, delivered(0, 2)), "process 2 is ahead");
    }

    @Test
    void aMergeThatDoesNotWait() {
        decideInBothRings(1);
        checker.merged(1, 1, 0, delivered(0, 1));
        checker.merged(1, 1, 1, delivered(1, 1));
        checker.decided(1, 1, 2, batch(9, 0, 9));
        violates(() -> checker.merged(1, 1, 2, delivered(1, 2)), "does not wait for ring 0");
    }

    @Test
    void aMergeAgainstTheOrderAfterASkip() {
        checker.decided(0, 1, 1, new Batch(List.of(new Entry.Skip(10))));
        decideInRing1(2);
        checker.decided(0, 1, 2, batch(1, 0, 1));
        checker.merged(1, 1, 0, delivered(0, 1));
        checker.merged(1, 1, 1, delivered(1, 1));
        violates(() -> checker.merged(1, 1, 2, delivered(0, 2)), "due is Step[ring=1, instance=2]");
    }

    private void decideInRing1(int instances) {
        for (int i = 1; i <= instances; i++) {
            checker.decided(1, 1, i, batch(i, 0, i));
        }
    }
}
