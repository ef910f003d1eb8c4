package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.Consistency;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Regions lose touch at any step of a move, the way of its content included: one run for each step
 * and each region or link that can be cut. Meanwhile the others work on, in the tree too. Who asked
 * is dead, or asks on. Afterwards the tree is in one place and whole, nothing is held, and asking
 * again does the rest.
 */
final class MoveCutsTest {

    /** A vote is waited for in vain, and others decide then. */
    private static final long CUT_SECONDS = CutRegions.VOTE_TIMEOUT_MS / 1000 + 4;

    /** {@code -Dglobalfs.cuts=all}: some minutes more. */
    private static final String CUTS = "globalfs.cuts";

    /** Of steps of one name the first are enough. */
    private static final int ALIKE = "all".equals(System.getProperty(CUTS)) ? 2 : 1;

    private static final int CHANGED = 0600;

    /** Regions that do not reach each other; 0: it reaches none. */
    private record Cut(int one, int other) {
        static final List<Cut> ALL =
                List.of(new Cut(1, 0), new Cut(2, 0), new Cut(3, 0), new Cut(1, 2));

        void begin(CutRegions all) {
            if (other == 0) {
                all.isolate(one);
            } else {
                all.cut(one, other);
            }
        }
    }

    @TempDir private Path folder;
    private int trees;

    /**
     * @param asker the region that asks for the move
     * @param coordinator the region that coordinates ring 0 at first
     * @param lost whether what cannot be sent is lost and who asked asks on; else it is late, and
     *     who asked is dead
     */
    @ParameterizedTest
    @CsvSource({"1, 2, 3, 3, false", "1, 0, 3, 1, true"})
    void theMoveIsDoneOrUndone(int from, int to, int asker, int coordinator, boolean lost)
            throws IOException {
        cutAtEachStep(from, to, asker, coordinator, lost);
    }

    @EnabledIfSystemProperty(named = CUTS, matches = "all")
    @ParameterizedTest
    @CsvSource({"1, 2, 1, 2, true", "0, 2, 2, 1, false"})
    void theMoveIsDoneOrUndoneByOthersToo(
            int from, int to, int asker, int coordinator, boolean lost) throws IOException {
        cutAtEachStep(from, to, asker, coordinator, lost);
    }

    private void cutAtEachStep(int from, int to, int asker, int coordinator, boolean lost)
            throws IOException {
        try (CutRegions all = new CutRegions(folder)) {
            all.lose(lost);
            Plan plan = new Plan(from, to, asker, coordinator, lost);
            List<String> steps = steps(all, plan);
            assertThat(steps).containsAll(expected(from, to));
            Map<String, Integer> outcomes = new HashMap<>();
            Map<String, Integer> seen = new HashMap<>();
            for (int step = 0; step < steps.size(); step++) {
                if (seen.merge(steps.get(step), 1, Integer::sum) > ALIKE) {
                    continue;
                }
                for (Cut cut : Cut.ALL) {
                    String what = cut + " before step " + step + ", " + steps.get(step);
                    try {
                        outcomes.merge(
                                new Run(all, plan, tree(all, from), cut).at(step), 1, Integer::sum);
                    } catch (AssertionError | RuntimeException e) {
                        throw new AssertionError(plan + ", " + what + ": " + e.getMessage(), e);
                    }
                }
            }
            System.out.println(plan + ": " + outcomes);
            assertThat(outcomes).containsKeys("done", "undone");
            all.checkReplicas();
        }
    }

    private record Plan(int from, int to, int asker, int coordinator, boolean lost) {}

    private MovedTree tree(CutRegions all, int home) {
        return new MovedTree(all, "tree" + trees++, home);
    }

    /** Partition 0 votes with the prepare, and imports nothing. */
    private static List<String> expected(int from, int to) {
        List<String> expected =
                new ArrayList<>(
                        List.of(
                                "MOVE ordered",
                                "MOVE reaches 1",
                                "MOVE reaches 2",
                                "MOVE reaches 3",
                                "NOTICES ordered",
                                "CONFIRM_IMPORTS ordered",
                                "block copied to " + to,
                                "COMPACT ordered in " + to));
        for (int partition : List.of(from, to)) {
            if (partition != 0) {
                expected.add("Prepare imported by " + partition);
                expected.add("VOTE of " + partition + " ordered");
                expected.add("Commit imported by " + partition);
            }
        }
        return expected;
    }

    /** Those of a move that nothing befalls. */
    private List<String> steps(CutRegions all, Plan plan) {
        MovedTree tree = tree(all, plan.from);
        List<String> steps = new ArrayList<>();
        all.coordinate(plan.coordinator);
        all.beforeSteps(steps::add);
        Errand move = tree.move(plan.asker, plan.to);
        all.settle();
        all.beforeSteps(what -> {});
        assertThat(MovedTree.succeeded(move).getDone()).isPositive();
        assertThat(tree.homes()).containsOnly(plan.to);
        tree.remove(plan.asker);
        return steps;
    }

