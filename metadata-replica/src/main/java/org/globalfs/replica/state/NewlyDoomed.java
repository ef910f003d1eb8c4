package org.globalfs.replica.state;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Blocks that were doomed lately, for whoever deletes them to begin with. Only in memory, and only
 * so many: the list of all that are doomed is in the records. Thread-safe.
 */
final class NewlyDoomed {
    static final int MOST = 16_384;

    private final Deque<BlockRef> blocks = new ArrayDeque<>();

    /** Beyond {@link #MOST} the oldest go. */
    synchronized void add(List<BlockRef> doomed) {
        for (BlockRef block : doomed) {
            if (blocks.size() == MOST) {
                blocks.removeFirst();
            }
            blocks.addLast(block);
        }
    }

    /** The oldest ones: they are not known here any more. */
    synchronized List<BlockRef> take(int limit) {
        List<BlockRef> taken = new ArrayList<>();
        while (taken.size() < limit && !blocks.isEmpty()) {
            taken.add(blocks.removeFirst());
        }
        return taken;
    }
}
