package org.globalfs.datastore.s3;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;

/** What a pass over a partition's objects has found and done, as it goes. Thread-safe. */
final class PassTally {
    private static final int MOST_PROBLEMS = 16;

    private final long pass;
    private final long startNs = System.nanoTime();
    private final List<String> problems = new ArrayList<>();
    private PassState state = PassState.RUNNING;
    private long endNs;
    private long total;
    private long done;
    private long bytesPerSecond;
    private long bad;
    private long made;
    private long left;
    private long unclear;
    private long lostBlocks;
    private long lostChunks;
    private long unreadable;

    /**
     * @param pass counted from 1
     */
    PassTally(long pass) {
        this.pass = pass;
    }

    /** What there will be to do, as far as it can be told now: objects, or their bytes. */
    synchronized void expect(long newTotal) {
        total = newTotal;
    }

    synchronized void limit(long newBytesPerSecond) {
        bytesPerSecond = newBytesPerSecond;
    }

    synchronized void did(long more) {
        done += more;
    }

    synchronized void bad(long chunks) {
        bad += chunks;
    }

    synchronized void made(long chunks) {
        made += chunks;
    }

    /** Chunks that should have been made anew, and may be later. */
    synchronized void left(long chunks, String problem) {
        left += chunks;
        problem(problem);
    }

    /** A block some of whose objects nobody can say anything of now. */
    synchronized void unclear(String problem) {
        unclear++;
        problem(problem);
    }

    /** A block of which too little is left. */
    synchronized void lost(long chunks, String problem) {
        lostBlocks++;
        lostChunks += chunks;
        problems.addFirst(problem); // nothing else is as bad
        if (problems.size() > MOST_PROBLEMS) {
            problems.removeLast();
        }
    }

    synchronized void unreadable(String problem) {
        unreadable++;
        problem(problem);
    }

    private void problem(String text) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(text);
        }
    }

    /**
     * @param how ended: it went through; waiting: it did not, and another one will
     */
    synchronized void end(PassState how) {
        state = how;
        endNs = System.nanoTime();
    }

    synchronized PassState state() {
        return state;
    }

    synchronized long madeChunks() {
        return made;
    }

    synchronized long leftChunks() {
        return left;
    }

    synchronized long unclearBlocks() {
        return unclear;
    }

    synchronized long lostBlocks() {
        return lostBlocks;
    }

    private long elapsedMs() {
        long untilNs = state == PassState.RUNNING ? System.nanoTime() : endNs;
        return TimeUnit.NANOSECONDS.toMillis(untilNs - startNs);
    }

    private long shownTotal() {
        return state == PassState.ENDED ? done : Math.max(done, total);
    }

    /** Where objects are counted. */
    synchronized RepairProgress repair() {
        return new RepairProgress(
                pass,
                state,
                elapsedMs(),
                shownTotal(),
                done,
                0,
                made,
                0,
                left,
                unclear,
                lostBlocks,
                List.of(),
                List.copyOf(problems));
    }

    /** Where bytes are counted. */
    synchronized ScrubProgress scrub() {
        return new ScrubProgress(
                pass,
                state,
                elapsedMs(),
                shownTotal(),
                done,
                bytesPerSecond,
                bad,
                made,
                left + lostChunks,
                unreadable + unclear,
                List.copyOf(problems));
    }
}
