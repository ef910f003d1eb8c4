package org.globalfs.client.vfs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.cache.Validity;
import org.globalfs.client.meta.Session;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the kernel's pages of open files within what this client may believe.
 *
 * <p>The kernel reads a page that it has without asking anybody, and when a file has become longer
 * it takes the rest of the page that was the last one for zeros. So:
 *
 * <ul>
 *   <li>pages of content that no running grant stands for are dropped as soon as they were read;
 *   <li>pages whose grant ends without a recall, because its lease was not renewed or its
 *       coordinator is gone, are dropped when it ends;
 *   <li>attributes of the file, its size among them, wait until pages that are to be dropped are
 *       gone.
 * </ul>
 *
 * A recall drops them as well, see {@link Recalls}. What is of partition 0 counts as granted for as
 * long as the cache believes it. Files that are not open do not matter: the next open drops pages
 * of another version.
 */
final class PageGrants implements AutoCloseable {

    private static final long SHORTEST_NAP_NS = 5_000_000L;
    private static final long LONGEST_NAP_NS = 1_000_000_000L;
    private static final long KERNEL_WAIT_MS = 1_000;
    private static final int KERNEL_WAITS = 60;

    private final MetadataCache cache;
    private final KernelPages pages;
    private final Session session;
    private final ConcurrentMap<Long, Held> held = new ConcurrentHashMap<>();
    private volatile @Nullable KernelCache kernel;
    private volatile @Nullable Thread watcher;
    private volatile long wakesAtNs;
    private volatile boolean closed;

    PageGrants(MetadataCache cache, KernelPages pages, Session session) {
        this.session = session;
        this.cache = cache;
        this.pages = pages;
    }

    /**
     * The pages that the kernel has of an open file: of which version, and by what right; null:
     * none, they are to be dropped. Compared by identity: each stands for what was read up to it.
     */
    private static final class Held {
        final long version;
        final @Nullable Validity validity;

        /** The kernel was told to drop them, or is about to be. */
        final boolean dropping;

        Held(long version, @Nullable Validity validity, boolean dropping) {
            this.version = version;
            this.validity = validity;
            this.dropping = dropping;
        }
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
        watcher = Thread.ofPlatform().daemon().name("page-grants").start(this::watch);
    }

    /**
     * Content of this version is about to be given to the kernel. Where it is to be dropped again,
     * that comes after the answer: the kernel would not believe an answer that ends sooner than the
     * file did, and show zeros up to there.
     */
    void read(long ino, long version) {
        KernelCache mounted = kernel;
        Validity validity = cache.contentValidity(ino, version);
        if (mounted != null && held(ino, version, validity, true) == null) {
            mounted.afterAnswer(() -> beginDrop(mounted, ino));
        }
    }

    /** What was {@link #read} is not the answer: it is read once more, which may take long. */
    void readAgain(long ino) {
        KernelCache mounted = kernel;
        Held pages = held.get(ino);
        if (mounted != null && pages != null && pages.validity == null) {
            beginDrop(mounted, ino);
        }
    }

    /**
     * The kernel has content of this version: a write of this client made it, or the open of the
     * file found that the pages of an earlier one are of it.
     */
    void known(long ino, long version) {
        hold(ino, version, cache.validity(ino, version));
    }

    /**
     * A write of this client that went past the kernel's pages made this version: those that it has
     * are old.
     */
    void outdated(long ino, long version) {
        pages.forget(ino);
        if (held.containsKey(ino)) {
            hold(ino, version, null);
        }
    }

    /** Whether the kernel may have pages of the inode. */
    boolean has(long ino) {
        return held.containsKey(ino);
    }

    private void hold(long ino, long version, @Nullable Validity validity) {
        KernelCache mounted = kernel;
        if (mounted != null && held(ino, version, validity, false) == null) {
            mounted.invalidateInode(ino, 0, 0);
            wakeBy(System.nanoTime());
        }
    }

