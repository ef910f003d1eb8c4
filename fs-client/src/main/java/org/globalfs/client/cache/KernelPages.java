package org.globalfs.client.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

/**
 * Which version of a file's content the kernel's page cache holds, so that an open of the same
 * version need not throw it away.
 *
 * <p>The kernel's pages follow this mount's own writes. They are no longer of one version once a
 * page was read at another version, or another client's update came between two of ours.
 *
 * <p>Pages of another version are gone only once the program that opened the file runs again, or
 * the kernel was told to drop them: until then no other open keeps them.
 */
public final class KernelPages {

    private static final Known MIXED = new Known(-1, null);
    private static final int FILES = 100_000;

    private final Cache<Long, Known> versions =
            Caffeine.newBuilder().maximumSize(FILES).executor(Runnable::run).build();

    /** Compared by identity. */
    private static final class Known {
        final long version;

        /** Until the kernel has dropped what it had of other versions; null: it has. */
        final @Nullable Dropping dropping;

        Known(long version, @Nullable Dropping dropping) {
            this.version = version;
            this.dropping = dropping;
        }
    }

    /** Compared by identity. */
    private static final class Dropping {}

    /** Has the kernel drop pages. */
    public interface Drop {
        /**
         * To return at once.
         *
         * @param stale false: the kernel knows of none of another version, unless it has been told
         *     to drop them before
         * @param dropped to be run when all that was to be dropped is
         */
        void begin(boolean stale, Runnable dropped);
    }

    /**
     * The file is being opened at this version; true: the pages that the kernel has are of it.
     *
     * @param drop is called at most once, before this returns, if they are not
     */
    public boolean opened(long ino, long version, Drop drop) {
        Dropping dropping = new Dropping();
        Known opened = new Known(version, dropping);
        boolean[] stale = {false};
        Known now =
                versions.asMap()
                        .compute(
                                ino,
                                (key, known) -> {
                                    stale[0] = known != null;
                                    return known != null && known.version == version
                                            ? known
                                            : opened;
                                });
        if (now != opened) {
            return now.dropping == null;
        }
        drop.begin(stale[0], () -> dropped(ino, dropping));
        return false;
    }

    private void dropped(long ino, Dropping dropping) {
        versions.asMap()
                .computeIfPresent(
                        ino,
                        (key, known) ->
                                known.dropping == dropping
                                        ? new Known(known.version, null)
                                        : known);
    }

    /**
     * Content of this version was given to the kernel. Newer than at the open does no harm: the
     * next open finds a newer version and drops all pages.
     */
    public void read(long ino, long version) {
        versions.asMap()
                .computeIfPresent(ino, (key, known) -> version >= known.version ? known : MIXED);
    }

    /**
     * An update of this mount, which raises the version by {@code steps} when nobody else's came
     * before it, made this version.
     */
    public void changed(long ino, long version, int steps) {
        versions.asMap()
                .computeIfPresent(
                        ino,
                        (key, known) ->
                                known.version == version - steps
                                        ? new Known(version, known.dropping)
                                        : MIXED);
    }

    /** The kernel's pages are no good, or gone. */
    public void forget(long ino) {
        versions.invalidate(ino);
    }
}
