package org.globalfs.multicast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.junit.jupiter.api.Test;

/** Which openings let a member in that lost its votes. */
class LostVotesTest {
    private static final long INCIDENT = 77;
    private static final Batch FREE = Batch.of(new Entry.Noop());
    private static final Batch CHANGE =
            Batch.of(new Entry.Members(Membership.initial(new int[] {1, 2, 3})));

    private final LostVotes lost = new LostVotes(INCIDENT);

    private void opened(long round, List<Batch> batches) {
        lost.opened(new Message.Open(new Ballot(round, 1), 5, batches, List.of(INCIDENT)));
    }

    /** As a coordinator of an older version opens it. */
    @Test
    void aBallotThatChangesTheMembershipReadmitsNobody() {
        opened(1, List.of(FREE, CHANGE));
        assertThat(lost.over(9)).isFalse();
        opened(2, List.of(FREE));
        assertThat(lost.over(3)).isFalse();
        assertThat(lost.over(4)).isTrue();
    }
}