    /**
     * Notes pages.
     *
     * @param dropping whoever calls sees to it that they are dropped where that has to be
     * @return by what right the kernel keeps them; null: they are to be dropped
     */
    private @Nullable Validity held(
            long ino, long version, @Nullable Validity validity, boolean dropping) {
        Held now =
                held.compute(
                        ino,
                        (key, before) -> {
                            boolean joins =
                                    before == null
                                            || (before.validity != null
                                                    && validity != null
                                                    && joins(before, version, validity));
                            Validity right = joins ? validity : null;
                            return new Held(version, right, right == null && dropping);
                        });
        if (now.validity != null) {
            wakeBy(System.nanoTime() + cache.leftNs(now.validity));
        }
        return now.validity;
    }

    /** Whether older pages are as good as those of this version. */
    private boolean joins(Held before, long version, Validity validity) {
        Validity earlier = before.validity;
        return before.version == version
                || (earlier != null && earlier.joins(validity) && cache.leftNs(earlier) > 0);
    }

    /** Nobody has the file open any more. */
    void closed(long ino) {
        held.remove(ino);
    }

    /**
     * To be called before the kernel is told attributes of the inode, or that it is locked: returns
     * once the kernel has no pages of it that may be old.
     *
     * @throws FsException EIO: the kernel would not drop them
     */
    void settle(long ino) throws FsException {
        Held pages = held.get(ino);
        if (pages != null && lapsed(pages)) {
            drop(ino);
        }
    }

    private boolean lapsed(Held pages) {
        return pages.validity == null || cache.leftNs(pages.validity) <= 0;
    }

    /**
     * Has the kernel drop all pages of the inode, and write back before what programs changed
     * through mappings; not for a thread that answers a read or a write.
     *
     * @throws FsException EIO: it did not within a minute
     */
    void drop(long ino) throws FsException {
        if (!dropped(ino)) {
            throw FsException.of(Errno.EIO, "the kernel keeps old content of inode " + ino);
        }
    }

    private boolean dropped(long ino) {
        KernelCache mounted = kernel;
        if (mounted == null) {
            return true;
        }
        // The kernel waits for reads of the pages, which may have met what this thread has changed.
        try (Session.Deferring _ = session.deferring()) {
            beginDrop(mounted, ino);
            int waits = 0;
            while (!mounted.awaitInode(ino, KERNEL_WAIT_MS)) {
                if (closed || ++waits == KERNEL_WAITS) {
                    return closed;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }

    private void beginDrop(KernelCache mounted, long ino) {
        // What is read from here on replaces this.
        Held gone =
                held.computeIfPresent(ino, (key, before) -> new Held(before.version, null, true));
        pages.forget(ino);
        mounted.invalidateInode(ino, 0, 0);
        if (gone != null) {
            mounted.afterInode(ino, () -> held.remove(ino, gone));
        }
    }

    private void wakeBy(long timeNs) {
        Thread thread = watcher;
        if (thread != null && timeNs - wakesAtNs < 0) {
            wakesAtNs = timeNs;
            LockSupport.unpark(thread);
        }
    }

    private void watch() {
        while (!closed) {
            long napNs = LONGEST_NAP_NS;
            wakesAtNs = System.nanoTime() + napNs;
            KernelCache mounted = kernel;
            for (var entry : held.entrySet()) {
                Validity validity = entry.getValue().validity;
                long leftNs = validity == null ? 0 : cache.leftNs(validity);
                if (leftNs > 0) {
                    napNs = Math.min(napNs, leftNs);
                } else if (mounted != null && !entry.getValue().dropping) {
                    // One that is being read or written may take long; others end meanwhile.
                    beginDrop(mounted, entry.getKey());
                }
            }
            long wakeNs = System.nanoTime() + Math.max(napNs, SHORTEST_NAP_NS);
            if (wakeNs - wakesAtNs < 0) {
                wakesAtNs = wakeNs;
            }
            LockSupport.parkNanos(this, Math.max(SHORTEST_NAP_NS, wakesAtNs - System.nanoTime()));
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(watcher);
    }
}
