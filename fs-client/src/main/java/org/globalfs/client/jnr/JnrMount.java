package org.globalfs.client.jnr;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.client.fuse.Mount;
import org.globalfs.client.fuse.MountException;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.client.vfs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link Mount} through libfuse 2. Of the {@link MountOptions} it has no use for {@code readers}
 * and {@code maxThreads} (libfuse starts threads as it needs them), {@code readAheadKb} and {@code
 * explicitInvalidation} (the kernel keeps no content).
 */
public final class JnrMount extends Mount {
    private static final Logger log = LoggerFactory.getLogger(JnrMount.class);

    private final FileSystem fileSystem;
    private final Library library;
    private final Calls calls;

    /** True: the kernel is connected; false: it never will be. */
    private final CompletableFuture<Boolean> connected = new CompletableFuture<>();

    private JnrMount(FileSystem fileSystem, Path mountpoint, MountOptions options)
            throws MountException {
        super(fileSystem, mountpoint, options);
        this.fileSystem = fileSystem;
        library = Library.load(this::connected);
        Handles handles = new Handles();
        calls =
                new Calls(
                        fileSystem,
                        handles,
                        options.requestTimeout().toNanos(),
                        library::getContext,
                        statistics(),
                        operations(),
                        Thread.ofPlatform()
                                .name("jnr-" + mountpoint.getFileName() + "-", 1)
                                .daemon()
                                .factory());
        new InodeCalls(fileSystem, calls, handles, options.ioSizeBytes()).register(library);
        new NameCalls(fileSystem, calls).register(library);
        new FileCalls(fileSystem, calls, handles).register(library);
        new DirectoryCalls(fileSystem, calls, handles).register(library);
        new XattrCalls(fileSystem, calls).register(library);
        if (fileSystem.servesLocks()) {
            new LockCalls(fileSystem, calls).register(library);
        }
    }

    /**
     * Finds out early whether a file system could be mounted here.
     *
     * @throws MountException as {@link #mount} would
     */
    public static void check(Path mountpoint) throws IOException {
        FuseMount.check(mountpoint);
        Library.load(() -> {});
    }

    /**
     * Mounts and serves. The mountpoint is an existing directory; a dead GlobalFS mount there is
     * removed first.
     *
     * @throws MountException naming what is wrong and the mend; the file system is not closed then
     */
    public static JnrMount mount(FileSystem fileSystem, Path mountpoint, MountOptions options)
            throws IOException {
        FuseMount.check(mountpoint);
        JnrMount mount = new JnrMount(fileSystem, resolve(mountpoint), options);
        mount.start(options);
        return mount;
    }

    private void start(MountOptions options) throws MountException {
        String[] arguments = arguments(options);
        Thread.ofPlatform()
                .name("jnr-main-" + mountpoint().getFileName())
                .daemon()
                .start(() -> serve(arguments));
        if (!connected.join()) {
            throw new MountException(
                    "cannot mount on "
                            + mountpoint()
                            + ": libfuse 2 wrote the reason to the standard error");
        }
        log.info("mounted {} through libfuse 2", mountpoint());
        if (options.unmountAtExit()) {
            closeAtExit();
        }
    }

    private String[] arguments(MountOptions options) {
        List<String> settings =
                new ArrayList<>(
                        List.of(
                                "fsname=" + options.source(),
                                // the type is fuse.globalfs, by which our mounts are known
                                "subtype=globalfs",
                                "use_ino",
                                "hard_remove",
                                // nothing tells the kernel that another client changed something
                                "attr_timeout=0",
                                "entry_timeout=0",
                                "negative_timeout=0",
                                "direct_io",
                                "atomic_o_trunc",
                                "big_writes",
                                "max_write=" + FileCalls.MAX_TRANSFER,
                                "max_read=" + FileCalls.MAX_TRANSFER));
        if (options.allowOther()) {
            settings.add("allow_other");
        }
        if (options.defaultPermissions()) {
            settings.add("default_permissions");
        }
        if (options.allowSetId()) {
            settings.add("suid");
        }
        if (options.allowDevices()) {
            settings.add("dev");
        }
        if (!options.allowExec()) {
            settings.add("noexec");
        }
        if (options.readOnly()) {
            settings.add("ro");
        }
        // -f: stay in this process
        return new String[] {
            "globalfs", "-f", mountpoint().toString(), "-o", String.join(",", settings)
        };
    }

    private void connected() {
        fileSystem.mounted(new NoKernelCache());
        connected.complete(true);
    }

    private void serve(String[] arguments) {
        int result = library.run(arguments);
        if (!connected.complete(false)) {
            log.debug("libfuse ended with {}", result);
            finish();
        }
    }

    @Override
    protected void detached() {
        calls.disconnect();
    }

    @Override
    protected void drain() throws InterruptedException {
        calls.disconnect();
        if (!calls.drain(DRAIN_MS)) {
            log.warn("requests on {} are still at work after the unmount", mountpoint());
        }
    }
}
