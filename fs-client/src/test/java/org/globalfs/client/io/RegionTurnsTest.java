package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class RegionTurnsTest {

    private final List<Runnable> begun = new ArrayList<>();
    private final List<Runnable> begunBeyond = new ArrayList<>();
    private final List<Integer> done = new ArrayList<>();
    private boolean refuses;
    private final RegionTurns turns =
            new RegionTurns(
                    task -> {
                        if (refuses) {
                            throw new RejectedExecutionException("no thread");
                        }
                        begun.add(task);
                    },
                    begunBeyond::add,
                    2,
                    1);

    @Test
    void soManyAtATimeAndInOrder() {
        for (int i = 0; i < 4; i++) {
            int number = i;
            turns.execute(1, () -> done.add(number));
        }
        assertThat(begun).hasSize(2);
        begun.get(1).run();
        assertThat(done).containsExactly(1, 2, 3);
        begun.get(0).run();
        assertThat(done).containsExactly(1, 2, 3, 0);
    }

    /** Else nothing would be stored any more once this has happened often enough. */
    @Test
    void whatCouldNotBeBegunTakesNoTurn() {
        refuses = true;
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> turns.execute(1, () -> {}))
                    .isInstanceOf(RejectedExecutionException.class);
        }
        refuses = false;
        turns.execute(1, () -> done.add(1));
        begun.forEach(Runnable::run);
        assertThat(done).containsExactly(1);
    }

    /** Those of a silent region keep their places for a minute and more. */
    @Test
    void aRegionHasAPlaceWhateverOthersHold() {
        for (int i = 0; i < 4; i++) {
            turns.execute(2, () -> done.add(2));
        }
        turns.execute(1, () -> done.add(1));
        turns.execute(1, () -> done.add(1));
        assertThat(begun).hasSize(2);
        assertThat(begunBeyond).hasSize(1);
        begunBeyond.getFirst().run();
        assertThat(done).containsExactly(1, 1);
    }

    @Test
    void aPlaceThatBecomesFreeIsForWhoHasTheFewest() {
        RegionTurns shared = new RegionTurns(begun::add, begunBeyond::add, 2, 0);
        for (int region : new int[] {2, 2, 2, 1}) {
            shared.execute(region, () -> done.add(region));
        }
        begun.get(0).run();
        assertThat(done).containsExactly(2, 1, 2);
        assertThat(begunBeyond).isEmpty();
    }

    @Test
    void noMoreThanTwiceAsManyRun() {
        for (int region = 0; region < 10; region++) {
            turns.execute(region, () -> done.add(0));
        }
        assertThat(begun.size() + begunBeyond.size()).isEqualTo(4);
        begun.get(0).run();
        assertThat(done).hasSize(7);
    }

    @Test
    void whatFailsUnexpectedlyLeavesTheOthersTheirTurn() {
        turns.execute(
                1,
                () -> {
                    throw new IllegalStateException("for the test");
                });
        for (int i = 1; i < 4; i++) {
            int number = i;
            turns.execute(1, () -> done.add(number));
        }
        begun.get(0).run();
        assertThat(done).containsExactly(2, 3);
        turns.execute(1, () -> done.add(4));
        assertThat(begun).as("its place is free again").hasSize(3);
    }
}
