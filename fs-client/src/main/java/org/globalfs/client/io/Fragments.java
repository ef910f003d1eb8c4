package org.globalfs.client.io;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.globalfs.protocol.wire.Extent;

/**
 * Small extents committed to one file since fragmentation was looked for, and the MiBs that they
 * lie in, which are counted by {@link Compaction#WINDOW_BYTES}. Guarded by the file's lock.
 */
final class Fragments {

    private final Set<Long> windows = new TreeSet<>();
    private int extents;

    /**
     * Notes what was committed; returns the MiBs to be looked at now, none for most of the time.
     */
    List<Long> note(List<Extent> placed) {
        for (Extent extent : placed) {
            if (extent.getLength() >= Compaction.SMALL_BYTES) {
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
        extents = 0;
        return due;
    }
}
