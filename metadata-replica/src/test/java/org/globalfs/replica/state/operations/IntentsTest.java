package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.model.Counters;
import org.junit.jupiter.api.Test;

final class IntentsTest {

    private final MemoryRecords records = new MemoryRecords();
    private final Intents intents = new Intents(records, new Homes(records, new Counters(1)));

    private List<Long> voted() {
        return intents.votes(1).stream().map(VoteOp::getTransaction).toList();
    }

    @Test
    void makesAVoteOnce() {
        assertThat(voted()).isEmpty();
        intents.add(7, new Prepared(Facts.NONE.carrying(new byte[1 << 20]), Set.of()));
        assertThat(voted()).containsExactly(7L);
        assertThat(intents.votes(1)).isSameAs(intents.votes(1));
        intents.add(8, new Prepared(Facts.NONE, Set.of()));
        assertThat(voted()).containsExactly(7L, 8L);
        intents.remove(7);
        assertThat(voted()).containsExactly(8L);
    }
}
