package org.globalfs.multicast.core;

import org.globalfs.multicast.ImportSource;
import org.jspecify.annotations.Nullable;

/** Cores with a planted fault, to see that the simulator catches what it is there for. */
public final class MutantCores {

    private MutantCores() {}

    /**
     * Every election of a node uses the same ballot, as if ballots were constants of the
     * configuration.
     */
    public static RingCore constantBallot(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            Ballot newBallot(long highestRoundSeen) {
                return new Ballot(1000, config.self());
            }
        };
    }

    /**
     * Leads once its own promise is made: fills gaps with Noops that phase 1 did not show to be
     * free.
     */
    public static RingCore noPhase1(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            int promisesNeeded() {
                return 1;
            }
        };
    }

    /** Lets its log go as far as its own checkpoint, whatever the others have. */
    public static RingCore trimsAlone(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            private long own;

            @Override
            public void onProgress(long applied, long checkpointed) {
                own = Math.max(own, checkpointed);
                super.onProgress(applied, checkpointed);
            }

            @Override
            public long trimmable() {
                return own;
            }
        };
    }

    /** Takes a read for confirmed without asking anybody. */
    public static RingCore unconfirmedReads(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            public ReadIndex.State state(ReadIndex read) {
                return super.state(read) == ReadIndex.State.LOST
                        ? ReadIndex.State.LOST
                        : ReadIndex.State.CONFIRMED;
            }
        };
    }

    /** Thinks of the ring as large as it began: after it has grown, two quorums need not meet. */
    public static RingCore quorumOfTheFirstMembers(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            int promisesNeeded() {
                return config.members().length / 2 + 1;
            }
        };
    }

    /** Forgets what it promised and accepted when it restarts, as if the log were never read. */
    public static RingCore forgetful(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        PersistedState forgot =
                new PersistedState(
                        Ballot.NONE,
                        Ballot.NONE,
                        1,
                        state.decided(),
                        state.lastTimestamp(),
                        java.util.List.of(),
                        0,
                        state.membership());
        return new RingCore(config, forgot, imports, nowNs);
    }

    /** Forgets after a restart that it may have acknowledged a heartbeat: votes at once. */
    public static RingCore unseenLease(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, Math.max(0, nowNs - config.leaseNs()));
    }

    /** Counts every vote for the ballot that it is in itself, whatever ballot it was given in. */
    public static RingCore anyVote(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            public void onMessage(int from, Message message, long now, Effects effects) {
                Message counted =
                        message instanceof Message.Voted vote
                                ? new Message.Voted(
                                        Ballot.max(vote.ballot(), ballot()),
                                        vote.through(),
                                        vote.decided())
                                : message;
                super.onMessage(from, counted, now, effects);
            }
        };
    }

    /** Goes on for a lease with what it had when it stopped to be coordinator. */
    public static RingCore leaseAfterStepDown(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            private long lastInstance = -1;
            private long keptUntilNs;

            @Override
            public long leaseInstance(long now) {
                lastInstance = Math.max(lastInstance, super.leaseInstance(now));
                return leaseRemainingNs(now) > 0 ? lastInstance : -1;
            }

            @Override
            public long leaseRemainingNs(long now) {
                long remaining = super.leaseRemainingNs(now);
                if (remaining > 0) {
                    keptUntilNs = now + remaining + config.leaseNs();
                }
                return remaining > 0 ? remaining : Math.max(0, keptUntilNs - now);
            }
        };
    }

    /** Now and then takes a value and forgets it. */
    public static RingCore droppedProposal(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            private int taken;

            @Override
            public boolean onPropose(byte[] value, int[] destinations, Effects effects) {
                return ++taken % 5 == 0 || super.onPropose(value, destinations, effects);
            }
        };
    }

    /** Reads as of the prefix that was decided when it was elected, without the barrier. */
    public static RingCore readsBeforeBarrier(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            public long leaseInstance(long now) {
                return super.leaseInstance(now) < 0 ? -1 : decided();
            }
        };
    }

    /** Takes part again at once after its log was lost, as if it were new. */
    public static RingCore careless(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        PersistedState asNew =
                new PersistedState(
                        state.promised(),
                        state.opened(),
                        state.base(),
                        state.decided(),
                        state.lastTimestamp(),
                        state.accepted(),
                        0,
                        state.membership());
        return new RingCore(config, asNew, imports, nowNs);
    }

    /**
     * Counts its ring's logical position itself, from its election on, as coordinators do whose
     * skips say how many instances to skip. Learners that say where they wait would make up for it,
     * so it does not hear them; that alone goes unnoticed while clocks do not jump.
     */
    public static RingCore countsAnew(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs) {
            @Override
            Skips newSkips(long electedNs) {
                return new Skips(config, electedNs) {
                    private long electedMs = -1;

                    @Override
                    void want(long position) {}

                    @Override
                    long target(long hybridMs) {
                        electedMs = electedMs < 0 ? hybridMs : electedMs;
                        return config.lambda() * (hybridMs - electedMs) / 1000;
                    }
                };
            }
        };
    }
}
