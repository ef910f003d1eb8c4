package org.globalfs.client.io;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.protocol.wire.Extent;

/**
 * The {@link Fragments} of the files that this client wrote last, also of those that are closed: a
 * program may open its file for each small write. Thread-safe.
 */
final class FragmentedFiles {
    private final Map<Long, Fragments> files;

    /** MiBs that are being put in order, or wait to be tried again. */
    private final Set<Mib> underWay = new HashSet<>();

    private record Mib(long ino, long window) {}

    /**
     * @param most files known; of one that others push out counting begins anew
     */
    FragmentedFiles(int most) {
        files =
                new LinkedHashMap<>(16, 0.75f, true) {
                    @Override
                    protected boolean removeEldestEntry(Map.Entry<Long, Fragments> eldest) {
                        return size() > most;
                    }
                };
    }

    /**
     * Notes what was committed to a file; returns its MiBs to be looked at now, none for most of
     * the time.
     */
    synchronized List<Long> note(long ino, List<Extent> placed) {
        if (placed.stream().noneMatch(Fragments::isSmall)) {
            return List.of();
        }
        return files.computeIfAbsent(ino, i -> new Fragments()).note(placed);
    }

    /** False: somebody is at it already; to be ended with {@link #done}. */
    synchronized boolean begin(long ino, long window) {
        return underWay.add(new Mib(ino, window));
    }

    synchronized void done(long ino, long window) {
        underWay.remove(new Mib(ino, window));
    }
}
