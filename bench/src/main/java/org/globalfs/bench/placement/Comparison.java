package org.globalfs.bench.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.globalfs.oracle.policy.Replay;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;

/** One workload under several policies. */
final class Comparison {

    /** What the optimum has to let a directory stay. */
    static final int OPTIMUM_STAY_S = 60;

    /**
     * How one of them did.
     *
     * @param share of all operations that were done in their directory's region, by interval
     * @param total the same of the whole time
     * @param moves of trees, {@code directories} and {@code bytes} of content with them
     */
    record Result(
            String name,
            List<Double> share,
            double total,
            int moves,
            long directories,
            long bytes) {
        Result {
            share = List.copyOf(share);
        }
    }

    private final Workload workload;
    private final int seconds;
    private final int interval;

    Comparison(long seed, int seconds, int interval) {
        this.workload = new Workload(seed, seconds);
        this.seconds = seconds;
        this.interval = interval;
    }

    /** As the first user of each directory has it, and nothing moves. */
    Result still() {
        return replay("nothing moves", MovePolicy.OFF);
    }

    /** The rule for whoever has it at once. */
    Result eager() {
        return replay("eager", new MovePolicy(List.of(MoveRule.eager("/"))));
    }

    /** A threshold for trees whose users change within minutes. */
    Result threshold() {
        return replay(
                "threshold",
                new MovePolicy(
                        List.of(
                                new MoveRule(
                                        "/",
                                        Optional.empty(),
                                        MoveRule.Kind.THRESHOLD,
                                        false,
                                        50,
                                        10,
                                        30_000,
                                        2,
                                        120_000,
                                        1_000_000,
                                        100L << 30))));
    }

    private Result replay(String name, MovePolicy policy) {
        Replay replay = new Replay(policy, workload::bytes);
        Shares shares = new Shares();
        int nextInterval = interval;
        for (Access access : workload.accesses()) {
            while (access.second() >= nextInterval) {
                shares.add(replay.soFar());
                nextInterval += interval;
            }
            replay.use(
                    access.second() * 1_000L,
                    Workload.REGIONS.get(access.region()),
                    access.directory(),
                    access.reads(),
                    access.writes());
        }
        Replay.Summary summary = replay.end();
        shares.add(summary);
        return new Result(
                name,
                shares.list,
                (double) summary.local() / summary.operations(),
                summary.moves().size(),
                summary.moves().stream().mapToLong(Replay.Move::directories).sum(),
                summary.moves().stream().mapToLong(Replay.Move::bytes).sum());
    }

    private static final class Shares {
        final List<Double> list = new ArrayList<>();
        private long local;
        private long operations;

        void add(Replay.Summary summary) {
            list.add((double) (summary.local() - local) / (summary.operations() - operations));
            local = summary.local();
            operations = summary.operations();
        }
    }

    /** What could have been. */
    Result optimum() {
        long[] local =
                Optimum.local(
                        workload.accesses(), Workload.REGIONS.size(), seconds, OPTIMUM_STAY_S);
        long[] all = new long[seconds];
        for (Access access : workload.accesses()) {
            all[access.second()] += access.operations();
        }
        List<Double> share = new ArrayList<>();
        for (int from = 0; from < seconds; from += interval) {
            int to = Math.min(seconds, from + interval);
            share.add((double) sum(local, from, to) / sum(all, from, to));
        }
        return new Result(
                "optimum", share, (double) sum(local, 0, seconds) / sum(all, 0, seconds), 0, 0, 0);
    }

    private static long sum(long[] values, int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += values[i];
        }
        return sum;
    }
}
