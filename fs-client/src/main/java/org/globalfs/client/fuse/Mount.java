package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file system mounted on a directory, whichever binding serves it. It ends by {@link #close}, by
 * umount(8) from outside, or by the end of the process; the file system is closed with it.
 * Thread-safe.
 *
 * <p>The process that serves a mount must not use it by path: a thread that waits for the kernel
 * can stop the garbage collector or hold a lock that the answer needs.
 */
public abstract class Mount implements AutoCloseable {
    /** How long the end of a mount waits for requests that are still at work. */
    protected static final long DRAIN_MS = 5_000;

    private static final Logger log = LoggerFactory.getLogger(Mount.class);

    /** How long close waits for users to leave before it ends their connection. */
    private static final long BUSY_GRACE_MS = 2_000;

    private static final long BUSY_RETRY_MS = 50;

    private final FileSystem fileSystem;
    private final Path mountpoint;
    private final OperationStatistics statistics = new OperationStatistics();
    private final OperationLog operations;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile Runnable afterExit = () -> {};
    private volatile @Nullable Thread exitHook;

    /** {@code mountpoint} without symbolic links. */
    protected Mount(FileSystem fileSystem, Path mountpoint, MountOptions options) {
        this.fileSystem = fileSystem;
        this.mountpoint = mountpoint;
        operations = new OperationLog(options.slowOperation().toNanos(), options.trace());
    }

    /** The directory, without symbolic links. */
    public final Path mountpoint() {
        return mountpoint;
    }

    public final OperationStatistics statistics() {
        return statistics;
    }

    public final OperationLog operations() {
        return operations;
    }

    public final boolean mounted() {
        return ended.getCount() > 0;
    }

    /**
     * What is done after {@link #close} when the process is told to end, which it does as soon as
     * this returns, whatever other threads are at.
     */
    public final void afterExit(Runnable work) {
        afterExit = work;
    }

    /** Waits until it is unmounted, by whomever, and the file system closed. */
    public final void await() throws InterruptedException {
        ended.await();
    }

    /**
     * Makes everything durable and unmounts; users that do not leave within two seconds lose the
     * connection (ENOTCONN). Returns when it is done.
     */
    @Override
    public final void close() {
        try {
            if (closing.compareAndSet(false, true)) {
                unmount();
            }
            if (!ended.await(2 * DRAIN_MS, TimeUnit.MILLISECONDS)) {
                log.warn("{} is unmounted, but some programs still use files of it", mountpoint);
                // The process may end now, and with it all that they have written meanwhile.
                syncAll();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void unmount() throws InterruptedException {
        if (!mounted()) {
            return;
        }
        syncAll();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BUSY_GRACE_MS);
        int errno = Mounter.unmount(mountpoint);
        while (errno == Errno.EBUSY.number() && System.nanoTime() - deadline < 0) {
            if (ended.await(BUSY_RETRY_MS, TimeUnit.MILLISECONDS)) {
                return;
            }
            errno = Mounter.unmount(mountpoint);
        }
        if (errno == Errno.EBUSY.number()) {
            log.warn("{} is in use: unmounting it all the same", mountpoint);
            syncAll();
            Mounter.detach(mountpoint);
            detached();
        } else if (errno != 0) {
            log.info("{} was not mounted any more: {}", mountpoint, Errno.of(errno));
        }
    }

    private void syncAll() {
        try {
            fileSystem.syncAll();
        } catch (FsException | RuntimeException e) {
            log.error("not everything written to {} could be made durable", mountpoint, e);
        }
    }

    /**
     * The mountpoint without symbolic links, found without touching what may be mounted on it.
     *
     * @throws MountException it does not exist
     */
    protected static Path resolve(Path mountpoint) throws IOException {
        return Mounter.resolve(mountpoint);
    }

    /** From now on the end of the process closes the mount first. */
    protected final void closeAtExit() {
        Thread hook =
                Thread.ofPlatform()
                        .name("mount-exit-" + mountpoint.getFileName())
                        .unstarted(() -> {
                            close();
                            afterExit.run();
                        });
        Runtime.getRuntime().addShutdownHook(hook);
        exitHook = hook;
    }

    /**
     * Runs on a thread of the binding's, once, when the kernel or the library serves the mount no
     * longer, whoever unmounted: {@link #drain}, then everything durable and the file system
     * closed, then {@link #release}.
     */
    protected final void finish() {
        try {
            drain();
            syncAll();
            fileSystem.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            log.error("closing the file system of {} failed", mountpoint, e);
        } finally {
            release();
            forgetHook();
            log.info("unmounted {}", mountpoint);
            ended.countDown();
        }
    }

    /** The mount was taken from its users; who still waits for an answer gets none. */
    protected void detached() {}

    /** Waits until no request is at work, but not longer than {@link #DRAIN_MS}. */
    protected abstract void drain() throws InterruptedException;

    /** Gives back what the binding holds; the file system is closed. */
    protected void release() {}

    private void forgetHook() {
        Thread hook = exitHook;
        if (hook == null) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            log.debug("the process is exiting");
        }
    }
}
