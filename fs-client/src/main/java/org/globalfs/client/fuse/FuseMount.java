package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.globalfs.client.vfs.FileSystem;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link Mount} whose kernel protocol is spoken here, directly to {@code /dev/fuse}. */
public final class FuseMount extends Mount {
    private static final Logger log = LoggerFactory.getLogger(FuseMount.class);

    private final FileSystem fileSystem;
    private final FuseDevice device;
    private final List<FuseDevice> devices = new CopyOnWriteArrayList<>();
    private final FuseKernelCache kernelCache;
    private final LockOperations locks;
    private final Watchdog watchdog;
    private final WorkerPool pool;
    private volatile @Nullable ConnectionGuard guard;

    private FuseMount(
            FileSystem fileSystem,
            Path mountpoint,
            FuseDevice device,
            MountOptions options,
            InitNegotiation.Agreement agreement,
            Submounts submounts) {
        super(fileSystem, mountpoint, options);
        this.fileSystem = fileSystem;
        this.device = device;
        String name = String.valueOf(mountpoint.getFileName());
        long timeoutNs = options.requestTimeout().toNanos();
        kernelCache = new FuseKernelCache(device, name, agreement, submounts, this::workers);
        locks = new LockOperations(fileSystem, statistics(), operations());
        watchdog = new Watchdog(timeoutNs, statistics(), locks);
        Dispatcher dispatcher =
                new Dispatcher(fileSystem, locks, kernelCache, statistics(), operations(), options);
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
        checkDevice();
    }

    /**
     * Finds out whether this user can mount anything, anywhere.
     *
     * @throws MountException as {@link #mount} would
     */
    public static void checkDevice() throws IOException {
        if (!Mounter.privileged()) {
            FuserMount.check();
        }
        FuseDevice.open().close();
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
            mount = new FuseMount(fileSystem, real, device, options, agreement, submounts(real));
            mount.start(options);
        } catch (IOException | RuntimeException | Error e) {
            Mounter.detach(real);
            device.close();
            throw e;
        }
        return mount;
    }

    private static Submounts submounts(Path mountpoint) throws IOException {
        MountTable.Mount mount = MountTable.at(mountpoint);
        if (mount == null) {
            throw new MountException(mountpoint + " was unmounted at once: mount it again");
        }
        return new Submounts(mount.device());
    }

    private void start(MountOptions options) throws IOException {
        String name = String.valueOf(mountpoint().getFileName());
        guard = ConnectionGuard.start(mountpoint());
        fileSystem.mounted(kernelCache);
        kernelCache.start();
        watchdog.start(pool, name);
        pool.start();
        Thread.ofPlatform().name("fuse-end-" + name).daemon().start(this::finish);
        Mounter.raiseReadAhead(mountpoint(), options.readAheadKb());
        if (options.unmountAtExit()) {
            closeAtExit();
        }
    }

    private List<Worker> workers() {
        return pool.workers();
    }

    @Override
    protected void drain() throws InterruptedException {
        pool.awaitDisconnected();
        if (!pool.awaitEmpty(DRAIN_MS)) {
            log.warn("requests on {} are still at work after the unmount", mountpoint());
        }
        locks.close();
        watchdog.end();
        kernelCache.end();
    }

    @Override
    protected void release() {
        if (pool.drained()) {
            devices.forEach(FuseDevice::close);
            device.close();
        }
        ConnectionGuard watching = guard;
        if (watching != null) {
            watching.close();
        }
    }
}
