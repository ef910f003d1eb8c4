package org.globalfs.oracle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;
import org.junit.jupiter.api.Test;

/** Which trees become every region's, and one region's again, on a tree / (1), /home (10). */
class GlobalChoiceTest {
    private static final int GLOBAL = 0;
    private static final int WEST = 1;
    private static final int EAST = 2;
    private static final int SOUTH = 3;
    private static final long ROOT = 1;
    private static final long HOME = 10;

    private final Map<Integer, Chooser> choosers =
            Map.of(
                    WEST, new Chooser("west", WEST),
                    EAST, new Chooser("east", EAST),
                    SOUTH, new Chooser("south", SOUTH));
    private long nowMs = 1_000_000;
    private int home = WEST;

    private static MoveRule rule(boolean global, double hysteresis, long residenceMs) {
        return new MoveRule(
                "/",
                Optional.empty(),
                MoveRule.Kind.THRESHOLD,
                global,
                100,
                50,
                60_000,
                hysteresis,
                residenceMs,
                1000,
                1000);
    }

    private static Rules pinned(String region) {
        return new Rules(
                Map.of(HOME, MoveRule.pinned("/home", region)), Set.of(ROOT), MoveRule.off("/"));
    }

    private UseRates rates(Rules rules) {
        UseRates rates = new UseRates(1000, rules, nowMs);
        nowMs += 10_000_000; // for longer than any residence
        use(rates, WEST, 0, 0);
        return rates;
    }

    private void use(UseRates rates, int region, long reads, long writes) {
        rates.report(
                region,
                List.of(
                        new DirectoryUse(ROOT, ROOT, GLOBAL, 0, 0),
                        new DirectoryUse(HOME, ROOT, home, reads, writes)),
                nowMs);
    }

    private Chooser chooser(int region) {
        return Objects.requireNonNull(choosers.get(region));
    }

    /** What all regions choose together. */
    private List<Choice> chosen(UseRates rates) {
        return choosers.values().stream()
                .flatMap(chooser -> chooser.choose(rates, _ -> false, nowMs).stream())
                .toList();
    }

