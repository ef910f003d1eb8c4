package org.globalfs.oracle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;
import org.junit.jupiter.api.Test;

/**
 * Which trees are chosen, on a tree / (1), /home (10), /home/a (11), /home/b (12), /home/a/x (13).
 */
class ChooserTest {
    private static final int WEST = 1;
    private static final int EAST = 2;
    private static final long HOME = 10;
    private static final long A = 11;
    private static final long B = 12;
    private static final long X = 13;
    private static final Map<Long, Long> PARENTS = Map.of(1L, 1L, HOME, 1L, A, HOME, B, HOME, X, A);

    private final Chooser west = new Chooser("west", WEST);
    private final Chooser east = new Chooser("east", EAST);
    private long nowMs = 1_000_000;

    private static MoveRule rule(String path, long reads, double hysteresis, long residenceMs) {
        return new MoveRule(
                path,
                Optional.empty(),
                MoveRule.Kind.THRESHOLD,
                false,
                reads,
                reads,
                60_000,
                hysteresis,
                residenceMs,
                1000,
                1000);
    }

    private UseRates rates(Rules rules) {
        UseRates rates = new UseRates(1000, rules, nowMs);
        nowMs += 10_000_000; // for longer than any residence
        use(rates, WEST, 1, 0, 0, 0);
        return rates;
    }

    /** Reports an operation count in a directory, and those above it. */
    private void use(UseRates rates, int region, long ino, int partition, long reads, long writes) {
        List<DirectoryUse> uses = new ArrayList<>();
        uses.add(
                new DirectoryUse(
                        ino, Objects.requireNonNull(PARENTS.get(ino)), partition, reads, writes));
        for (long at = ino; at != 1; ) {
            at = Objects.requireNonNull(PARENTS.get(at));
            uses.addFirst(
                    new DirectoryUse(
                            at,
                            Objects.requireNonNull(PARENTS.get(at)),
                            at == 1 ? 0 : partition,
                            0,
                            0));
        }
        rates.report(region, uses, nowMs);
    }

    private List<Long> chosen(Chooser chooser, UseRates rates) {
        return chooser.choose(rates, _ -> false, nowMs).stream().map(Choice::ino).toList();
    }

    @Test
    void whatADirectorySaysOfItselfHoldsBelowItUnlessThePolicySaysMore() {
        UseRates rates = rates(Rules.of(MoveRule.off("/")));
        use(rates, EAST, X, WEST, 500, 0);
        use(rates, EAST, B, WEST, 500, 0);
        assertThat(chosen(east, rates)).isEmpty();
        rates.states(A, MoveRule.eager("what A says"));
        assertThat(chosen(east, rates)).containsExactly(A);
        rates.states(X, MoveRule.off("what X says"));
        assertThat(chosen(east, rates)).doesNotContain(X);
        rates.states(X, null);
        rates.rules(new Rules(Map.of(A, MoveRule.off("/home/a")), Set.of(), MoveRule.off("/")));
        assertThat(chosen(east, rates)).isEmpty();
        rates.rules(Rules.of(MoveRule.off("/")));
        assertThat(chosen(east, rates)).containsExactly(A);
        rates.states(A, null);
        assertThat(chosen(east, rates)).isEmpty();
    }

