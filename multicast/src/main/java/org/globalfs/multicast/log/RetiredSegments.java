package org.globalfs.multicast.log;

import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Segments that are part of the log no more, until their last readers have left. Their files go
 * from the oldest on: after a crash, one that is missing between others would be damage.
 */
final class RetiredSegments {
    private final Consumer<Segment> recycler;
    private final ArrayDeque<Segment> waiting = new ArrayDeque<>();

    /**
     * @param recycler takes the files, in the order of the segments; called by whichever thread was
     *     the last reader
     */
    RetiredSegments(Consumer<Segment> recycler) {
        this.recycler = recycler;
    }

    /** The oldest one that is still part of the log. */
    void add(Segment segment) {
        synchronized (waiting) {
            waiting.add(segment);
        }
        segment.retire(this::recycle);
    }

    private void recycle() {
        synchronized (waiting) {
            while (!waiting.isEmpty() && waiting.peek().isFree()) {
                recycler.accept(waiting.remove());
            }
        }
    }
}
