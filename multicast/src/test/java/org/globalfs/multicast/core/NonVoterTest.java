package org.globalfs.multicast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who has no vote: a process that is no member, or a member that lost its votes. */
class NonVoterTest {
    private static final int[] MEMBERS = {1, 2, 3};

    private static List<Outbound> ticks(RingCore core, RingConfig config, int leases) {
        List<Outbound> sent = new ArrayList<>();
        long endNs = leases * config.leaseNs();
        for (long nowNs = 0; nowNs <= endNs; nowNs += config.heartbeatNs()) {
            Effects effects = new Effects();
            core.onTick(nowNs, effects);
            core.flush(nowNs, 1, effects);
            sent.addAll(effects.sendNow());
        }
        return sent;
    }

    /** All would send the same instances, and one that is silent holds it up no longer than that. */
    @Test
    void whoIsNoMemberAsksOneMemberAfterTheOtherAndAllWithinALease() {
        RingConfig config = RingConfig.defaults(1, 9, MEMBERS, 1);
        RingCore core = RingCore.recover(config, PersistedState.FRESH, null, 0);
        List<Integer> asked =
                ticks(core, config, 6).stream()
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
}