    /** One move that is cut at one step. */
    private static final class Run {
        private final CutRegions all;
        private final Plan plan;
        private final MovedTree tree;
        private final Cut cut;
        private final Map<Integer, Errand> atHome = new HashMap<>();
        private final Map<Integer, Errand> inRoot = new HashMap<>();
        private final Map<Integer, Errand> inTree = new HashMap<>();
        private final Map<Integer, Errand> changes = new HashMap<>();
        private final Map<Integer, Errand> renames = new HashMap<>();
        private int steps;
        private boolean begun;

        Run(CutRegions all, Plan plan, MovedTree tree, Cut cut) {
            this.all = all;
            this.plan = plan;
            this.tree = tree;
            this.cut = cut;
        }

        /** Whether it was done or undone, before it was asked for again. */
        String at(int step) {
            all.coordinate(plan.coordinator);
            all.beforeSteps(what -> {
                if (steps++ == step) {
                    begin();
                }
            });
            Errand move = tree.move(plan.asker, plan.to);
            all.until(() -> begun);
            all.beforeSteps(what -> {});
            if (!plan.lost) {
                all.forget(move);
            }
            all.pass(CUT_SECONDS);
            all.rest(true);
            all.pass(CUT_SECONDS);
            checkNothingIsHeldInTheMajority();
            all.forget(move);
            all.rest(false);
            all.pass(CUT_SECONDS);
            checkWorkGoesOn();
            all.heal();
            if (plan.lost) {
                all.goOn(move);
            }
            all.settle();
            assertThat(tree.homes()).hasSize(1);
            String outcome = tree.homes().contains(plan.to) ? "done" : "undone";
            assertThat(tree.homes()).isSubsetOf(plan.from, plan.to);
            if (plan.lost) {
                boolean inTheWay = MovedTree.succeeded(move).getStayedSize() > 0;
                assertThat(outcome).isEqualTo(inTheWay ? "undone" : "done");
            }
            checkAll();
            UpdateReply again = askAgain();
            assertThat(again.getStayed()).isEmpty();
            assertThat(again.getRest()).isEmpty();
            assertThat(tree.homes()).containsOnly(plan.to);
            assertThat(tree.regionsOfContent()).hasSize(7).containsOnly(plan.to);
            assertThat(all.state(plan.from).doomed(100)).containsAll(tree.blocks);
            checkAll();
            tree.remove(plan.asker);
            return outcome;
        }

        private UpdateReply askAgain() {
            Errand again = tree.move(plan.asker, plan.to);
            all.settle();
            return MovedTree.succeeded(again);
        }

        private void begin() {
            begun = true;
            cut.begin(all);
            for (int region = 1; region <= CutRegions.COUNT; region++) {
                atHome.put(region, tree.workAtHome(region));
                inRoot.put(region, tree.workInRoot(region));
                inTree.put(region, tree.workInTree(region));
                changes.put(region, tree.change(region, CHANGED));
                renames.put(region, tree.renameInto(region));
            }
        }

        private List<Integer> majority() {
            return IntStream.rangeClosed(1, CutRegions.COUNT)
                    .filter(all::inMajority)
                    .boxed()
                    .toList();
        }

        /**
         * Everybody can do what takes only those whom he reaches. Where the tree lived at first has
         * to be among them: clients ask there who do not know better.
         */
        private void checkWorkGoesOn() {
            atHome.values().forEach(MovedTree::succeeded);
            int home = all.global(majority().getFirst()).home(tree.top);
            for (int region : majority()) {
                MovedTree.succeeded(get(inRoot, region));
                if (reaches(region, plan.from) && reaches(region, home)) {
                    MovedTree.succeeded(get(inTree, region));
                    MovedTree.succeeded(get(changes, region));
                }
                if (takesPart(home)) {
                    MovedTree.succeeded(get(renames, region));
                }
            }
        }

        private boolean takesPart(int partition) {
            return partition == 0 || all.inMajority(partition);
        }

        private static Errand get(Map<Integer, Errand> errands, int region) {
            Errand errand = errands.get(region);
            assertThat(errand).isNotNull();
            return errand;
        }

        private boolean reaches(int region, int partition) {
            return partition == 0 || all.joined(region, partition);
        }

        private void checkNothingIsHeldInTheMajority() {
            for (int region : majority()) {
                assertThat(all.global(region).pendingTransactions()).isEmpty();
                assertThat(all.state(region).held()).as("held in %s", region).isEmpty();
            }
        }

        /** Once nothing is under way: what was acknowledged is there, and the tree is whole. */
        private void checkAll() {
            for (Map<Integer, Errand> each : List.of(atHome, inRoot, inTree, changes, renames)) {
                each.values().forEach(MovedTree::succeeded);
            }
            assertThat(tree.names())
                    .containsExactlyInAnyOrder(
                            "file", "below", "again", "made1", "made2", "made3", "came1", "came2",
                            "came3");
            assertThat(tree.mode()).isEqualTo(CHANGED);
            Consistency.check(all, CutRegions.COUNT);
        }
    }
}
