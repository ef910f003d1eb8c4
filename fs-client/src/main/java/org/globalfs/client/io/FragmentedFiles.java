package org.globalfs.client.io;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.protocol.wire.Extent;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Fragments} of the files that this client wrote last, also of those that are closed: a
 * program may open its file for each small write. Thread-safe.
 */
final class FragmentedFiles {
    private final Map<Long, Fragments> files;

    private final Map<Long, UnderWay> underWay = new HashMap<>();

    /** MiBs of a file that are being put in order, or wait to be tried again, and by whom. */
    private record UnderWay(FileContent content, Set<Long> windows) {}

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

    /**
     * MiBs of a file that it is to put in order, to be called before it may be closed.
     *
     * @return those that nobody is at already, each to be ended with {@link #done}
     */
    synchronized List<Long> begin(FileContent content, List<Long> windows) {
        if (windows.isEmpty()) {
            return List.of();
        }
        UnderWay file =
                underWay.computeIfAbsent(
                        content.ino(), i -> new UnderWay(content, new HashSet<>()));
        return windows.stream().filter(file.windows::add).toList();
    }

    synchronized void done(long ino, long window) {
        underWay.computeIfPresent(
                ino,
                (_, file) -> {
                    file.windows.remove(window);
                    return file.windows.isEmpty() ? null : file;
                });
    }

    /**
     * What puts a file in order, also once it is closed; null: nothing does. Who opens the file
     * anew has to write through it: what others write meanwhile has that refused.
     */
    synchronized @Nullable FileContent contentUnderWay(long ino) {
        UnderWay file = underWay.get(ino);
        return file == null ? null : file.content;
    }
}
