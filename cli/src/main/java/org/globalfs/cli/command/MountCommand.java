package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.Logging;
import org.globalfs.cli.client.Connection;
import org.globalfs.cli.client.MachineName;
import org.globalfs.cli.cluster.BackgroundMount;
import org.globalfs.cli.server.FilesNeeded;
import org.globalfs.cli.server.LimitsNeeded;
import org.globalfs.client.control.ControlSocket;
import org.globalfs.client.fuse.Mount;
import org.globalfs.client.fuse.MountException;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.RootClaim;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.ProcessLimits;
import org.globalfs.protocol.Threads;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Mounts the tree and serves it until it is unmounted. */
@Command(
        name = "mount",
        description = "Mount the tree; serves until unmounted ('globalfs umount', Ctrl-C).",
        mixinStandardHelpOptions = true)
final class MountCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(MountCommand.class);

    /** For the session to end. */
    private static final int END_S = 10;

    /** Of a mount's heap, beside the cache and the quarter that grows with it. */
    private static final long BESIDE_BYTES = 112L << 20;

    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description = "The client's YAML file.")
    private Path config = Path.of("");

    @Option(
            names = "-o",
            paramLabel = "OPTION",
            split = ",",
            description =
                    "As mount(8): ro, rw, allow_other, suid, nosuid, dev, nodev, exec, noexec,"
                            + " sync, trace, threads=N, request_timeout=SECONDS, slow_operation_ms=MS, binding=NAME.")
    private List<String> flags = List.of();

    @Option(
            names = "--binding",
            paramLabel = "NAME",
            description =
                    "direct: GlobalFS speaks to the kernel itself (the default);"
                            + " jnr: through libfuse 2, for old kernels.")
    private @Nullable String binding;

    @Option(names = "--trace", description = "Log each operation, one line each.")
    private boolean trace;

    @Option(
            names = "--background",
            description = "Return once it is mounted; a process of its own serves.")
    private boolean background;

    @Option(
            names = "--log",
            paramLabel = "FILE",
            description = "With --background: where that process logs to.")
    private @Nullable Path log;

    @Option(
            names = "--claim-root",
            description =
                    "The root of a new tree, in which nobody has made anything yet, becomes this"
                            + " user's instead of root's.")
    private boolean claimRoot;

    @Option(names = "--verbose", description = "Log more.")
    private boolean verbose;

    @Mixin private RunFileOption runFile = new RunFileOption();

    @Parameters(
            paramLabel = "MOUNTPOINT",
            description = "An existing folder; what is in it is hidden meanwhile.")
    private Path mountpoint = Path.of("");

    @Override
    public Integer call() throws Exception {
        ClientConfig client = ConfigFiles.client(config);
        MountFlags wanted = MountFlags.of(client, flags(), trace);
        FilesNeeded.checkMount(OpenFiles.limit());
        LimitsNeeded.checkMount(ProcessLimits.threads(), GroupLimit.threads());
        if (!background) {
            long heapBytes = Runtime.getRuntime().maxMemory();
            LimitsNeeded.checkMountMemory(heapBytes, GroupLimit.memory());
            checkMemory(client.mount().cacheBytes(), heapBytes);
        }
        boolean hides;
        try {
            hides = ThroughMount.run(mountpoint, () -> hides(wanted.binding()));
        } catch (MountException e) {
            throw new Failure(ExitCode.CONFIG, String.valueOf(e.getMessage()));
        }
        if (background) {
            if (hides) {
                System.err.println("globalfs: warning: " + hidden());
            }
            BackgroundMount.start(mountpoint, client.mount(), log, runFile.absolute(), arguments());
            return ExitCode.OK;
        }
        if (hides) {
            LOG.warn("{}", hidden());
        }
        serve(wanted.over(client), wanted);
        return ExitCode.OK;
    }

    /** What is buffered, and what is known of files, needs memory beside the cache. */
    private void checkMemory(long cacheBytes, long memoryBytes) throws Failure {
        if (cacheBytes > Math.min(memoryBytes / 16 * 9, memoryBytes / 4 * 3 - BESIDE_BYTES)) {
            throw new Failure(
                    ExitCode.CONFIG,
                    config
                            + ": mount.cache: "
                            + (cacheBytes >> 20)
                            + "MiB is more than half of the "
                            + (memoryBytes >> 20)
                            + "MiB that this process may have, or leaves too little of them: give"
                            + " less, mount with --background, which sees to it, or set"
                            + " GLOBALFS_JVM_FLAGS=-Xmx"
                            + (Math.max(2 * cacheBytes, (cacheBytes + BESIDE_BYTES) / 3 * 4) >> 20)
                            + "m");
        }
    }

    /** Whether there is something that the mount will hide, where it can be mounted. */
    private boolean hides(Binding checked) throws IOException {
        checked.check(mountpoint);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(mountpoint)) {
            return files.iterator().hasNext();
        } catch (AccessDeniedException e) {
            return false; // who may not look into it does not miss it
        }
    }

    private String hidden() {
        return mountpoint + " is not empty: what is in it is hidden until 'globalfs umount'";
    }

    private List<String> flags() {
        List<String> all = new ArrayList<>(flags);
        if (binding != null) {
            all.add("binding=" + binding);
        }
        return all;
    }

    private List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        arguments.add("--config");
        arguments.add(config.toAbsolutePath().toString());
        if (!flags().isEmpty()) {
            arguments.add("-o");
            arguments.add(String.join(",", flags()));
        }
        if (trace) {
            arguments.add("--trace");
        }
        if (claimRoot) {
            arguments.add("--claim-root");
        }
        if (verbose) {
            arguments.add("--verbose");
        }
        return arguments;
    }

    private void serve(ClientConfig client, MountFlags wanted) throws Exception {
        Logging.serving(verbose);
        LostThreads.endTheProcess();
        Threads.prepare();
        runFile.begin();
        CountDownLatch over = new CountDownLatch(1);
        try {
            try (Connection connection = Connection.open(client)) {
                if (claimRoot) {
                    RootClaim.claim(connection.client().fileSystem());
                }
                serve(client, connection, wanted, over);
            }
            runFile.end();
        } finally {
            over.countDown();
        }
    }

    /** The session is to end, and with it its locks, before a process that was told to. */
    private static void await(CountDownLatch over) {
        try {
            if (!over.await(END_S, TimeUnit.SECONDS)) {
                LOG.warn("the session does not end: its locks stay until its lease is over");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(
            ClientConfig client, Connection connection, MountFlags wanted, CountDownLatch over)
            throws Exception {
        FileSystem tree = connection.client().fileSystem();
        try (Mount mount = wanted.binding().mount(tree, mountpoint, wanted.options())) {
            mount.afterExit(() -> await(over));
            connection.discovery().register(member(client, connection.client().session(), mount));
            ControlSocket control = control(mount, connection);
            runFile.ready();
            mount.await();
            if (control != null) {
                control.close();
            }
        }
    }

    /** Without it the mount serves all the same: only nobody can ask what it does. */
    private static @Nullable ControlSocket control(Mount mount, Connection connection) {
        try {
            return ControlSocket.serve(mount, connection.client().fileSystem());
        } catch (IOException e) {
            LOG.warn("'globalfs stats' and 'trace' will not work here: {}", e.getMessage());
            return null;
        }
    }

    private static Member member(ClientConfig client, long session, Mount mount) {
        return new Member(
                Role.MOUNT,
                Long.toHexString(session),
                client.region(),
                0,
                client.datacenter(),
                new HostPort(MachineName.get(), 0),
                Map.of(
                        "mountpoint", mount.mountpoint().toString(),
                        "pid", Long.toString(ProcessHandle.current().pid())));
    }
}
