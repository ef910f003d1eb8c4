package org.globalfs.multicast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who has no vote: a process that is no member, or a member that lost its votes. */
class NonVoterTest {
    private static final int[] MEMBERS = {1, 2, 3};

    /** Between these times, in leases. */
    private static List<Outbound> ticks(RingCore core, RingConfig config, int from, int to) {
        List<Outbound> sent = new ArrayList<>();
        long endNs = to * config.leaseNs();
        for (long nowNs = from * config.leaseNs(); nowNs <= endNs; nowNs += config.heartbeatNs()) {
            Effects effects = new Effects();
            core.onTick(nowNs, effects);
            core.flush(nowNs, 1, effects);
            sent.addAll(effects.sendNow());
        }
        return sent;
    }

    /**
     * All would send the same instances, and one that is silent holds it up no longer than that.
     */
    @Test
    void whoIsNoMemberAsksOneMemberAfterTheOtherAndAllWithinALease() {
        RingConfig config = RingConfig.defaults(1, 9, MEMBERS, 1);
        RingCore core = RingCore.recover(config, PersistedState.FRESH, null, 0);
        List<Integer> asked =
                ticks(core, config, 0, 6).stream()
                        .filter(sent -> sent.message() instanceof Message.CatchUpRequest)
                        .map(Outbound::to)
                        .toList();
        assertThat(asked.size()).isBetween(10, 18);
        assertThat(asked.subList(0, 4)).containsExactly(1, 2, 3, 1);
    }

    @Test
    void whoIsNoMemberKeepsNoLogForOthers() {
        RingCore core =
                RingCore.recover(
                        RingConfig.defaults(1, 9, MEMBERS, 1), PersistedState.FRESH, null, 0);
        core.onProgress(8, 5);
        assertThat(core.trimmable()).isEqualTo(5);
    }

    /** Nobody would wait for another one, and proposals would go there for ever. */
    @Test
    void aMemberWithoutItsVotesForgetsACoordinatorThatIsSilent() {
        RingConfig config = RingConfig.defaults(0, 3, MEMBERS, 1);
        PersistedState.Replay replay = new PersistedState.Replay();
        replay.add(new LogRecord.VotesLost(77));
        RingCore core = RingCore.recover(config, replay.state(), null, 0);
        assertThat(core.rejoining()).isTrue();
        core.onMessage(1, new Message.Heartbeat(new Ballot(1, 1), 0, 0, 0, 0), 0, new Effects());
        assertThat(core.coordinator()).isEqualTo(1);
        ticks(core, config, 0, 1);
        assertThat(core.coordinator()).isEqualTo(1);
        ticks(core, config, 1, 5);
        assertThat(core.coordinator()).isEqualTo(-1);
    }
}
