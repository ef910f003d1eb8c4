package org.globalfs.cli.ring;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingChangeKind;
import org.globalfs.protocol.wire.RingChangeReply;
import org.globalfs.protocol.wire.RingChangeRequest;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.jspecify.annotations.Nullable;

/**
 * Asks the rings' coordinators for changes, again and again until they are in force: a proposed
 * change that a fail-over undid is proposed once more.
 *
 * <p>A replica's home ring is merged with ring 0 in it, so it joins ring 0 first and leaves it
 * last.
 */
public final class RingOperator {
    private static final int ANSWER_MS = 4_000;
    private static final long PAUSE_MS = 200;

    private final Topology topology;
    private final long timeoutMs;
    private final Consumer<String> out;
    private String trouble = "";

    /**
     * @param topology every replica that is known, also those added since
     * @param timeoutMs how long each step may take
     * @param out told what happens, a line each
     */
    public RingOperator(Topology topology, long timeoutMs, Consumer<String> out) {
        this.topology = topology;
        this.timeoutMs = timeoutMs;
        this.out = out;
    }

    /**
     * Adds a running replica to its rings; a learner only, or an acceptor once it has caught up.
     */
    public void add(int id, boolean learner) throws Failure {
        for (int ring : new int[] {Topology.GLOBAL, home(id)}) {
            follow(ring, id);
            if (!learner) {
                promote(ring, id);
            }
        }
    }

    /** Makes a learner an acceptor of its rings. */
    public void promote(int id) throws Failure {
        promote(Topology.GLOBAL, id);
        promote(home(id), id);
    }

    /** Takes a replica out of its rings, whether it runs or not. */
    public void remove(int id) throws Failure {
        int home = home(id);
        remove(home, id);
        remove(Topology.GLOBAL, id);
    }

    /** A running replica takes another's place in its rings. */
    public void replace(int id, int by) throws Failure {
        if (id == by) {
            throw new Failure(
                    ExitCode.USAGE, "replica " + id + " cannot take its own place: name another");
        }
        int home = home(by);
        if (home(id) != home) {
            throw new Failure(
                    ExitCode.USAGE,
                    "replica "
                            + by
                            + " is not of the region of replica "
                            + id
                            + ": add the one and remove the other");
        }
        follow(Topology.GLOBAL, by);
        promote(Topology.GLOBAL, by);
        follow(home, by);
        change(
                new RingChangeRequest(home, RingChangeKind.REPLACE, id).setBy(by),
                "replica " + by + " decides instead of replica " + id);
        remove(Topology.GLOBAL, id);
    }

    private void follow(int ring, int id) throws Failure {
        change(
                new RingChangeRequest(ring, RingChangeKind.ADD, id)
                        .setAddress(site(id).ring().toString()),
                "replica " + id + " follows",
                "is an acceptor");
    }

    private void promote(int ring, int id) throws Failure {
        change(
                new RingChangeRequest(ring, RingChangeKind.PROMOTE, id),
                "replica " + id + " decides");
    }

    private void remove(int ring, int id) throws Failure {
        change(
                new RingChangeRequest(ring, RingChangeKind.REMOVE, id),
                "replica " + id + " has left");
    }

    private int home(int id) throws Failure {
        for (Topology.Region region : topology.regions()) {
            if (region.replicas().stream().anyMatch(site -> site.id() == id)) {
                return region.partition();
            }
        }
        throw new Failure(
                ExitCode.USAGE,
                "no replica "
                        + id
                        + " is known: list it in the topology with 'added: true', or start its server"
                        + " first");
    }

    private Topology.ReplicaSite site(int id) throws Failure {
        home(id);
        return topology.replica(id);
    }

    private void change(RingChangeRequest request, String done) throws Failure {
        change(request, done, "\0");
    }

    /**
     * @param already what a refusal says when there is nothing to do
     */
    private void change(RingChangeRequest request, String done, String already) throws Failure {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        String told = "";
        String ring = "ring " + request.getRing() + ": ";
        while (true) {
            RingChangeReply reply = ask(request);
            String detail = reply == null ? "no coordinator answers" + trouble : reply.getDetail();
            if (reply != null) {
                switch (reply.getResult()) {
                    case UNCHANGED -> {
                        out.accept(ring + done);
                        return;
                    }
                    case REFUSED -> {
                        if (detail.contains(already)) {
                            return;
                        }
                        throw new Failure(ExitCode.FAILED, ring + detail);
                    }
                    case PROPOSED, NOT_YET, NOT_COORDINATOR -> {}
                }
            }
            if (!detail.isEmpty() && !detail.equals(told)) {
                told = detail;
                out.accept(ring + detail + "; waiting");
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new Failure(
                        ExitCode.FAILED,
                        ring
                                + "not done in "
                                + timeoutMs / 1000
                                + " s"
                                + (told.isEmpty() ? "" : " (" + told + ")")
                                + ": run the command again to go on, it does each step once");
            }
            pause();
        }
    }

