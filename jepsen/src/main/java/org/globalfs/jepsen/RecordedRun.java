package org.globalfs.jepsen;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Clients of several agents do a workload's operations for a while, then what it wants at the end
 * is read; every entry is in the history. A client whose operation's outcome is unknown does
 * nothing more: another takes its place.
 */
final class RecordedRun {
    private static final int ANSWER_MS = 20_000;

    /** As long as that is what {@code check} calls too long, and a read that fails goes on. */
    private static final long READ_PATIENCE_NS = 20_000_000_000L;

    /**
     * How much longer than they should clients go on for a fault: until it is made ready, and is
     * over.
     */
    private static final long MOST_LONGER_NS = 90_000_000_000L;

    private static final long LAST_PATIENCE_NS = 120_000_000_000L;
    private static final long PAUSE_NS = 15_000_000;
    private static final long RETIRED_NS = 200_000_000;

    private final Workload workload;
    private final List<Agent> agents;
    private final Nemesis nemesis;
    private final Recording recording;
    private final long endNs;
    private final AtomicLong processes = new AtomicLong();

    /** What those held who have ended is given back, unseen by the history, only once all have. */
    private final Queue<AgentClient> last = new ConcurrentLinkedQueue<>();

    private RecordedRun(
            Workload workload,
            List<Agent> agents,
            Nemesis nemesis,
            Recording recording,
            long endNs) {
        this.workload = workload;
        this.agents = agents;
        this.nemesis = nemesis;
        this.recording = recording;
        this.endNs = endNs;
    }

    /**
     * Runs it; returns once the history is complete.
     *
     * @param endNs when no operation begins any more, if the history is not full before, and no
     *     fault is awaited that takes long to be made ready
     */
    static void run(
            Workload workload,
            List<Agent> agents,
            int clients,
            long endNs,
            long seed,
            Nemesis nemesis,
            Recording recording)
            throws IOException {
        RecordedRun run = new RecordedRun(workload, agents, nemesis, recording, endNs);
        nemesis.recordIn(recording);
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
        run.last.forEach(RecordedRun::close);
        List<Step> last = workload.last();
        if (last.isEmpty()) {
            nemesis.recordIn(null);
            return;
        }
        nemesis.rest();
        try {
            run.serially(last);
        } finally {
            nemesis.recordIn(null);
            nemesis.goOn();
        }
    }

    /** Makes the workload's folders, as soon as some region's client can. */
    static void prepare(Workload workload, List<Agent> agents) throws IOException {
        long deadlineNs = System.nanoTime() + LAST_PATIENCE_NS;
        for (int turn = 0; System.nanoTime() - deadlineNs < 0; turn++) {
            Agent agent = agents.get(turn % agents.size());
            AgentClient client = connect(agent, workload.preparations());
            if (client != null) {
                client.close();
                return;
            }
            LockSupport.parkNanos(RETIRED_NS);
        }
        throw new IOException("the folders of " + workload.checker() + " cannot be made");
    }

    /** What a process does before its first operation; null: its folders cannot be made now. */
    private @Nullable AgentClient begin(Agent agent, long process) {
        List<Map<String, Object>> all = new ArrayList<>(workload.preparations());
        all.addAll(workload.preparations(process));
        return connect(agent, all);
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
        while (goesOn()) {
            long process = processes.incrementAndGet();
            AgentClient client = begin(agent, process);
            if (client != null) {
                if (!serve(client, process, agent.region(), random)) {
                    last.add(client);
                    return;
                }
                close(client);
            }
            LockSupport.parkNanos(RETIRED_NS);
        }
    }

    private boolean goesOn() {
        return goesOn(System.nanoTime() - endNs, nemesis.isAwaited());
    }

    /**
     * Whether a client does something more.
     *
     * @param overNs for how long its time has been over
     * @param awaited see {@link Nemesis#isAwaited}
     */
    static boolean goesOn(long overNs, boolean awaited) {
        return overNs < (awaited ? MOST_LONGER_NS : 0);
    }

    private static void close(AgentClient client) {
        try {
            client.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Until an outcome is unknown; false: nothing more is to be done. */
    private boolean serve(AgentClient client, long process, String node, Random random) {
        while (goesOn()) {
            Step step = workload.next(process, random);
            if (!recording.invoke(process, node, step, workload.mostOperations())) {
                return false;
            }
            Answer answer = ask(client, step, recording::timeNs);
            Outcome outcome = answer.outcome();
            recording.complete(process, node, step, answer);
            workload.done(process, step, outcome);
            if (outcome.is("info")) {
                return true;
            }
            LockSupport.parkNanos(random.nextLong(PAUSE_NS));
        }
        return false;
    }

    /**
     * What became of it; content that cannot be read is asked for again.
     *
     * @param clock the history's
     */
    static Answer ask(AgentClient client, Step step, LongSupplier clock) {
        List<Long> refused = new ArrayList<>();
        long beganNs = clock.getAsLong();
        while (true) {
            long askedNs = clock.getAsLong();
            Outcome outcome = client.ask(step.request(), step.answerMs());
            boolean failed = outcome.is("info") && "EIO".equals(outcome.error());
            if (!step.patient() || !failed) {
                return new Answer(outcome, refused);
            }
            refused.addAll(List.of(askedNs, clock.getAsLong()));
            if (clock.getAsLong() - beganNs > READ_PATIENCE_NS) {
                return new Answer(outcome, refused);
            }
            LockSupport.parkNanos(RETIRED_NS);
        }
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
        AgentClient client = begin(agent, process);
        if (client == null) {
            LockSupport.parkNanos(RETIRED_NS);
            return Outcome.unknown("no agent");
        }
        try (client) {
            recording.invoke(process, agent.region(), step, Long.MAX_VALUE);
            Answer answer = ask(client, step, recording::timeNs);
            recording.complete(process, agent.region(), step, answer);
            return answer.outcome();
        }
    }
}
