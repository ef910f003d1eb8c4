package org.globalfs.multicast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.core.MutantCores;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.core.RingCore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Plants classic mistakes, one at a time: the simulator must catch each within some seeds. */
class MutantsTest {

    private static final int MOST_SEEDS = 2000;

    /** A mistake, and where it is planted. */
    enum Mutant {
        VOTE_BEFORE_SYNC,
        CONSTANT_BALLOT,
        PROMISE_FORGOTTEN_AT_RESTART,
        VOTES_COUNTED_FOR_DIFFERENT_VALUES(447),
        GAP_FILLED_WITHOUT_PHASE_1,
        IMPORT_OUT_OF_ORDER,
        TRIMMED_BEYOND_CHECKPOINT,
        TRIMMED_BEFORE_KNOWN_TO_BE_DECIDED(955),
        ACKNOWLEDGED_PAST_STEP_DOWN(666),
        TAKEN_AND_DROPPED,
        READ_BEFORE_BARRIER,
        LEASE_KEPT_PAST_STEP_DOWN,
        LEASE_GRANTED_UNSEEN_AT_RESTART,
        LOST_VOTES_IGNORED(217),
        SKIP_COUNTER_RESET_AT_TAKE_OVER,
        TURN_BROKEN_AT_RESUME,
        QUORUMS_THAT_DO_NOT_MEET_AFTER_A_CHANGE(312),
        READ_INDEX_UNCONFIRMED(2266);

        private final long provenSeed;

        Mutant() {
            this(1);
        }

        /**
         * @param provenSeed one that caught it once, tried first, as it spares many that do not; it
         *     counts for nothing once the simulator runs it differently
         */
        Mutant(long provenSeed) {
            this.provenSeed = provenSeed;
        }

        private Plan plan() {
            Plan sound = Plan.production();
            return switch (this) {
                case VOTE_BEFORE_SYNC -> sound.onDisks(EagerDisk::new);
                case CONSTANT_BALLOT -> sound.withCores(MutantCores::constantBallot);
                case PROMISE_FORGOTTEN_AT_RESTART -> sound.withCores(MutantCores::forgetful);
                case VOTES_COUNTED_FOR_DIFFERENT_VALUES -> sound.withCores(MutantCores::anyVote);
                case GAP_FILLED_WITHOUT_PHASE_1 -> sound.withCores(MutantCores::noPhase1);
                case IMPORT_OUT_OF_ORDER -> sound.withCores(MutantsTest::hastyImports);
                case TRIMMED_BEYOND_CHECKPOINT -> sound.onDisks(HastyDisk::new);
                case TRIMMED_BEFORE_KNOWN_TO_BE_DECIDED ->
                        sound.onDisks(CarelessDisk::new).withCores(MutantCores::trimsAlone);
                case ACKNOWLEDGED_PAST_STEP_DOWN -> sound.acknowledgingWhen(member -> true);
                case TAKEN_AND_DROPPED -> sound.withCores(MutantCores::droppedProposal);
                case READ_BEFORE_BARRIER -> sound.withCores(MutantCores::readsBeforeBarrier);
                case LEASE_KEPT_PAST_STEP_DOWN -> sound.withCores(MutantCores::leaseAfterStepDown);
                case LEASE_GRANTED_UNSEEN_AT_RESTART -> sound.withCores(MutantCores::unseenLease);
                case LOST_VOTES_IGNORED -> sound.withCores(MutantCores::careless);
                case SKIP_COUNTER_RESET_AT_TAKE_OVER -> sound.withCores(MutantCores::countsAnew);
                case TURN_BROKEN_AT_RESUME -> sound.resumingAt(MutantsTest::atTheNextTurn);
                case QUORUMS_THAT_DO_NOT_MEET_AFTER_A_CHANGE ->
                        sound.withCores(MutantCores::quorumOfTheFirstMembers);
                case READ_INDEX_UNCONFIRMED -> sound.withCores(MutantCores::unconfirmedReads);
            };
        }
    }

    private static RingCore hastyImports(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        ImportSource hasty = imports == null ? null : new HastyImports(imports);
        return RingCore.recover(config, state, hasty, nowNs);
    }

    /** Forgets how much of each ring's turn was left. */
    private static MergePosition atTheNextTurn(MergePosition at) {
        int turn = at.turn();
        return new MergePosition(
                turn,
                at.rings().stream()
                        .map(r ->
                                new RingPosition(
                                        r.ring(),
                                        r.instance(),
                                        (r.position() + turn - 1) / turn * turn,
                                        r.from()))
                        .toList());
    }

    /** Says that it is durable as soon as something is appended. */
    private static final class EagerDisk extends SimDisk {
        @Override
        boolean waitsForSync() {
            return false;
        }
    }

    /** Drops what a replica executed, though a crash still needs it. */
    private static final class HastyDisk extends SimDisk {
        @Override
        void trim(long checkpointed) {
            super.trim(checkpointed + 40);
        }
    }

    /** Drops votes that a checkpoint covers, though nothing durable says that they are decided. */
    private static final class CarelessDisk extends SimDisk {
        @Override
        long trimmable(long checkpointed) {
            return checkpointed;
        }
    }

    /** Now and then leaves an instance out. */
    private record HastyImports(ImportSource imports) implements ImportSource {
        @Override
        public long nextConcerning(int partition, long after) {
            long next = imports.nextConcerning(partition, after);
            long later = next < 0 ? -1 : imports.nextConcerning(partition, next);
            return later > 0 && next % 5 == 0 ? later : next;
        }

        @Override
        public long importedThrough(int partition) {
            return imports.importedThrough(partition);
        }
    }

    @ParameterizedTest
    @EnumSource
    void areCaught(Mutant mutant) {
        LongStream seeds =
                LongStream.concat(
                        LongStream.of(mutant.provenSeed), LongStream.rangeClosed(1, MOST_SEEDS));
        assertThat(seeds.anyMatch(seed -> isCaught(mutant, seed)))
                .as("%s is noticed within %s seeds", mutant, MOST_SEEDS)
                .isTrue();
    }

    private static boolean isCaught(Mutant mutant, long seed) {
        String failure = RingSimulation.run(seed, mutant.plan()).failure();
        if (failure == null) {
            return false;
        }
        String what = failure.lines().findFirst().orElse("");
        System.out.println(mutant + " caught by seed " + seed + ": " + what);
        return true;
    }
}
