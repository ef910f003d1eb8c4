package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.Logging;
import org.globalfs.client.GlobalFsClient;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.client.io.Blocks;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.globalfs.protocol.wire.BlockRef;
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
    private static final long ZOOKEEPER_TIMEOUT_MS = 15_000;

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
        if (!Files.isDirectory(mountpoint)) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "mountpoint " + mountpoint + " is not a folder: make it first");
        }
        Logging.serving(verbose);
        runFile.begin();
        try (ZooKeeperDiscovery discovery = connect(client);
                BlockStore store =
                        new DistributedBlockStore(client.cluster(), discovery, discovery);
                GlobalFsClient session =
                        GlobalFsClient.connect(
                                client,
                                discovery,
                                blocks(store),
                                () -> capacityBytes(discovery, client));
                FuseMount mount =
                        FuseMount.mount(session.fileSystem(), mountpoint, options(client))) {
            discovery.register(member(client, session.session(), mount));
            runFile.ready();
            mount.await();
        }
        runFile.end();
        return ExitCode.OK;
    }

    private static ZooKeeperDiscovery connect(ClientConfig client) throws Failure {
        try {
            return ZooKeeperDiscovery.connect(
                    client.zookeeper(), client.cluster(), ZOOKEEPER_TIMEOUT_MS);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }

    private static MountOptions options(ClientConfig client) {
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

    /**
     * What files of the region's partition may fill: its nodes' capacity less the parity's share.
     */
    private static long capacityBytes(Discovery discovery, ClientConfig client) {
        long raw = 0;
        for (Member node : discovery.members(Role.STORAGE)) {
            if (node.region().equals(client.region())) {
                raw += Long.parseLong(node.attributes().getOrDefault("capacity", "0"));
            }
        }
        return raw / 6 * 4;
    }

    private static Blocks blocks(BlockStore store) {
        return new Blocks() {
            @Override
            public BlockRef put(int region, ByteBuffer content) throws IOException {
                return store.put(region, content);
            }

            @Override
            public ByteBuffer get(BlockRef ref, int offset, int length) throws IOException {
                return store.get(ref, offset, length);
            }

            @Override
            public void delete(BlockRef ref) throws IOException {
                store.delete(ref);
            }
        };
    }
}
