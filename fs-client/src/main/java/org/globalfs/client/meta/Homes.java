package org.globalfs.client.meta;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Map;

/**
 * Which partitions inodes live in, as far as this client has heard: hints. A wrong or forgotten one
 * costs a round trip, since whoever does not have an inode says where to ask. Thread-safe, of
 * bounded size.
 */
public final class Homes {

    private static final int BIRTH_SHIFT = 48;
    private static final long MOST = 1_000_000;

    private final Cache<Long, Integer> elsewhere;

    Homes() {
        this(MOST);
    }

    Homes(long most) {
        elsewhere = Caffeine.newBuilder().maximumSize(most).executor(Runnable::run).build();
    }

    /** The partition that an inode was born in. */
    public static int birth(long ino) {
        return (int) (ino >>> BIRTH_SHIFT);
    }

    /** Where the inode lives, to the best of this client's knowledge. */
    public int of(long ino) {
        Integer home = elsewhere.asMap().isEmpty() ? null : elsewhere.getIfPresent(ino);
        return home == null ? birth(ino) : home;
    }

    /** A replica said so. */
    void learn(Map<Long, Integer> homes) {
        homes.forEach(this::livesIn);
    }

    /** A partition told of the inode as its own. */
    public void livesIn(long ino, int partition) {
        if (partition != birth(ino)) {
            elsewhere.put(ino, partition);
        } else if (!elsewhere.asMap().isEmpty()) {
            elsewhere.invalidate(ino);
        }
    }
}
