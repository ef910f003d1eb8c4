package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.jepsen.fault.FaultKind;
import org.globalfs.jepsen.report.Verdict;

/**
 * All workloads, one after the other, in the mounts of a running cluster, and their verdicts.
 *
 * @param agents one a mount
 * @param checker the program {@code check}
 * @param regional folders of regional partitions, of different ones, below each mount
 * @param global a folder of the global partition
 * @param folder where histories and drawings go
 */
record Campaign(
        List<Agent> agents,
        Path checker,
        List<String> regional,
        String global,
        Path folder,
        Nemesis nemesis) {

    /** Before a partition's name, in the name of the folder whose content is there. */
    static final String AT = "at-";

    private static final int INVALID = 1;

    /** A turn that is shorter makes no history. */
    static final Duration LEAST = Duration.ofMillis(500);

    private static final long LEAST_NS = LEAST.toNanos();
    private static final long RUNS = 100_000;
    private static final int TRIES = 3;

    record Plan(Workload workload, boolean updatesOnly) {}

    static Map<String, Plan> plans(List<String> regional, String global, long seed) {
        String here = regional.getFirst() + "/run-" + seed;
        String there = regional.getLast() + "/run-" + seed;
        String everywhere = global + "/run-" + seed;
        Map<String, Plan> plans = new LinkedHashMap<>();
        plans.put("register", all(Workloads.renamedRegister(here + "/register")));
        plans.put("exchange", all(Workloads.linkedRegister(there + "/exchange")));
        plans.put("append", all(Workloads.appends(here + "/append")));
        plans.put("names", all(Workloads.names(here + "/d", here + "/e", true)));
        plans.put("names-across", all(Workloads.names(here + "/f", there + "/f", true)));
        plans.put("wandering", all(new Wandering(List.of(here + "/w", here + "/v", there + "/w"))));
        plans.put("flock", all(Workloads.locks(there + "/flock", "flock")));
        plans.put("ofd-lock", all(Workloads.locks(here + "/ofd", "ofd")));
        plans.put("fsync-set", all(Workloads.fsyncSet(here + "/set")));
        plans.put("counter", all(Workloads.counter(there + "/counter")));
        plans.put("content", all(Workloads.content(here + "/content")));
        plans.put("large", all(Workloads.large(there + "/large")));
        plans.put(
                "sessions",
                all(Workloads.sessions(List.of(here + "/s", everywhere + "/s", there + "/s"))));
        plans.put("comments", all(new Comments(everywhere + "/c", there + "/c")));
        plans.put(
                "global-names",
                new Plan(Workloads.names(everywhere + "/d", everywhere + "/e", false), true));
        plans.put("global-large", all(Workloads.globalLarge(everywhere + "/large")));
        return plans;
    }

    private static Plan all(Workload workload) {
        return new Plan(workload, false);
    }

    /** The names of the workloads. */
    public static List<String> names() {
        return List.copyOf(plans(List.of(""), "", 0).keySet());
    }

    /**
     * Runs the workloads of these names in turn, each for a slice of time, all over again until the
     * whole time is over, at least once. Histories are judged beside the next ones.
     *
     * @param clients of all agents together
     * @param seed what operations there are follows from it, not when they are done
     */
    public List<Verdict> run(
            List<String> names, int clients, Duration slice, Duration whole, long seed)
            throws IOException {
        Files.createDirectories(folder);
        List<Future<Verdict>> judged = new ArrayList<>();
        AtomicInteger runs = new AtomicInteger();
        long endNs = System.nanoTime() + whole.toNanos();
        try (ExecutorService judge = Executors.newSingleThreadExecutor()) {
            do {
                for (String name : names) {
                    slice(name, clients, slice, seed, runs, judged, judge);
                }
            } while (endNs - System.nanoTime() > LEAST_NS);
        }
        List<Verdict> verdicts = new ArrayList<>();
        for (Future<Verdict> verdict : judged) {
            verdicts.add(result(verdict));
        }
        return verdicts;
    }

    private static Verdict result(Future<Verdict> verdict) throws IOException {
        try {
            return verdict.get();
        } catch (ExecutionException e) {
            throw new IOException("a history could not be judged", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while histories were judged", e);
        }
    }

    /**
     * A history that is full is followed by another, of operations elsewhere; and so is one in
     * which nothing at all was done, because all was down: it tells nothing.
     */
    private void slice(
            String name,
            int clients,
            Duration slice,
            long seed,
            AtomicInteger runs,
            List<Future<Verdict>> judged,
            ExecutorService judge)
            throws IOException {
        long leftNs = slice.toNanos();
        int tries = 1;
        while (leftNs > LEAST_NS) {
            int run = runs.incrementAndGet();
            long runSeed = seed * RUNS + run;
            Plan plan = plans(regional, global, runSeed).get(name);
            if (plan == null) {
                throw new IllegalArgumentException(
                        "no workload " + name + ": there are " + names());
            }
            RecordedRun.prepare(plan.workload, agents);
            long beginNs = System.nanoTime();
            Path history = folder.resolve(name + "-" + run + ".edn");
            long done;
            try (Recording recording = new Recording(history)) {
                recording.begun(partitions(plan.workload), Instant.now());
                RecordedRun.run(
                        plan.workload,
                        agents,
                        clients,
                        beginNs + leftNs,
                        runSeed,
                        nemesis,
                        recording);
                done = recording.done();
            }
            if (done == 0 && tries < TRIES) {
                System.out.println(history + ": nothing could be done; another try");
                tries++;
                leftNs = slice.toNanos();
                continue;
            }
            leftNs -= System.nanoTime() - beginNs;
            judged.add(judge.submit(() -> judge(name, plan, history)));
        }
    }

    /** What has to be in reach for all of its operations; between regions the global one too. */
    private List<String> partitions(Workload workload) {
        Set<String> partitions = new LinkedHashSet<>();
        for (Map<String, Object> request : workload.preparations()) {
            String top = String.valueOf(request.get("dir")).replaceFirst("/.*", "");
            partitions.add(top.replaceFirst("^" + AT, ""));
        }
        if (partitions.size() > 1) {
            partitions.add(FaultKind.GLOBAL);
        }
        return List.copyOf(partitions);
    }

    private Verdict judge(String name, Plan plan, Path history) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(checker.toString(), "-html", folder.toString()));
        if (plan.updatesOnly) {
            command.add("-updates-only");
        }
        command.add(plan.workload.checker());
        command.add(history.toString());
        GoProgram.Result result = GoProgram.run(folder, command);
        int code = result.exitCode() > INVALID + 2 ? INVALID + 1 : result.exitCode();
        Verdict verdict = new Verdict(name, history, code, result.output().strip());
        if (!verdict.valid()) {
            System.out.println(verdict.text());
        }
        return verdict;
    }
}