    private void assertMoves(UseRates rates, int to) {
        assertThat(chosen(rates))
                .extracting(Choice::ino, Choice::from, Choice::to, Choice::files)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(HOME, home, to, false));
    }

    private void moved(UseRates rates, int to) {
        rates.moved(HOME, to, nowMs);
        home = to;
    }

    private String verdict(UseRates rates, int region) {
        return Objects.requireNonNull(chooser(region).explain(rates, HOME, nowMs)).verdict();
    }

    @Test
    void whatSeveralRegionsReadBecomesEveryRegions() {
        UseRates rates = rates(Rules.of(rule(true, 2, 0)));
        use(rates, WEST, 500, 20);
        use(rates, EAST, 60, 0);
        assertThat(chosen(rates)).as("others read it too little").isEmpty();
        use(rates, SOUTH, 60, 0);
        assertMoves(rates, GLOBAL);
        use(rates, WEST, 0, 45);
        assertThat(chosen(rates)).as("it is changed too much").isEmpty();
    }

    @Test
    void itDoesNotMatterWhichOfThemHasIt() {
        UseRates rates = rates(Rules.of(rule(true, 1, 0)));
        use(rates, EAST, 500, 0);
        use(rates, SOUTH, 120, 0);
        assertMoves(rates, GLOBAL);
    }

    @Test
    void whatOneRegionAloneReadsIsItsOwn() {
        UseRates rates = rates(Rules.of(rule(true, 2, 0)));
        use(rates, EAST, 5_000, 0);
        use(rates, WEST, 50, 0);
        assertMoves(rates, EAST);
    }

    @Test
    void withoutTheRuleNothingBecomesEveryRegionsNorLeavesThem() {
        UseRates rates = rates(Rules.of(rule(false, 2, 0)));
        use(rates, EAST, 500, 0);
        use(rates, SOUTH, 500, 0);
        assertThat(chosen(rates)).isEmpty();
        moved(rates, GLOBAL);
        use(rates, EAST, 0, 50_000);
        assertThat(chosen(rates)).isEmpty();
        assertThat(verdict(rates, EAST)).isEqualTo("it is every region's");
    }

    @Test
    void oneRegionsChangesBringItThere() {
        UseRates rates = rates(Rules.of(rule(true, 2, 30_000)));
        moved(rates, GLOBAL);
        nowMs += 60_000;
        use(rates, WEST, 200, 0);
        use(rates, EAST, 200, 0);
        assertThat(chosen(rates)).isEmpty();
        use(rates, EAST, 5_000, 0);
        assertThat(chosen(rates)).as("all read it where they are").isEmpty();
        use(rates, EAST, 0, 390);
        assertThat(chosen(rates)).as("others read it half as much").isEmpty();
        use(rates, EAST, 0, 20);
        assertMoves(rates, EAST);
        moved(rates, EAST);
        nowMs += 29_000;
        use(rates, WEST, 50_000, 0);
        use(rates, SOUTH, 50_000, 0);
        assertThat(chosen(rates)).as("for a while it stays").isEmpty();
        nowMs += 1_000;
        assertMoves(rates, GLOBAL);
    }

    @Test
    void whoChangesItLittleDoesNotTakeItAway() {
        UseRates rates = rates(Rules.of(rule(true, 2, 0)));
        moved(rates, GLOBAL);
        use(rates, EAST, 5_000, 49);
        assertThat(chosen(rates)).isEmpty();
        assertThat(verdict(rates, EAST))
                .isEqualTo("it is every region's, and east changes it too little");
        use(rates, EAST, 0, 1);
        assertMoves(rates, EAST);
    }

    @Test
    void whatSeveralChangeAlikeStays() {
        UseRates rates = rates(Rules.of(rule(true, 2, 0)));
        moved(rates, GLOBAL);
        use(rates, EAST, 0, 500);
        use(rates, WEST, 0, 400);
        assertThat(chosen(rates)).isEmpty();
        assertThat(verdict(rates, EAST)).startsWith("east uses it 1.3 times as much");
    }

    @Test
    void aTreeIsPinnedToAllRegionsAndToOneAgain() {
        UseRates rates = rates(pinned("global"));
        use(rates, EAST, 0, 5_000);
        assertMoves(rates, GLOBAL);
        moved(rates, GLOBAL);
        use(rates, EAST, 0, 5_000);
        assertThat(chosen(rates)).isEmpty();
        assertThat(verdict(rates, EAST)).isEqualTo("it is to live in global");
        rates.rules(pinned("south"));
        assertMoves(rates, SOUTH);
        assertThat(verdict(rates, EAST)).isEqualTo("it is to live in south");
    }

    @Test
    void theRootStays() {
        UseRates rates = rates(Rules.of(rule(true, 1, 0)));
        rates.report(EAST, List.of(new DirectoryUse(ROOT, ROOT, GLOBAL, 0, 50_000)), nowMs);
        assertThat(chosen(rates)).isEmpty();
        rates.rules(Rules.of(MoveRule.pinned("/", "east")));
        assertThat(chosen(rates)).extracting(Choice::ino).containsExactly(HOME);
    }

    @Test
    void filesThatStayedBehindComeOnceByWhoMissesThemMost() {
        UseRates rates = rates(Rules.of(rule(true, 2, 0)));
        moved(rates, GLOBAL);
        DirectoryUse astray = new DirectoryUse(HOME, ROOT, GLOBAL, 200, 0);
        rates.report(WEST, List.of(astray.deepCopy().setAstray(10)), nowMs);
        rates.report(EAST, List.of(astray.deepCopy().setAstray(20)), nowMs);
        assertThat(chosen(rates))
                .extracting(Choice::to, Choice::files, Choice::own)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(GLOBAL, true, 200.0));
        rates.rules(Rules.of(rule(false, 2, 0)));
        assertThat(chosen(rates)).isEmpty();
    }

    @Test
    void explanationsSayWhatItWouldTake() {
        UseRates rates = rates(Rules.of(rule(true, 2, 30_000)));
        use(rates, WEST, 500, 90);
        use(rates, EAST, 150, 0);
        assertThat(verdict(rates, WEST))
                .isEqualTo(
                        "it lives in west: not enough regions read it enough more than it is"
                                + " changed");
        use(rates, EAST, 150, 0);
        assertThat(verdict(rates, WEST)).isEqualTo("it is to become every region's");
        assertThat(verdict(rates, EAST))
                .isEqualTo("several regions read it: it is to become every region's");
        moved(rates, GLOBAL);
        assertThat(verdict(rates, EAST)).isEqualTo("it is every region's, and hardly changed");
        nowMs += 10_000;
        use(rates, EAST, 0, 50_000);
        assertThat(verdict(rates, EAST))
                .isEqualTo("it has not been where it is, or known here, for long: 20 s to go");
        nowMs += 20_000;
        assertThat(verdict(rates, EAST)).isEqualTo("it is to move to east");
    }

    /**
     * Three regions in random shares, with hysteresis and residence: whatever they do, no two want
     * the tree at once, it moves once a residence at most, and not at all while they go on alike.
     */
    @Test
    void noTreeGoesToAndFroBetweenARegionAndAll() {
        long residenceMs = 120_000;
        UseRates rates = rates(Rules.of(rule(true, 2, residenceMs)));
        Random random = new Random(8);
        long movedMs = 0;
        int moves = 0;
        int steps = 10_000;
        for (int step = 0; step < steps; step++) {
            nowMs += 1_000;
            // All read it; one changes it about as much as the others read it; one takes it over.
            int phase = step / 500 % 3;
            for (int i = 0; i < 30; i++) {
                int region = 1 + random.nextInt(3);
                use(rates, phase == 2 ? EAST : region, 1, phase == 2 ? 1 : 0);
            }
            if (phase == 1) {
                use(rates, EAST, 0, 12 + random.nextInt(17));
            }
            List<Choice> choices = chosen(rates);
            assertThat(choices).hasSizeLessThan(2);
            if (!choices.isEmpty()) {
                assertThat(nowMs - movedMs).isGreaterThanOrEqualTo(residenceMs);
                assertThat(phase).as("not while it is undecided").isNotEqualTo(1);
                moved(rates, choices.getFirst().to());
                movedMs = nowMs;
                moves++;
            }
        }
        assertThat(moves).as("to all and to east, in turn").isEqualTo(2 * (steps / 1500) + 1);
        assertThat(home).isEqualTo(GLOBAL);
    }
}
