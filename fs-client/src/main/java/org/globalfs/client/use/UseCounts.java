package org.globalfs.client.use;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongToIntFunction;
import org.globalfs.protocol.wire.DirectoryUse;

/**
 * Counts reads and writes by directory, those of a file for the directory it was last found in.
 * Thread-safe, and of bounded size: what is not known any more, or would be too much, is counted
 * for a directory above or for none.
 */
public final class UseCounts {

    private static final long ROOT = 1;
    private static final long UNKNOWN = 0;
    private static final int COUNTED_DIRECTORIES = 10_000;
    private static final int KNOWN_DIRECTORIES = 50_000;
    private static final int KNOWN_FILES = 100_000;

    /** How far up room is looked for; parents that are out of date may go in a circle. */
    private static final int STEPS_UP = 64;

    private static final Count NONE = new Count(0, 0, 0);
    private static final Count READ = new Count(1, 0, 0);
    private static final Count WRITE = new Count(0, 1, 0);
    private static final Count READ_ASTRAY = new Count(1, 0, 1);
    private static final Count WRITE_ASTRAY = new Count(0, 1, 1);

    private final LongToIntFunction homes;
    private final int mostCounted;

    /** By directory. Changed entry by entry, so that whoever takes one takes all of it. */
    private final ConcurrentHashMap<Long, Count> counts = new ConcurrentHashMap<>();

    private final Cache<Long, Long> parents =
            Caffeine.newBuilder().maximumSize(KNOWN_DIRECTORIES).executor(Runnable::run).build();
    private final Cache<Long, Long> files =
            Caffeine.newBuilder().maximumSize(KNOWN_FILES).executor(Runnable::run).build();

    private record Count(long reads, long writes, long astray) {
        Count plus(Count other) {
            return new Count(reads + other.reads, writes + other.writes, astray + other.astray);
        }
    }

    /**
     * @param homes the partition that an inode lives in, as far as known
     */
    public UseCounts(LongToIntFunction homes) {
        this(homes, COUNTED_DIRECTORIES);
    }

    /**
     * @param mostCounted how many directories may have counts of their own, besides the root
     */
    UseCounts(LongToIntFunction homes, int mostCounted) {
        this.homes = homes;
        this.mostCounted = mostCounted;
    }

    /** A name in {@code parent} leads to the inode. */
    public void found(long ino, long parent, boolean directory) {
        Cache<Long, Long> known = directory ? parents : files;
        Long before = known.getIfPresent(ino);
        if (before == null || before != parent) {
            known.put(ino, parent);
        }
    }

    /** The inode, which may be of any type, was given a name in another directory. */
    public void moved(long ino, long parent) {
        parents.asMap().computeIfPresent(ino, (key, before) -> parent);
        files.asMap().computeIfPresent(ino, (key, before) -> parent);
    }

    /** An operation on an inode of any type that changes nothing. */
    public void read(long ino) {
        long directory = directoryOf(ino);
        add(directory, isAstray(ino, directory) ? READ_ASTRAY : READ);
    }

    /** An operation that changes an inode of any type. */
    public void write(long ino) {
        long directory = directoryOf(ino);
        add(directory, isAstray(ino, directory) ? WRITE_ASTRAY : WRITE);
    }

    /** An operation on a directory's names that changes nothing. */
    public void readIn(long directory) {
        add(directory, READ);
    }

    /** An operation that changes a directory's names. */
    public void writeIn(long directory) {
        add(directory, WRITE);
    }

    private boolean isAstray(long ino, long directory) {
        return ino != directory
                && directory != UNKNOWN
                && homes.applyAsInt(ino) != homes.applyAsInt(directory);
    }

    private long directoryOf(long ino) {
        if (ino == ROOT || parents.getIfPresent(ino) != null) {
            return ino;
        }
        Long directory = files.getIfPresent(ino);
        return directory == null ? UNKNOWN : directory;
    }

    private long parentOf(long directory) {
        if (directory == ROOT) {
            return ROOT;
        }
        Long parent = parents.getIfPresent(directory);
        return parent == null ? UNKNOWN : parent;
    }

    private void add(long directory, Count one) {
        long counted = directory;
        for (int step = 0; counted != UNKNOWN && !hasRoom(counted); step++) {
            counted = step < STEPS_UP ? parentOf(counted) : UNKNOWN;
        }
        if (counted != UNKNOWN) {
            counts.merge(counted, one, Count::plus);
        }
    }

    private boolean hasRoom(long directory) {
        return directory == ROOT
                || counts.mappingCount() < mostCounted
                || counts.containsKey(directory);
    }

    /**
     * What was counted since it was last taken, with all directories above as far as they are
     * known.
     */
    public List<DirectoryUse> take() {
        Map<Long, Count> taken = new HashMap<>();
        for (Long directory : counts.keySet()) {
            Count count = counts.remove(directory);
            if (count != null) {
                taken.put(directory, count);
            }
        }
        for (Long directory : List.copyOf(taken.keySet())) {
            addWay(taken, parentOf(directory));
        }
        return uses(taken);
    }

    /** A directory and all above it, as far as they are known, without what was counted. */
    public List<DirectoryUse> way(long directory) {
        Map<Long, Count> way = new HashMap<>();
        addWay(way, directory);
        return uses(way);
    }

    private void addWay(Map<Long, Count> taken, long directory) {
        long next = directory;
        while (next != UNKNOWN && taken.putIfAbsent(next, NONE) == null) {
            next = parentOf(next);
        }
    }

    private List<DirectoryUse> uses(Map<Long, Count> taken) {
        List<DirectoryUse> uses = new ArrayList<>(taken.size());
        taken.forEach((directory, count) ->
                uses.add(
                        new DirectoryUse(
                                        directory,
                                        parentOf(directory),
                                        homes.applyAsInt(directory),
                                        count.reads,
                                        count.writes)
                                .setAstray(count.astray)));
        return uses;
    }
}