    private static void pause() throws Failure {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.FAILED, "interrupted", e);
        }
    }

    /** The coordinator's answer, or null. */
    private @Nullable RingChangeReply ask(RingChangeRequest request) {
        trouble = "";
        Set<Integer> candidates = new LinkedHashSet<>();
        Set<Integer> asked = new LinkedHashSet<>();
        for (Topology.ReplicaSite site : sites(request.getRing())) {
            candidates.add(site.id());
        }
        while (asked.size() < candidates.size()) {
            int next =
                    candidates.stream().filter(id -> !asked.contains(id)).findFirst().orElseThrow();
            asked.add(next);
            try (RpcClient client = client(topology.replica(next))) {
                RingChangeReply reply = client.call(MetadataCalls.CHANGE_RING, request, ANSWER_MS);
                switch (reply.getResult()) {
                    case PROPOSED, UNCHANGED, NOT_YET, REFUSED -> {
                        return reply;
                    }
                    case NOT_COORDINATOR -> {
                        // Who it says comes next, if it is a replica at all.
                        if (candidates.remove(reply.getCoordinator())) {
                            List<Integer> rest = new ArrayList<>(candidates);
                            candidates.clear();
                            candidates.addAll(asked);
                            candidates.add(reply.getCoordinator());
                            candidates.addAll(rest);
                        }
                    }
                }
            } catch (RpcException e) {
                // Another one may know the coordinator; if none does, this is told.
                trouble = "; replica " + next + ": " + e.getMessage();
            }
        }
        return null;
    }

    private List<Topology.ReplicaSite> sites(int ring) {
        return ring == Topology.GLOBAL
                ? topology.replicas()
                : topology.region(ring).map(Topology.Region::replicas).orElse(List.of());
    }

    private static RpcClient client(Topology.ReplicaSite site) {
        return new RpcClient(
                site.rpc().host(), site.rpc().port(), ANSWER_MS, RpcServer.DEFAULT_MAX_FRAME_BYTES);
    }

    /** What the newest answer of any replica says of each ring, a line each. */
    public List<String> list() {
        List<String> lines = new ArrayList<>();
        lines.add(
                String.format(
                        "%-16s %-10s %-11s %-20s %s",
                        "RING", "CHANGES", "COORDINATOR", "ACCEPTORS", "LEARNERS"));
        List<RingStatus> all = new ArrayList<>();
        for (Topology.ReplicaSite site : topology.replicas()) {
            try (RpcClient client = client(site)) {
                ReplicaStatus status =
                        client.call(MetadataCalls.STATUS, new StatusRequest(), ANSWER_MS);
                all.addAll(status.getRings());
            } catch (RpcException e) {
                lines.add("replica " + site.id() + " does not answer");
            }
        }
        lines.addAll(1, rows(all));
        return lines;
    }

    private List<String> rows(List<RingStatus> all) {
        List<String> rows = new ArrayList<>();
        Set<Integer> rings = new LinkedHashSet<>(List.of(Topology.GLOBAL));
        topology.regions().forEach(region -> rings.add(region.partition()));
        for (int ring : rings) {
            String name =
                    ring + " " + topology.region(ring).map(Topology.Region::name).orElse("global");
            RingStatus newest =
                    all.stream()
                            .filter(status -> status.getRing() == ring)
                            .max((a, b) ->
                                    a.getGeneration() != b.getGeneration()
                                            ? Integer.compare(a.getGeneration(), b.getGeneration())
                                            : Long.compare(a.getDecided(), b.getDecided()))
                            .orElse(null);
            rows.add(
                    newest == null
                            ? String.format("%-16s ?", name)
                            : String.format(
                                    "%-16s %-10d %-11s %-20s %s",
                                    name,
                                    newest.getGeneration(),
                                    newest.getCoordinator() < 0 ? "none" : newest.getCoordinator(),
                                    ids(newest.getAcceptors()),
                                    ids(newest.getLearners())));
        }
        return rows;
    }

    private static String ids(@Nullable List<Integer> ids) {
        return ids == null || ids.isEmpty()
                ? "-"
                : String.join(" ", ids.stream().map(String::valueOf).toList());
    }
}
