package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
 * A file system mounted on a directory. It ends by {@link #close}, by umount(8) from outside, or by
 * the end of the process; the file system is closed with it.
 *
 * <p>The process that serves a mount must not use it by path: a thread that waits for the kernel
 * can stop the garbage collector or hold a lock that the answer needs.
 */
public final class FuseMount implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FuseMount.class);

    /** How long close waits for users to leave before it ends their connection. */
    private static final long BUSY_GRACE_MS = 2_000;

    private static final long BUSY_RETRY_MS = 50;
    private static final long DRAIN_MS = 5_000;

    private final FileSystem fileSystem;
    private final Path mountpoint;
    private final FuseDevice device;
    private final List<FuseDevice> devices = new CopyOnWriteArrayList<>();
    private final OperationStatistics statistics = new OperationStatistics();
    private final OperationLog operations;
    private final FuseKernelCache kernelCache;
    private final LockOperations locks;
    private final Watchdog watchdog;
    private final WorkerPool pool;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile @Nullable Thread exitHook;
    private volatile @Nullable ConnectionGuard guard;

    private FuseMount(
            FileSystem fileSystem,
            Path mountpoint,
            FuseDevice device,
            MountOptions options,
            InitNegotiation.Agreement agreement) {
        this.fileSystem = fileSystem;
        this.mountpoint = mountpoint;
        this.device = device;
        String name = String.valueOf(mountpoint.getFileName());
        long timeoutNs = options.requestTimeout().toNanos();
        operations = new OperationLog(options.slowOperation().toNanos(), options.trace());
        kernelCache = new FuseKernelCache(device, name, agreement, this::workers);
        locks = new LockOperations(fileSystem, statistics, operations);
        watchdog = new Watchdog(timeoutNs, statistics, locks);
        Dispatcher dispatcher =
                new Dispatcher(fileSystem, locks, kernelCache, statistics, operations, options);
        pool =
                new WorkerPool(
                        options.readers(),
                        options.maxThreads(),
                        (owner, number) -> {
                            FuseDevice own = device.another();
                            if (own != device) {
                                devices.add(own);
                            }
                            return new Worker(
                                    owner,
                                    own,
                                    dispatcher,
                                    locks,
                                    watchdog,
                                    kernelCache,
                                    timeoutNs,
                                    "fuse-" + name + "-" + number);
                        });
    }

    /**
     * Finds out early whether a file system could be mounted here.
     *
     * @throws MountException as {@link #mount} would
     */
    public static void check(Path mountpoint) throws IOException {
        Mounter.prepare(Mounter.resolve(mountpoint));
        if (Mounter.privileged()) {
            FuseDevice.open().close();
        }
    }

    /**
     * Mounts and serves. The mountpoint is an existing directory; a dead GlobalFS mount there is
     * removed first.
     *
     * @throws MountException naming what is wrong and the mend; the file system is not closed then
     */
    public static FuseMount mount(FileSystem fileSystem, Path mountpoint, MountOptions options)
            throws IOException {
        Path real = Mounter.resolve(mountpoint);
        FuseDevice device = Mounter.mount(real, options);
        FuseMount mount;
        try {
            InitNegotiation.Agreement agreement =
                    InitNegotiation.run(device, options, fileSystem.servesLocks());
            log.info(
                    "mounted {}: FUSE {}.{}, kernel {}.{}",
                    real,
                    FuseFlags.MAJOR,
                    agreement.minor(),
                    FuseFlags.MAJOR,
                    agreement.kernelMinor());
            mount = new FuseMount(fileSystem, real, device, options, agreement);
            mount.start(options);
        } catch (IOException | RuntimeException | Error e) {
            Mounter.detach(real);
            device.close();
            throw e;
        }
        return mount;
    }

    private void start(MountOptions options) throws IOException {
        String name = String.valueOf(mountpoint.getFileName());
        guard = ConnectionGuard.start(mountpoint);
        fileSystem.mounted(kernelCache);
        kernelCache.start();
        watchdog.start(pool, name);
        pool.start();
        Thread.ofPlatform().name("fuse-end-" + name).daemon().start(this::finish);
        Mounter.raiseReadAhead(mountpoint, options.readAheadKb());
        if (options.unmountAtExit()) {
            Thread hook = Thread.ofPlatform().name("fuse-exit-" + name).unstarted(this::close);
            Runtime.getRuntime().addShutdownHook(hook);
            exitHook = hook;
        }
    }

    private List<Worker> workers() {
        return pool.workers();
    }

    /** The directory, without symbolic links. */
    public Path mountpoint() {
        return mountpoint;
    }

    public OperationStatistics statistics() {
        return statistics;
    }

    public OperationLog operations() {
        return operations;
    }

    public boolean mounted() {
        return ended.getCount() > 0;
    }

    /** Waits until it is unmounted, by whomever, and the file system closed. */
    public void await() throws InterruptedException {
        ended.await();
    }

    /**
     * Makes everything durable and unmounts; users that do not leave within two seconds lose the
     * connection (ENOTCONN). Returns when it is done.
     */
    @Override
    public void close() {
        try {
            if (closing.compareAndSet(false, true)) {
                unmount();
            }
            if (!ended.await(2 * DRAIN_MS, TimeUnit.MILLISECONDS)) {
                log.warn("{} is unmounted, but some programs still use files of it", mountpoint);
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

    /** Runs once the kernel has ended the connection, whoever unmounted. */
    private void finish() {
        try {
            pool.awaitDisconnected();
            if (!pool.awaitEmpty(DRAIN_MS)) {
                log.warn("requests on {} are still at work after the unmount", mountpoint);
            }
            locks.close();
            watchdog.end();
            kernelCache.end();
            syncAll();
            fileSystem.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            log.error("closing the file system of {} failed", mountpoint, e);
        } finally {
            if (pool.drained()) {
                devices.forEach(FuseDevice::close);
                device.close();
            }
            forgetHook();
            ConnectionGuard watching = guard;
            if (watching != null) {
                watching.close();
            }
            log.info("unmounted {}", mountpoint);
            ended.countDown();
        }
    }

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
