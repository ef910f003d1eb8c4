package org.globalfs.datastore.node;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;

/** What a pass of {@link Repair} has done and left, as it goes. Thread-safe. */
final class RepairTally {
    private static final int MOST_PROBLEMS = 16;

    /** What is counted; see {@link RepairProgress}. */
    enum Count {
        TOTAL,
        LOOKED,
        MOVED,
        REBUILT,
        TO_MOVE,
        TO_REBUILD,
        UNCLEAR,
        UNMADE,
        /** Of those to move and to rebuild: no place for them, until the epoch is another one. */
        HOMELESS
    }

    private final long pass;
    private final long startNs = System.nanoTime();
    private final Map<Count, Long> counts = new EnumMap<>(Count.class);
    private final Map<String, RepairProgress.Away> away = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();
    private PassState state = PassState.RUNNING;
    private boolean failed;
    private long endNs;

    RepairTally(long pass) {
        this.pass = pass;
    }

    /**
     * All is looked at from the first chunk on, perhaps not for the first time in this pass: what
     * is left is counted anew.
     *
     * @param total chunks to look at
     */
    synchronized void begin(long total) {
        for (Count count :
                List.of(
                        Count.TO_MOVE,
                        Count.TO_REBUILD,
                        Count.UNCLEAR,
                        Count.UNMADE,
                        Count.HOMELESS)) {
            counts.remove(count);
        }
        away.clear();
        problems.clear();
        counts.put(Count.TOTAL, of(Count.LOOKED) + total);
    }

    synchronized void add(Count count, long more) {
        counts.merge(count, more, Long::sum);
    }

    void add(Count count) {
        add(count, 1);
    }

    /** One more that could not be done. */
    synchronized void left(Count count, String problem) {
        add(count, 1);
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(problem);
        }
    }

    /** One more chunk whose home may come back soon. */
    synchronized void deferred(String home, long deadInMs) {
        RepairProgress.Away before = away.get(home);
        long chunks = before == null ? 0 : before.chunks();
        away.put(home, new RepairProgress.Away(home, chunks + 1, deadInMs));
    }

    synchronized long of(Count count) {
        return counts.getOrDefault(count, 0L);
    }

    /**
     * @param how ended: it went through; waiting: it did not, and another one will
     */
    synchronized void end(PassState how) {
        state = how;
        endNs = System.nanoTime();
    }

    /**
     * It ends before it went through, as another one would: who waits for it is told. What it has
     * not looked at is unclear.
     */
    synchronized void fail(String problem) {
        add(Count.UNCLEAR);
        problems.addFirst(problem);
        failed = true;
        end(PassState.ENDED);
    }

    synchronized PassState state() {
        return state;
    }

    synchronized RepairProgress progress() {
        long looked = of(Count.LOOKED);
        long untilNs = state == PassState.RUNNING ? System.nanoTime() : endNs;
        return new RepairProgress(
                pass,
                state,
                TimeUnit.NANOSECONDS.toMillis(untilNs - startNs),
                // chunks come and go meanwhile
                state == PassState.ENDED && !failed ? looked : Math.max(looked, of(Count.TOTAL)),
                looked,
                of(Count.MOVED),
                of(Count.REBUILT),
                of(Count.TO_MOVE),
                of(Count.TO_REBUILD),
                of(Count.UNCLEAR),
                of(Count.UNMADE),
                List.copyOf(away.values()),
                List.copyOf(problems));
    }
}
