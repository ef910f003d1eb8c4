package org.globalfs.client.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/**
 * Which version of a file's content the kernel's page cache holds, so that an open of the same
 * version need not throw it away.
 *
 * <p>The kernel's pages follow this mount's own writes. They are no longer of one version once a
 * page was read at another version, or another client's update came between two of ours.
 */
public final class KernelPages {

    private static final long MIXED = -1;
    private static final int FILES = 100_000;

    private final Cache<Long, Long> versions =
            Caffeine.newBuilder().maximumSize(FILES).executor(Runnable::run).build();

    /** The file is being opened at this version; true: the pages that the kernel has are of it. */
    public boolean opened(long ino, long version) {
        Long before = versions.asMap().put(ino, version);
        return before != null && before == version;
    }

    /**
     * Content of this version was given to the kernel. Newer than at the open does no harm: the
     * next open finds a newer version and drops all pages.
     */
    public void read(long ino, long version) {
        versions.asMap().computeIfPresent(ino, (key, known) -> version >= known ? known : MIXED);
    }

    /**
     * An update of this mount, which raises the version by {@code steps} when nobody else's came
     * before it, made this version.
     */
    public void changed(long ino, long version, int steps) {
        versions.asMap()
                .computeIfPresent(ino, (key, known) -> known == version - steps ? version : MIXED);
    }

    /** The kernel's pages are no good, or gone. */
    public void forget(long ino) {
        versions.invalidate(ino);
    }
}
