package org.globalfs.cli.command;

import java.io.IOException;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.QuotaTable;
import org.globalfs.cli.storage.BucketPlaces;
import org.globalfs.cli.storage.BucketTable;
import org.globalfs.cli.storage.CacheTable;
import org.globalfs.cli.storage.DatastoreOperator;
import org.globalfs.cli.storage.NodePlaces;
import org.globalfs.cli.storage.PassOperator;
import org.globalfs.cli.storage.PassPlaces;
import org.globalfs.cli.storage.ProgressView;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows storage nodes, has them look after what they hold, and takes them out of service. */
@Command(
        name = "datastore",
        description =
                "Show storage nodes and what they hold, look after that, and take them out of service.",
        mixinStandardHelpOptions = true)
final class DatastoreCommand implements Runnable {
    @Spec private CommandSpec spec;
    @Mixin private ClusterOption cluster = new ClusterOption();

    private interface Work {
        void on(DatastoreOperator operator) throws Failure, IOException;
    }

    private interface Passes {
        void on(PassOperator operator) throws Failure;
    }

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "say what to do: status, scrub, repair, drain, readmit or code");
    }

    @Command(
            name = "status",
            description =
                    "Show each node, or bucket: what it holds, and what is left to move or to rebuild.",
            mixinStandardHelpOptions = true)
    int status() throws Exception {
        try (ZooKeeperDiscovery discovery = cluster.connect()) {
            if (isInBuckets(discovery)) {
                Topology topology = cluster.topology();
                System.out.println(
                        BucketTable.of(discovery.recordedStore().orElseThrow(), topology));
                CacheTable.of(topology.cluster(), discovery)
                        .ifPresent(caches -> System.out.println("\n" + caches));
                return ExitCode.OK;
            }
        }
        return with(DatastoreOperator::status);
    }

    @Command(
            name = "scrub",
            description = {
                "Have nodes read all their chunks now, and write damaged ones again; show how far they are.",
                "A pass that runs already is joined. Interrupted, the nodes go on."
            },
            mixinStandardHelpOptions = true)
    int scrub(
            @Parameters(
                            paramLabel = "NODE",
                            arity = "0..*",
                            description =
                                    "Which node, or region whose content is in a bucket (default: all).")
                    @Nullable List<String> nodes,
            @Option(
                            names = "--bandwidth",
                            paramLabel = "SIZE",
                            description = {
                                "Each node reads so much a second at most, such as 100M",
                                "(default: its scrubBandwidth)."
                            })
                    @Nullable String bandwidth,
            @Option(names = "--no-wait", description = "Return at once; the nodes go on.")
                    boolean noWait)
            throws Exception {
        long bytesPerSecond =
                bandwidth == null ? 0 : QuotaTable.quantity("--bandwidth", bandwidth, 1024);
        if (bandwidth != null && bytesPerSecond == 0) {
            throw new Failure(ExitCode.USAGE, "--bandwidth 0 would read nothing");
        }
        return passes(operator -> operator.scrub(idsOf(nodes), bytesPerSecond, !noWait));
    }

    @Command(
            name = "repair",
            description = {
                "Have nodes make chunks anew that nobody has, and move those that belong elsewhere, now.",
                "Shows how far they are. They do so by themselves when nodes come or go, and once an hour."
            },
            mixinStandardHelpOptions = true)
    int repair(
            @Parameters(
                            paramLabel = "NODE",
                            arity = "0..*",
                            description =
                                    "Which node, or region whose content is in a bucket (default: all).")
                    @Nullable List<String> nodes,
            @Option(names = "--no-wait", description = "Return at once; the nodes go on.")
                    boolean noWait)
            throws Exception {
        return passes(operator -> operator.repair(idsOf(nodes), !noWait));
    }

    private static List<String> idsOf(@Nullable List<String> nodes) {
        return nodes == null ? List.of() : nodes;
    }

    @Command(
            name = "drain",
            description = "Take a node, up or down, out of the placement: its chunks go to others.",
            mixinStandardHelpOptions = true)
    int drain(
            @Parameters(paramLabel = "NODE") String node,
            @Option(names = "--no-wait", description = "Return at once.") boolean noWait)
            throws Exception {
        return with(operator -> operator.drain(node, !noWait));
    }

    @Command(
            name = "readmit",
            description = "Let a drained node take its place again.",
            mixinStandardHelpOptions = true)
    int readmit(@Parameters(paramLabel = "NODE") String node) throws Exception {
        return with(operator -> operator.readmit(node));
    }

    @Command(
            name = "code",
            description = {
                "Show how new blocks are coded, or change it: blocks that are there stay as they are.",
                "4+2 is four data and two parity chunks: any two nodes may be lost."
            },
            mixinStandardHelpOptions = true)
    int code(
            @Option(
                            names = "--regional",
                            paramLabel = "K+M",
                            description = "For files at home in one region.")
                    @Nullable String regional,
            @Option(
                            names = "--global",
                            paramLabel = "K+M",
                            description = {
                                "For files of the global partition, spread over all regions. Fewer data",
                                "chunks are made where nodes or regions are too few, never fewer parity chunks."
                            })
                    @Nullable String global)
            throws Exception {
        if (regional == null && global == null) {
            return with(DatastoreOperator::showCodes);
        }
        BlockCode nextRegional = regional == null ? null : parse(regional);
        BlockCode nextGlobal = global == null ? null : parse(global);
        return with(operator -> operator.code(nextRegional, nextGlobal));
    }

    private BlockCode parse(String code) {
        try {
            return BlockCode.parse(code);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static boolean isInBuckets(Discovery discovery) throws IOException {
        return discovery.recordedStore().map(RecordedStore::kind).orElse(StoreKind.DHT)
                == StoreKind.S3;
    }

    private int with(Work work) throws Failure, ConfigException, IOException {
        try (ZooKeeperDiscovery discovery = cluster.connect()) {
            if (isInBuckets(discovery)) {
                throw new Failure(
                        ExitCode.FAILED,
                        "this cluster keeps its content in buckets, and has no storage nodes");
            }
            String name = cluster.server().cluster();
            work.on(
                    new DatastoreOperator(
                            name, discovery, System.out::println, ProgressView.of(System.out)));
        }
        return ExitCode.OK;
    }

    private int passes(Passes passes) throws Failure, ConfigException, IOException {
        try (ZooKeeperDiscovery discovery = cluster.connect()) {
            PassPlaces places =
                    isInBuckets(discovery)
                            ? new BucketPlaces(cluster.topology())
                            : new NodePlaces(cluster.server().cluster(), discovery, discovery);
            passes.on(
                    new PassOperator(
                            places,
                            System.out::println,
                            ProgressView.of(System.out),
                            PassOperator.Times.DEFAULT));
        }
        return ExitCode.OK;
    }
}
