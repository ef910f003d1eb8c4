package org.globalfs.client.io;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs transfers on other threads, some at a time, those of one region in order. A transfer to a
 * region that is silent keeps its place for long, so each region has a few places of its own,
 * beyond those that all share, and a place that becomes free is the region's that has the fewest.
 * Never more than twice as many run as share places: each takes memory. Thread-safe.
 */
final class RegionTurns {
    private static final Logger LOG = LoggerFactory.getLogger(RegionTurns.class);

    private final Executor threads;
    private final Executor beyond;
    private final int atATime;
    private final int own;

    /** Without those that nothing waits for; the region that has waited longest comes first. */
    private final Map<Integer, Deque<Runnable>> waiting = new LinkedHashMap<>();

    private final Map<Integer, Integer> runningOf = new HashMap<>();
    private int running;

    private record Turn(int region, Runnable task) {}

    /**
     * @param threads for what has a shared place
     * @param beyond for what a region begins in a place of its own while all others are taken
     * @param atATime places that all regions share
     * @param own places that a region has when others hold all of those
     */
    RegionTurns(Executor threads, Executor beyond, int atATime, int own) {
        this.threads = threads;
        this.beyond = beyond;
        this.atATime = atATime;
        this.own = own;
    }

    /** Throws what the executor throws when it takes no task. */
    void execute(int region, Runnable task) {
        Executor by;
        synchronized (waiting) {
            if (!mayBegin(region)) {
                waiting.computeIfAbsent(region, _ -> new ArrayDeque<>()).add(task);
                return;
            }
            by = running < atATime ? threads : beyond;
            count(region, 1);
        }
        begin(by, new Turn(region, task));
    }

    private boolean mayBegin(int region) {
        return running < atATime
                || (runningOf.getOrDefault(region, 0) < own && running < 2 * atATime);
    }

    private void count(int region, int change) {
        running += change;
        runningOf.merge(region, change, (before, by) -> before + by == 0 ? null : before + by);
    }

    /** With a place of those that run, which is free again when no thread takes the task. */
    private void begin(Executor by, Turn turn) {
        boolean begun = false;
        try {
            by.execute(() -> run(turn));
            begun = true;
        } finally {
            if (!begun) {
                synchronized (waiting) {
                    count(turn.region, -1);
                }
            }
        }
    }

    /** Whatever becomes of one task, the next has its turn. */
    private void run(Turn first) {
        Turn turn = first;
        while (turn != null) {
            try {
                turn.task.run();
            } catch (RuntimeException | Error e) {
                LOG.error("a transfer failed unexpectedly", e);
            }
            synchronized (waiting) {
                count(turn.region, -1);
                turn = next();
                if (turn != null) {
                    count(turn.region, 1);
                }
            }
        }
    }

    private @Nullable Turn next() {
        int found = -1;
        for (int region : waiting.keySet()) {
            boolean fewer =
                    found < 0
                            || runningOf.getOrDefault(region, 0) < runningOf.getOrDefault(found, 0);
            if (fewer && mayBegin(region)) {
                found = region;
            }
        }
        Deque<Runnable> tasks = waiting.remove(found);
        if (tasks == null) {
            return null;
        }
        Turn turn = new Turn(found, tasks.remove());
        if (!tasks.isEmpty()) {
            waiting.put(found, tasks);
        }
        return turn;
    }
}
