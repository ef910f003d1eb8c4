package org.globalfs.cli.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.datastore.wire.RepairProgress;

/**
 * Has storage nodes, or who looks after buckets, go through their chunks now, and shows how far
 * they are.
 */
public final class PassOperator {
    private final PassPlaces places;
    private final Consumer<String> out;
    private final ProgressView view;
    private final Times times;

    /**
     * How often to look.
     *
     * @param patienceMs how long a node that was asked may be silent, in which it may be started
     *     again
     */
    public record Times(long lookMs, long patienceMs) {
        public static final Times DEFAULT = new Times(1_000, 30_000);
    }

    /**
     * @param out told what comes of it, a line each
     */
    public PassOperator(PassPlaces places, Consumer<String> out, ProgressView view, Times times) {
        this.places = places;
        this.out = out;
        this.view = view;
        this.times = times;
    }

    /**
     * Has nodes read all their chunks, and mend the damaged ones.
     *
     * @param ids none: all that run
     * @param bytesPerSecond 0: as each is configured
     * @param waits until they are through
     */
    public void scrub(List<String> ids, long bytesPerSecond, boolean waits) throws Failure {
        List<NodeScrub> passes =
                begin(ids, id -> new NodeScrub(id, places, times.patienceMs, bytesPerSecond));
        finish(passes, waits, places.words().scrubAdvice());
    }

    /**
     * Has nodes make what lacks and move what is elsewhere.
     *
     * @param ids none: all that run
     * @param waits until they are through
     */
    public void repair(List<String> ids, boolean waits) throws Failure {
        List<NodeRepair> passes = begin(ids, id -> new NodeRepair(id, places, times.patienceMs));
        try {
            finish(passes, waits, places.words().repairAdvice());
        } finally {
            tellAway(passes);
        }
    }

    private <P extends NodePass> List<P> begin(List<String> ids, Function<String, P> kind)
            throws Failure {
        List<P> passes = new ArrayList<>();
        for (String id : ids.stream().distinct().toList()) {
            if (!places.place(id).up()) {
                throw new Failure(ExitCode.FAILED, id + " is down: start it first");
            }
            passes.add(kind.apply(id));
        }
        if (ids.isEmpty()) {
            for (PassPlaces.Place node : places.all()) {
                if (node.up()) {
                    passes.add(kind.apply(node.id()));
                } else if (node.missed()) {
                    out.accept(node.id() + " is down, and left out");
                }
            }
        }
        if (passes.isEmpty()) {
            throw new Failure(ExitCode.FAILED, places.words().none());
        }
        return passes;
    }

    private void finish(List<? extends NodePass> passes, boolean waits, String advice)
            throws Failure {
        try {
            look(passes);
            if (waits) {
                follow(passes);
            } else {
                passes.stream()
                        .filter(pass -> pass.complaint() == null)
                        .forEach(pass -> out.accept(pass.id() + ": " + pass.beginning()));
            }
        } finally {
            passes.forEach(NodePass::close);
        }
        List<String> complaints = new ArrayList<>();
        for (NodePass pass : passes) {
            String complaint = pass.complaint();
            if (complaint != null) {
                complaints.add(complaint);
                pass.problems().forEach(problem -> out.accept(pass.id() + ": " + problem));
            }
        }
        if (!complaints.isEmpty()) {
            boolean advise =
                    passes.stream().anyMatch(pass -> pass.hasEnded() && pass.left() != null);
            throw new Failure(
                    ExitCode.FAILED, String.join("; ", complaints) + (advise ? ": " + advice : ""));
        }
    }

    private void follow(List<? extends NodePass> passes) throws Failure {
        while (true) {
            view.show(passes.stream().map(NodePass::row).toList());
            if (passes.stream().allMatch(NodePass::isOver)) {
                return;
            }
            try {
                Thread.sleep(times.lookMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Failure(ExitCode.FAILED, "interrupted", e);
            }
            look(passes);
        }
    }

    /** All at once: one that does not answer holds no other up. */
    private static void look(List<? extends NodePass> passes) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            passes.forEach(pass -> threads.execute(pass::look));
        }
    }

    /** Says whose chunks were left alone, as they may come back. */
    private void tellAway(List<NodeRepair> passes) {
        Map<String, List<RepairProgress.Away>> byNode =
                passes.stream()
                        .filter(NodePass::hasEnded)
                        .flatMap(pass -> pass.away().stream())
                        .collect(
                                Collectors.groupingBy(
                                        RepairProgress.Away::id,
                                        TreeMap::new,
                                        Collectors.toList()));
        byNode.forEach((id, said) -> {
            long chunks = said.stream().mapToLong(RepairProgress.Away::chunks).sum();
            long inMs = said.stream().mapToLong(RepairProgress.Away::deadInMs).max().orElse(-1);
            out.accept(
                    Objects.requireNonNull(id)
                            + (inMs < 0
                                    ? " is away, and so is all of its region: "
                                    : " is away, for less than the grace (repairGrace): ")
                            + ProgressText.count(chunks, "chunk")
                            + (inMs < 0
                                    ? " of it not made anew before some node there is back"
                                    : " of it not made anew before "
                                            + ProgressText.time(inMs)
                                            + " from now, unless it is drained"));
        });
    }
}