    @Test
    void theHighestTreeThatARegionDominatesIsChosen() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 0)));
        use(rates, EAST, X, WEST, 500, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
        assertThat(chosen(west, rates)).isEmpty();

        use(rates, WEST, B, WEST, 400, 0);

        assertThat(chosen(east, rates)).containsExactly(A);
        assertThat(chosen(west, rates)).isEmpty();
    }

    @Test
    void littleUseMovesNothing() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 0)));
        use(rates, EAST, A, WEST, 99, 99);
        assertThat(chosen(east, rates)).isEmpty();
        use(rates, EAST, A, WEST, 1, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
    }

    @Test
    void useFades() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 0)));
        use(rates, WEST, A, WEST, 10_000, 0);
        use(rates, EAST, A, WEST, 200, 0);
        assertThat(chosen(east, rates)).isEmpty();
        nowMs += 10 * 60_000; // ten windows
        use(rates, EAST, A, WEST, 200, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
        nowMs += 2 * 60_000;
        assertThat(chosen(east, rates)).isEmpty();
    }

    /** As mounts do that have seen more directories than they remember. */
    @Test
    void noRuleIsTakenForThatOfATreeThatNobodyHasPlaced() {
        UseRates rates = rates(Rules.of(MoveRule.eager("/")));
        rates.report(
                EAST,
                List.of(
                        new DirectoryUse(A, 0, WEST, 500, 500),
                        new DirectoryUse(X, A, WEST, 500, 500)),
                nowMs);
        assertThat(chosen(east, rates)).isEmpty();
        rates.states(X, MoveRule.eager("what X says"));
        assertThat(chosen(east, rates)).containsExactly(X);
        rates.states(X, null);
        // It lies in /home, of which the policy says something else.
        rates.rules(new Rules(Map.of(HOME, MoveRule.off("/home")), Set.of(), MoveRule.eager("/")));
        assertThat(chosen(east, rates)).isEmpty();
        use(rates, EAST, A, WEST, 1, 0);
        assertThat(chosen(east, rates)).isEmpty();
        rates.rules(Rules.of(MoveRule.eager("/")));
        assertThat(chosen(east, rates)).containsExactly(HOME);
    }

    @Test
    void aTreeThatAnotherRegionHasTakenStaysThereForAWhile() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 30_000)));
        use(rates, EAST, A, WEST, 500, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
        // Its use there may not have been heard of here.
        rates.livesIn(HOME, 3, nowMs);
        rates.livesIn(A, 3, nowMs);
        nowMs += 29_000;
        use(rates, EAST, A, 3, 500, 0);
        assertThat(chosen(east, rates)).isEmpty();
        rates.livesIn(HOME, 3, nowMs);
        nowMs += 1_000;
        assertThat(chosen(east, rates)).containsExactly(HOME);
    }

    @Test
    void aTreeStaysWhereItIsForAWhile() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 30_000)));
        use(rates, EAST, A, WEST, 500, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
        rates.moved(HOME, EAST, nowMs);
        assertThat(chosen(east, rates)).isEmpty();
        use(rates, WEST, A, EAST, 5_000, 0);
        nowMs += 29_000;
        assertThat(chosen(west, rates)).isEmpty();
        nowMs += 1_000;
        assertThat(chosen(west, rates)).containsExactly(HOME);
    }

    @Test
    void whatIsKnownSinceTheOraclesStartOnlyStaysForAWhileToo() {
        UseRates rates = new UseRates(1000, Rules.of(rule("/", 100, 2, 30_000)), nowMs);
        use(rates, EAST, A, WEST, 500, 0);
        assertThat(chosen(east, rates)).isEmpty();
        nowMs += 30_000;
        assertThat(chosen(east, rates)).containsExactly(HOME);
    }

    @Test
    void rulesBelowDecideForThemselves() {
        Rules rules =
                new Rules(
                        Map.of(A, MoveRule.off("/home/a")), Set.of(1L, HOME), rule("/", 100, 2, 0));
        UseRates rates = rates(rules);
        use(rates, EAST, X, WEST, 5_000, 0);
        assertThat(chosen(east, rates)).isEmpty();
        use(rates, EAST, B, WEST, 5_000, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);

        rates.rules(
                new Rules(
                        Map.of(A, rule("/home/a", 100, 2, 0)),
                        Set.of(1L, HOME),
                        MoveRule.off("/")));
        assertThat(chosen(east, rates)).containsExactly(A);
    }

    @Test
    void aPinnedTreeComesWithoutBeingUsedAndStays() {
        Rules rules =
                new Rules(
                        Map.of(A, MoveRule.pinned("/home/a", "east")),
                        Set.of(1L, HOME),
                        rule("/", 100, 2, 0));
        UseRates rates = rates(rules);
        use(rates, WEST, X, WEST, 0, 0);
        assertThat(chosen(east, rates)).containsExactly(A);
        rates.moved(A, EAST, nowMs);
        use(rates, WEST, X, EAST, 5_000, 0);
        assertThat(chosen(west, rates)).isEmpty();
        assertThat(chosen(east, rates)).isEmpty();
    }

    @Test
    void globalDirectoriesStayAndTheTreesInThemMove() {
        UseRates rates = rates(Rules.of(MoveRule.eager("/")));
        use(rates, EAST, 1, 0, 500, 0);
        use(rates, EAST, A, WEST, 5, 0);
        use(rates, WEST, A, WEST, 4, 0);
        assertThat(chosen(east, rates)).containsExactly(HOME);
    }

    @Test
    void whatRestsIsLeftAlone() {
        UseRates rates = rates(Rules.of(MoveRule.eager("/")));
        use(rates, EAST, X, WEST, 5, 0);
        assertThat(east.choose(rates, ino -> ino == HOME, nowMs))
                .extracting(Choice::ino)
                .containsExactly(A);
    }

    @Test
    void filesThatLiveElsewhereComeAfterTheirDirectory() {
        UseRates rates = rates(Rules.of(rule("/", 10, 2, 0)));
        use(rates, EAST, X, EAST, 100, 0);
        assertThat(chosen(east, rates)).isEmpty();
        DirectoryUse astray = new DirectoryUse(X, A, EAST, 5, 0).setAstray(2);
        rates.report(EAST, List.of(astray), nowMs);
        assertThat(east.choose(rates, _ -> false, nowMs))
                .extracting(Choice::ino, Choice::files)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(X, true));
        assertThat(chosen(west, rates)).isEmpty();
        rates.report(WEST, List.of(new DirectoryUse(X, A, EAST, 500, 0).setAstray(500)), nowMs);
        assertThat(chosen(east, rates)).isEmpty();
    }

    @Test
    void explanationsSayWhatIsMissing() {
        UseRates rates = rates(Rules.of(rule("/", 100, 2, 0)));
        assertThat(east.explain(rates, X, nowMs)).isNull();
        use(rates, EAST, A, WEST, 300, 0);
        use(rates, WEST, B, WEST, 200, 0);
        assertThat(Objects.requireNonNull(east.explain(rates, HOME, nowMs)).verdict())
                .isEqualTo(
                        "east uses it 1.5 times as much as all others; more than 2.0 times would"
                                + " move it");
        assertThat(Objects.requireNonNull(east.explain(rates, A, nowMs)).verdict())
                .isEqualTo("it is to move to east");
        assertThat(Objects.requireNonNull(east.explain(rates, B, nowMs)).verdict())
                .isEqualTo("east uses it too little");
        assertThat(Objects.requireNonNull(west.explain(rates, B, nowMs)).verdict())
                .isEqualTo("it lives in west");
    }

    /**
     * Two regions that use the same trees in random shares, with hysteresis and residence: whatever
     * they do, a tree moves once a residence at most, and not at all while the shares are alike.
     */
    @Test
    void regionsThatPullAlikeDoNotPlayPingPong() {
        long residenceMs = 120_000;
        UseRates rates = rates(Rules.of(rule("/", 10, 2, residenceMs)));
        Random random = new Random(8);
        int home = WEST;
        long movedMs = 0;
        int moves = 0;
        for (int step = 0; step < 10_000; step++) {
            nowMs += 1_000;
            // Now one of them, now the other, for some time; then both alike.
            int phase = step / 500 % 4;
            int eastShare = phase == 0 ? 90 : phase == 2 ? 10 : 50;
            for (int i = 0; i < 10; i++) {
                use(rates, random.nextInt(100) < eastShare ? EAST : WEST, X, home, 1, 0);
            }
            Set<Long> both = new HashSet<>(chosen(east, rates));
            both.retainAll(chosen(west, rates));
            assertThat(both).isEmpty();
            Chooser to = home == WEST ? east : west;
            if (chosen(to, rates).contains(HOME)) {
                assertThat(nowMs - movedMs).isGreaterThanOrEqualTo(residenceMs);
                assertThat(phase).isIn(0, 2);
                home = 3 - home;
                rates.moved(HOME, home, nowMs);
                movedMs = nowMs;
                moves++;
            }
        }
        assertThat(moves).isEqualTo(10);
    }
}
