package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All workloads, one after the other, in the mounts of a running cluster, and their verdicts.
 *
 * @param agents one a mount
 * @param checker the program {@code check}
 * @param regional folders of regional partitions, of different ones, below each mount
 * @param global a folder of the global partition
 * @param folder where histories and drawings go
 */
public record Campaign(
        List<Agent> agents,
        Path checker,
        List<String> regional,
        String global,
        Path folder,
        Nemesis nemesis) {

    private static final int INVALID = 1;

    /**
     * A history's verdict.
     *
     * @param exitCode the checker's: 0 valid, 1 invalid, 2 malformed, 3 unknown
     */
    public record Verdict(String name, int exitCode, String text) {
        public boolean valid() {
            return exitCode == 0;
        }
    }

    private record Plan(Workload workload, boolean updatesOnly) {}

    private static Map<String, Plan> plans(List<String> regional, String global, long seed) {
        String here = regional.getFirst() + "/run-" + seed;
        String there = regional.getLast() + "/run-" + seed;
        String everywhere = global + "/run-" + seed;
        Map<String, Plan> plans = new LinkedHashMap<>();
        plans.put("register", all(Workloads.renamedRegister(here + "/register")));
        plans.put("exchange", all(Workloads.linkedRegister(there + "/exchange")));
        plans.put("append", all(Workloads.appends(here + "/append")));
        plans.put("names", all(Workloads.names(here + "/d", here + "/e", true)));
        plans.put("names-across", all(Workloads.names(here + "/f", there + "/f", true)));
        plans.put("flock", all(Workloads.locks(there + "/flock", "flock")));
        plans.put("ofd-lock", all(Workloads.locks(here + "/ofd", "ofd")));
        plans.put("fsync-set", all(Workloads.fsyncSet(here + "/set")));
        plans.put("counter", all(Workloads.counter(there + "/counter")));
        plans.put("content", all(Workloads.content(here + "/content")));
        plans.put(
                "sessions",
                all(Workloads.sessions(List.of(here + "/s", everywhere + "/s", there + "/s"))));
        plans.put(
                "global-names",
                new Plan(Workloads.names(everywhere + "/d", everywhere + "/e", true), true));
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
     * Runs the workloads of these names for {@code time} each.
     *
     * @param clients of all agents together
     * @param seed what operations there are follows from it, not when they are done
     */
    public List<Verdict> run(List<String> names, int clients, Duration time, long seed)
            throws IOException {
        Files.createDirectories(folder);
        List<Verdict> verdicts = new ArrayList<>();
        Map<String, Plan> plans = plans(regional, global, seed);
        for (String name : names) {
            Plan plan = plans.get(name);
            if (plan == null) {
                throw new IllegalArgumentException(
                        "no workload " + name + "; there are " + plans.keySet());
            }
            Path history = folder.resolve(name + ".edn");
            RecordedRun.run(plan.workload, agents, clients, time, seed, nemesis, history);
            verdicts.add(judge(name, plan, history));
        }
        return verdicts;
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
        return new Verdict(name, code, result.output().strip());
    }
}
