package org.globalfs.oracle.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;
import org.junit.jupiter.api.Test;

/** What is kept of reports, and in how much room. */
class UseRatesTest {

    private static double sum(UseRates rates, long ino, long nowMs) {
        return Objects.requireNonNull(rates.tree(nowMs).sum(ino)).values().stream()
                .mapToDouble(Use::operations)
                .sum();
    }

    @Test
    void aSteadyRateShowsAsWhatHappensInAWindow() {
        UseRates rates = new UseRates(100, Rules.of(MoveRule.eager("/")), 0);
        long nowMs = 0;
        for (int i = 0; i < 1_000; i++) {
            nowMs += 10;
            rates.report(1, List.of(new DirectoryUse(1, 1, 0, 1, 1)), nowMs);
        }
        // 200 a second, and a window of 5 s
        assertThat(sum(rates, 1, nowMs)).isCloseTo(1_000 * (1 - Math.exp(-2)), within(10.0));
    }

    @Test
    void roomIsBoundedAndWhatIsCountedIsNotLost() {
        UseRates rates = new UseRates(1_000, Rules.of(MoveRule.eager("/")), 0);
        for (int directory = 0; directory < 300; directory++) {
            List<DirectoryUse> uses = new ArrayList<>(List.of(new DirectoryUse(1, 1, 1, 0, 0)));
            uses.add(new DirectoryUse(1_000 + directory, 1, 1, 0, 0));
            for (int file = 0; file < 100; file++) {
                long ino = 1_000_000L * (directory + 1) + file;
                uses.add(new DirectoryUse(ino, 1_000 + directory, 1, file == 99 ? 1_000 : 1, 0));
            }
            rates.report(1, uses, 0);
            assertThat(rates.size()).isLessThanOrEqualTo(1_000);
        }
        assertThat(sum(rates, 1, 0)).isCloseTo(300 * 1_099, within(0.001));
        // The busiest are still known by themselves.
        assertThat(sum(rates, 1_000_099, 0)).isEqualTo(1_000);
    }

    /** Nor do others go instead, because they are at the bottom. */
    @Test
    void whatIsLeftOfAChainGoesBeforeWhatIsUsed() {
        int most = 1_000;
        UseRates rates = new UseRates(most, Rules.of(MoveRule.eager("/")), 0);
        List<DirectoryUse> uses = new ArrayList<>(List.of(new DirectoryUse(1, 1, 1, 0, 0)));
        for (int depth = 0; depth < most / 2; depth++) {
            uses.add(new DirectoryUse(1_000 + depth, depth == 0 ? 1 : 999 + depth, 1, 0, 0));
        }
        for (int busy = 0; busy < most / 2; busy++) {
            uses.add(new DirectoryUse(10_000 + busy, 1, 1, 100, 0));
        }
        rates.report(1, uses, 0);
        assertThat(rates.size()).isEqualTo(most - most / 10);
        for (int busy = 0; busy < most / 2; busy++) {
            assertThat(rates.directory(10_000 + busy)).isNotNull();
        }
        assertThat(rates.directory(1_000)).isNotNull();
    }

    @Test
    void reportsThatContradictEachOtherDoNoHarm() {
        UseRates rates = new UseRates(100, Rules.of(MoveRule.eager("/")), 0);
        rates.report(
                1, List.of(new DirectoryUse(5, 6, 1, 1, 0), new DirectoryUse(6, 5, 1, 1, 0)), 0);
        rates.report(1, List.of(new DirectoryUse(1, 1, 0, 1, 0)), 0);
        rates.report(1, List.of(new DirectoryUse(7, 0, 1, -5, 1)), 0);
        assertThat(sum(rates, 1, 0)).isEqualTo(1);
        assertThat(rates.size()).isEqualTo(1);
    }

    @Test
    void aBudgetIsSpentAndFilledAgain() {
        Budget budget = new Budget(3_600, 0);
        assertThat(budget.left(0)).isPositive();
        budget.spend(4_000);
        assertThat(budget.left(300_000)).isNotPositive();
        assertThat(budget.left(500_000)).isPositive();
        budget.spend(100);
        assertThat(budget.left(500_000)).isNotPositive();
        assertThat(budget.left(100 * 3_600_000L)).isPositive();
        budget.spend(3_600);
        assertThat(budget.left(100 * 3_600_000L)).isNotPositive();
    }
}
