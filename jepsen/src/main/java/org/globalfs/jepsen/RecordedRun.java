package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Clients of several agents do a workload's operations for a while, then what it wants at the end
 * is read; every entry is in the history. A client whose operation's outcome is unknown does
 * nothing more: another takes its place.
 */
final class RecordedRun {
    private static final int ANSWER_MS = 20_000;
    private static final long LAST_PATIENCE_NS = 120_000_000_000L;
    private static final long PAUSE_NS = 15_000_000;
    private static final long RETIRED_NS = 200_000_000;

    private final Workload workload;
    private final List<Agent> agents;
    private final Recording recording;
    private final long endNs;
    private final AtomicLong processes = new AtomicLong();

    private RecordedRun(Workload workload, List<Agent> agents, Recording recording, Duration time) {
        this.workload = workload;
        this.agents = agents;
        this.recording = recording;
        this.endNs = System.nanoTime() + time.toNanos();
    }

    /** Runs it; returns once the history is written. */
    static void run(
            Workload workload,
            List<Agent> agents,
            int clients,
            Duration time,
            long seed,
            Nemesis nemesis,
            Path history)
            throws IOException {
        try (Recording recording = new Recording(history)) {
            nemesis.recordIn(recording);
            RecordedRun run = new RecordedRun(workload, agents, recording, time);
            run.prepare();
            run.serially(workload.first());
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                Agent agent = agents.get(i % agents.size());
                Random random = new Random(seed * 31 + i);
                all.add(
                        CompletableFuture.runAsync(
                                () -> run.client(agent, random), Thread::startVirtualThread));
            }
            all.forEach(CompletableFuture::join);
            nemesis.recordIn(null);
            run.serially(workload.last());
        }
    }

    private void prepare() {
        long deadlineNs = System.nanoTime() + LAST_PATIENCE_NS;
        for (Agent agent : agents) {
            // a folder of the global partition is there a moment later in other regions
            while (connect(agent, workload.preparations()) == null) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new IllegalStateException("the folders cannot be made");
                }
                LockSupport.parkNanos(RETIRED_NS);
            }
        }
    }

    /** A connection over which these were done; null: not possible now. */
    private static @Nullable AgentClient connect(
            Agent agent, List<Map<String, Object>> preparations) {
        AgentClient client = null;
        try {
            client = agent.connect();
            for (Map<String, Object> request : preparations) {
                Outcome outcome = client.ask(request, ANSWER_MS);
                if (!outcome.is("ok")) {
                    client.close();
                    return null;
                }
            }
            return client;
        } catch (IOException e) {
            return null;
        }
    }

    private void client(Agent agent, Random random) {
        while (System.nanoTime() - endNs < 0) {
            long process = processes.incrementAndGet();
            AgentClient client = connect(agent, workload.preparations(process));
            if (client != null) {
                try (client) {
                    if (!serve(client, process, random)) {
                        return;
                    }
                } catch (IOException gone) {
                    // its outcome is noted; the connection need not be closed in order
                    LockSupport.parkNanos(RETIRED_NS);
                }
            }
            LockSupport.parkNanos(RETIRED_NS);
        }
    }

    /** Until an outcome is unknown; false: nothing more is to be done. */
    private boolean serve(AgentClient client, long process, Random random) {
        while (System.nanoTime() - endNs < 0) {
            Step step = workload.next(process, random);
            if (!recording.invoke(process, step, workload.mostOperations())) {
                return false;
            }
            Outcome outcome = client.ask(step.request(), ANSWER_MS);
            recording.complete(process, step, outcome);
            workload.done(process, step, outcome);
            if (outcome.is("info")) {
                return true;
            }
            LockSupport.parkNanos(random.nextLong(PAUSE_NS));
        }
        return false;
    }

    /** One after the other, each until its outcome is known. */
    private void serially(List<Step> steps) throws IOException {
        long deadlineNs = System.nanoTime() + LAST_PATIENCE_NS;
        int turn = 0;
        for (Step step : steps) {
            Outcome outcome;
            do {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new IOException("cannot be done: " + step);
                }
                outcome = once(step, agents.get(turn++ % agents.size()));
            } while (outcome.is("info"));
        }
    }

    private Outcome once(Step step, Agent agent) throws IOException {
        long process = processes.incrementAndGet();
        AgentClient client = connect(agent, List.of());
        if (client == null) {
            LockSupport.parkNanos(RETIRED_NS);
            return Outcome.unknown("no agent");
        }
        try (client) {
            recording.invoke(process, step, Long.MAX_VALUE);
            Outcome outcome = client.ask(step.request(), ANSWER_MS);
            recording.complete(process, step, outcome);
            return outcome;
        }
    }
}
