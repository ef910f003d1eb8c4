package org.globalfs.multicast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.Dissemination;
import org.junit.jupiter.api.Test;

class RouteTest {
    private static final long MS = 1_000_000;
    private static final long NOW = 60_000 * MS;
    private static final Message.Accept ACCEPT =
            new Message.Accept(new Ballot(1, 4), 1, Batch.of(new Entry.Noop()), 0);

    private static final List<Integer> ACCEPTORS = List.of(1, 2, 3, 4, 5, 6, 7, 8, 9);

    private final RingConfig config =
            RingConfig.defaults(0, 4, new int[] {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1)
                    .with(Dissemination.RING);
    private final Route route = new Route(config, ACCEPTORS, List.of(), 0);
    private final long[] heardNs = new long[9];

    /** Three members a region: 4 to 6 at home, 1 to 3 and 7 to 9 beyond two seas. */
    private void regions(long firstMs, long thirdMs) {
        for (int rank = 0; rank < 9; rank++) {
            long farMs = rank < 3 ? firstMs : rank < 6 ? 0 : thirdMs;
            route.roundTrip(rank, farMs * MS + rank * 100_000L);
        }
    }

    private void hearAll(long nowNs) {
        Arrays.fill(heardNs, nowNs);
    }

    private List<String> sent() {
        Effects effects = new Effects();
        route.send(ACCEPT, effects);
        return effects.sendNow().stream()
                .map(outbound ->
                        outbound.to() + " " + ((Message.Accept) outbound.message()).route())
                .toList();
    }

    @Test
    void eachSeaIsCrossedOnceTheNarrowestFirst() {
        regions(140, 70);
        hearAll(NOW);
        route.choose(heardNs, NOW);
        assertThat(sent()).containsExactly("5 [6, 7, 8, 9, 1, 2, 3]");
        assertThat(route.voteNs(4)).isLessThan(10 * MS);
        assertThat(route.voteNs(2)).isBetween(630 * MS, 640 * MS);
    }

    @Test
    void membersThatAreEquallyFarFollowInTheOrderOfTheirIds() {
        regions(80, 80);
        hearAll(NOW);
        route.choose(heardNs, NOW);
        assertThat(sent()).containsExactly("5 [6, 7, 8, 9, 1, 2, 3]");
    }

    @Test
    void whoIsNotHeardAndWhoVotesLateIsServedDirectly() {
        hearAll(NOW);
        heardNs[5] = NOW - 2 * config.heartbeatNs();
        route.choose(heardNs, NOW);
        assertThat(sent()).containsExactly("5 [7, 8, 9, 1, 2, 3]", "6 []");
        assertThat(route.has(5)).isFalse();
        assertThat(route.has(6)).isTrue();

        route.broken(6, NOW);
        long later = NOW + config.heartbeatNs();
        hearAll(later);
        route.choose(heardNs, later);
        assertThat(sent()).containsExactly("5 [6, 8, 9, 1, 2, 3]", "7 []");

        long muchLater = NOW + 60 * config.heartbeatNs();
        hearAll(muchLater);
        route.choose(heardNs, muchLater);
        assertThat(sent()).containsExactly("5 [6, 7, 8, 9, 1, 2, 3]");
    }

    @Test
    void whoHasHeardNobodyAndWhoShallBeAStarSendsToAll() {
        assertThat(sent()).containsExactly(Outbound.ALL + " []");
        route.choose(heardNs, NOW);
        assertThat(sent()).containsExactly(Outbound.ALL + " []");
        Route star = new Route(config.with(Dissemination.STAR), ACCEPTORS, List.of(), 0);
        hearAll(NOW);
        star.choose(heardNs, NOW);
        Effects effects = new Effects();
        star.send(ACCEPT, effects);
        assertThat(effects.sendNow()).containsExactly(new Outbound(Outbound.ALL, ACCEPT));
    }

    @Test
    void learnersGetEverythingDirectly() {
        Route withLearner = new Route(config, List.of(3, 4, 5), List.of(9), 0);
        withLearner.choose(new long[] {NOW, NOW, NOW}, NOW);
        Effects effects = new Effects();
        withLearner.send(ACCEPT, effects);
        assertThat(effects.sendNow())
                .containsExactly(
                        new Outbound(5, ACCEPT.along(List.of(3))), new Outbound(9, ACCEPT));
    }
}
