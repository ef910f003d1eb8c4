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

    /** After a crash just then the coordinator would not send the opening again. */
    @Test
    void noVoteIsAcknowledgedBeforeTheReadmissionIsOnDisk() {
        PersistedState.Replay replay = new PersistedState.Replay();
        replay.add(new LogRecord.VotesLost(INCIDENT));
        RingConfig config = RingConfig.defaults(1, 3, new int[] {1, 2, 3}, 1);
        RingCore core = RingCore.recover(config, replay.state(), null, 0);
        Ballot ballot = new Ballot(1, 1);
        Effects opening = new Effects();
        core.onMessage(
                1, new Message.Open(ballot, 2, List.of(FREE), List.of(INCIDENT)), 1, opening);
        core.flush(1, 1, opening);
        core.onPersisted(opening.position(), 2, new Effects());
        assertThat(core.rejoining()).isTrue();

        Effects caughtUp = new Effects();
        core.onMessage(1, new Message.CatchUpReply(1, List.of(FREE), 1), 3, caughtUp);
        assertThat(core.rejoining()).isFalse();
        core.onMessage(1, new Message.Heartbeat(ballot, 1, 2, 3, 0), 3, caughtUp);
        core.flush(3, 1, caughtUp);
        assertThat(caughtUp.persist()).contains(new LogRecord.VotesLost(0));
        assertThat(acknowledged(caughtUp.sendNow())).isEmpty();
        assertThat(acknowledged(caughtUp.sendAfterPersist())).hasSize(1);
    }

    private static List<Outbound> acknowledged(List<Outbound> sent) {
        return sent.stream()
                .filter(outbound -> outbound.message() instanceof Message.HeartbeatAck)
                .toList();
    }
}
