package org.globalfs.multicast.merge;

import java.util.Arrays;
import org.globalfs.multicast.ImportSource;

/**
 * The instances of ring 0 that the home partition still has to import, in memory. {@link #executed}
 * looks into the replica's state on the thread that executed ring 0, so that the event loop, which
 * asks what to import next, never does.
 */
public final class ImportFeed implements ImportSource {
    private final ImportSource state;
    private final int partition;

    /** Ascending, [first, end) are alive. */
    private long[] upcoming = new long[64];

    private int first;
    private int end;
    private long scanned;

    public ImportFeed(ImportSource state, int partition) {
        this.state = state;
        this.partition = partition;
    }

    /** Ring 0's state moved. True: there is something new to import. */
    public synchronized boolean executed() {
        scanned = Math.max(scanned, state.importedThrough(partition));
        boolean found = false;
        for (long next = state.nextConcerning(partition, scanned);
                next > scanned;
                next = state.nextConcerning(partition, scanned)) {
            add(next);
            scanned = next;
            found = true;
        }
        return found;
    }

    private void add(long instance) {
        if (end == upcoming.length) {
            int alive = end - first;
            long[] target = alive > upcoming.length / 2 ? new long[upcoming.length * 2] : upcoming;
            System.arraycopy(upcoming, first, target, 0, alive);
            upcoming = target;
            first = 0;
            end = alive;
        }
        upcoming[end++] = instance;
    }

    @Override
    public synchronized long nextConcerning(int ofPartition, long after) {
        long imported = state.importedThrough(ofPartition);
        while (first < end && upcoming[first] <= imported) {
            first++;
        }
        int at = Arrays.binarySearch(upcoming, first, end, after + 1);
        int next = at >= 0 ? at : -at - 1;
        return next < end ? upcoming[next] : -1;
    }

    @Override
    public long importedThrough(int ofPartition) {
        return state.importedThrough(ofPartition);
    }
}
