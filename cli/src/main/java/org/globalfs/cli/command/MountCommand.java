package org.globalfs.cli.command;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.Logging;
import org.globalfs.cli.client.Connection;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.client.fuse.MountException;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
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
    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description = "The client's YAML file.")
    private Path config = Path.of("");

    @Option(names = "--verbose", description = "Log more.")
    private boolean verbose;

    @Mixin private RunFileOption runFile = new RunFileOption();

    @Parameters(paramLabel = "MOUNTPOINT", description = "An existing empty folder.")
    private Path mountpoint = Path.of("");

    @Override
    public Integer call() throws Exception {
        ClientConfig client = ClientConfig.read(config);
        try {
            FuseMount.check(mountpoint);
        } catch (MountException e) {
            throw new Failure(ExitCode.CONFIG, String.valueOf(e.getMessage()));
        }
        Logging.serving(verbose);
        runFile.begin();
        try (Connection connection = Connection.open(client);
                FuseMount mount =
                        FuseMount.mount(
                                connection.client().fileSystem(), mountpoint, options(client))) {
            connection.discovery().register(member(client, connection.client().session(), mount));
            runFile.ready();
            mount.await();
        }
        runFile.end();
        return ExitCode.OK;
    }

    static MountOptions options(ClientConfig client) {
        ClientConfig.Mount wanted = client.mount();
        MountOptions options =
                MountOptions.defaults()
                        .withSource("globalfs-" + client.cluster())
                        .withReaders(wanted.threads())
                        .withRequestTimeout(Duration.ofMillis(wanted.requestTimeoutMs()))
                        .withReadOnly(wanted.readOnly())
                        .withExplicitInvalidation(true);
        return wanted.allowOther() ? options.withAllowOther(true) : options;
    }

    private static Member member(ClientConfig client, long session, FuseMount mount) {
        return new Member(
                Role.MOUNT,
                Long.toHexString(session),
                client.region(),
                0,
                client.datacenter(),
                new HostPort("127.0.0.1", 0),
                Map.of(
                        "mountpoint", mount.mountpoint().toString(),
                        "pid", Long.toString(ProcessHandle.current().pid())));
    }
}
