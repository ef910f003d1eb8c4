package org.globalfs.replica.service;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Which commands' times are certainly long past, though those times come from wall clocks, which
 * jump: a time that was the latest when this was told it is past ever since.
 */
final class Grace {
    /**
     * A client that opened a file just before its unlink has this long to say so: a minute, in
     * which each does so three times, but in trials whose mounts have short leases.
     */
    static final long NS = TimeUnit.SECONDS.toNanos(Long.getLong("globalfs.orphan.grace", 60));

    private record Told(long atNs, long timeNs) {}

    private final Deque<Told> recently = new ArrayDeque<>();
    private long overNs = Long.MIN_VALUE;

    /**
     * What was executed at an earlier time than the result was so a grace ago.
     *
     * @param nowNs of System.nanoTime
     * @param timeNs of the last command executed; never less than the time before
     */
    long over(long nowNs, long timeNs) {
        recently.addLast(new Told(nowNs, timeNs));
        for (Told first = recently.peekFirst();
                first != null && nowNs - first.atNs >= NS;
                first = recently.peekFirst()) {
            overNs = first.timeNs;
            recently.removeFirst();
        }
        return overNs;
    }
}
