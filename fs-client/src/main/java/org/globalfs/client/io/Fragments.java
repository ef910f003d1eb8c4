package org.globalfs.client.io;

import java.util.List;
import java.util.TreeSet;
import org.globalfs.protocol.wire.Extent;

/**
 * Small extents committed to one file since fragmentation was looked for, and the MiBs that they
 * lie in, which are counted by {@link Compaction#WINDOW_BYTES}. Not thread-safe.
 */
final class Fragments {

    private final TreeSet<Long> windows = new TreeSet<>();
    private int extents;

    static boolean isSmall(Extent extent) {
        return extent.getLength() < Compaction.SMALL_BYTES;
    }

    /**
     * Notes what was committed; returns the MiBs to be looked at now, none for most of the time.
     */
    List<Long> note(List<Extent> placed) {
        for (Extent extent : placed) {
            if (!isSmall(extent)) {
                continue;
            }
            extents++;
            long last = (extent.getOffset() + extent.getLength() - 1) / Compaction.WINDOW_BYTES;
            for (long window = extent.getOffset() / Compaction.WINDOW_BYTES;
                    window <= last && windows.size() < Compaction.WINDOWS_NOTED;
                    window++) {
                windows.add(window);
            }
        }
        if (extents < Compaction.LOOK_AFTER_EXTENTS) {
            return List.of();
        }
        List<Long> due = List.copyOf(windows);
        windows.clear();
        // It may be well only as long as it is the file's end.
        windows.add(due.getLast());
        extents = 0;
        return due;
    }
}
