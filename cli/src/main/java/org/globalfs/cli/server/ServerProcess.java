package org.globalfs.cli.server;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.datastore.BlockStores;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.node.ChunkSource;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.oracle.OracleConfig;
import org.globalfs.oracle.OracleServer;
import org.globalfs.protocol.BindFailure;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.ProcessLimits;
import org.globalfs.protocol.Threads;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.EmbeddedZooKeeper;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.globalfs.replica.service.ReplicaConfig;
import org.globalfs.replica.service.ReplicaServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The roles of one or several server configurations, running in this process. They share one
 * ZooKeeper session and one block client; everything else is as in processes of their own.
 */
public final class ServerProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerProcess.class);

    /** A machine whose processes all start at once is slow for a while. */
    private static final long REPAIR_QUIET_MS = 30_000;

    private static final long ZOOKEEPER_TIMEOUT_MS = 30_000;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private ServerProcess() {}

    /**
     * Starts every role: ZooKeeper, storage nodes, replicas, oracles, each kind at once.
     *
     * @param onFatal told when a replica, or ZooKeeper, cannot go on; the process has to end
     */
    public static ServerProcess start(List<ServerConfig> configs, Consumer<Throwable> onFatal)
            throws Failure, ConfigException, IOException {
        FilesNeeded.check(configs, OpenFiles.limit());
        LimitsNeeded.check(
                configs.size(),
                ProcessLimits.threads(),
                GroupLimit.threads(),
                ProcessLimits.fileBytes());
        LimitsNeeded.checkServerMemory(
                (int) configs.stream().filter(c -> c.roles().needsTopology()).count(),
                Runtime.getRuntime().maxMemory(),
                GroupLimit.memory());
        Threads.prepare();
        ServerProcess process = new ServerProcess();
        boolean started = false;
        try {
            for (ServerConfig config : configs) {
                checkAddress(config);
                process.open(ServerFolder.claim(config));
            }
            process.startZooKeepers(configs, onFatal);
            List<ServerConfig> placed =
                    configs.stream().filter(c -> c.roles().needsTopology()).toList();
            if (!placed.isEmpty()) {
                process.startRoles(placed, onFatal);
            }
            started = true;
        } finally {
            if (!started) {
                process.close();
            }
        }
        return process;
    }

    /** Closes everything, the last opened first. */
    @Override
    public void close() {
        List<AutoCloseable> all;
        synchronized (opened) {
            all = new ArrayList<>(opened);
            opened.clear();
        }
        for (AutoCloseable each : all) {
            try {
                each.close();
            } catch (Exception e) {
                LOG.warn("closing {} failed", each.getClass().getSimpleName(), e);
            }
        }
    }

    /** What no port at all can be had at is no busy port. */
    private static void checkAddress(ServerConfig config) throws Failure, IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(config.bind(), 0));
        } catch (SocketException e) {
            throw new Failure(
                    ExitCode.CONFIG,
                    config.bind()
                            + " is no address of this machine ("
                            + e.getMessage()
                            + "): correct the key 'bind'");
        }
    }

    private void startZooKeepers(List<ServerConfig> configs, Consumer<Throwable> onFatal)
            throws Failure, IOException {
        for (ServerConfig config : configs) {
            if (config.roles().zookeeper().isPresent()) {
                int port = config.roles().zookeeper().get().port();
                try {
                    open(
                            EmbeddedZooKeeper.start(
                                    config.data().resolve("zookeeper"),
                                    config.bind(),
                                    port,
                                    onFatal));
                } catch (BindException e) {
                    throw unusable("ZooKeeper", "roles.zookeeper.port", config, port, e);
                }
                LOG.info("embedded ZooKeeper serves at {}", new HostPort(config.bind(), port));
            }
        }
    }

    private void startRoles(List<ServerConfig> configs, Consumer<Throwable> onFatal)
            throws Failure, ConfigException, IOException {
        ServerConfig first = configs.getFirst();
        ZooKeeperDiscovery discovery = connect(first);
        open(discovery);
        Namesakes.refuse(configs, discovery, Namesakes.PATIENCE);
        RecordedStore recorded = record(configs, discovery);
        LazyBlockStore blocks =
                new LazyBlockStore(
                        first.blocks(),
                        () ->
                                BlockStores.openInBackground(
                                        first.cluster(),
                                        first.region(),
                                        recorded,
                                        first.blocks(),
                                        discovery,
                                        discovery));
        open(blocks);
        List<Callable<AutoCloseable>> storage = new ArrayList<>();
        for (ServerConfig config : configs) {
            warnOfMemory(config);
            for (StorageRole role : config.roles().storage()) {
                storage.add(() -> startStorage(config, role, discovery, blocks));
            }
        }
        startAtOnce(storage);
        int count = (int) configs.stream().filter(c -> c.roles().replica().isPresent()).count();
        List<Callable<AutoCloseable>> replicas = new ArrayList<>();
        List<Callable<AutoCloseable>> oracles = new ArrayList<>();
        for (ServerConfig config : configs) {
            if (config.roles().replica().isPresent()) {
                replicas.add(() ->
                        ReplicaServer.start(
                                ReplicaConfig.of(config, count), discovery, blocks, onFatal));
            }
            if (config.roles().oracle().isPresent()) {
                oracles.add(() -> startOracle(config, discovery));
            }
        }
        startAtOnce(replicas);
        startAtOnce(oracles);
        List<Callable<AutoCloseable>> caches = new ArrayList<>();
        for (ServerConfig config : configs) {
            if (config.roles().cache().isPresent()) {
                caches.add(() -> startCache(config, recorded, discovery));
            }
        }
        startAtOnce(caches);
        StorageNode.warnOfShortages();
        for (ServerConfig config : configs) {
            discovery.register(
                    new Member(
                            Role.SERVER,
                            config.name(),
                            config.region(),
                            config.partition(),
                            config.datacenter(),
                            new HostPort(config.advertise(), 0),
                            Map.of("pid", Long.toString(ProcessHandle.current().pid()))));
        }
        LOG.info("{} serving", configs.size() == 1 ? first.name() : configs.size() + " servers");
    }

    /** Sees to it that all of them, and the cluster, have their blocks in one place. */
    private static RecordedStore record(List<ServerConfig> configs, ZooKeeperDiscovery discovery)
            throws ConfigException, IOException {
        ServerConfig first = configs.getFirst();
        for (ServerConfig config : configs) {
            if (!config.blocks().equals(first.blocks())) {
                throw new ConfigException(
                        first.name()
                                + " and "
                                + config.name()
                                + " are one process, and their keys 'blocks' differ: make them the same");
            }
        }
        boolean usesNodes = discovery.newest().number() > 0;
        return first.blocks().recordIn(discovery, first.topology(), usesNodes);
    }

    private static void warnOfMemory(ServerConfig config) {
        if (config.durability() == Durability.MEMORY) {
            LOG.warn(
                    "{}: DURABILITY IS 'memory': what is acknowledged is LOST when a majority stops; for benchmarks only",
                    config.name());
        }
    }

    private static ZooKeeperDiscovery connect(ServerConfig config) throws Failure {
        try {
            return ZooKeeperDiscovery.connect(
                    config.zookeeper(), config.cluster(), ZOOKEEPER_TIMEOUT_MS);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }

    private static AutoCloseable startStorage(
            ServerConfig config, StorageRole role, ZooKeeperDiscovery discovery, ChunkSource chunks)
            throws Exception {
        try {
            return StorageNode.start(
                    new StorageNode.Options(
                            config.cluster(),
                            role.id(),
                            config.region(),
                            config.partition(),
                            config.datacenter(),
                            new HostPort(config.bind(), role.port()),
                            config.advertise(),
                            role.data(),
                            role.capacityBytes(),
                            role.reserve(),
                            role.weight(),
                            handoffBytesPerSecond(role),
                            role.compactionBytesPerSecond()),
                    discovery,
                    discovery,
                    new ScrubOptions(role.scrubPeriodMs(), role.scrubBytesPerSecond()),
                    new RepairOptions(
                            role.repairGraceMs(), role.repairBytesPerSecond(), REPAIR_QUIET_MS),
                    chunks);
        } catch (BindException e) {
            throw unusable(
                    "storage node " + role.id(), "roles.storage.port", config, role.port(), e);
        }
    }

    /** What was written in a home's place goes to it even where nothing else is moved. */
    private static long handoffBytesPerSecond(StorageRole role) {
        return role.repairBytesPerSecond() > 0
                ? role.repairBytesPerSecond()
                : StorageNode.Options.DEFAULT_HANDOFF_BYTES_PER_SECOND;
    }

    private static AutoCloseable startOracle(ServerConfig config, ZooKeeperDiscovery discovery)
            throws Exception {
        int port = config.roles().oracle().orElseThrow().port();
        try {
            return OracleServer.start(OracleConfig.of(config), discovery);
        } catch (BindException e) {
            throw unusable(
                    "the oracle of " + config.region(), "roles.oracle.port", config, port, e);
        }
    }

    private static AutoCloseable startCache(
            ServerConfig config, RecordedStore recorded, ZooKeeperDiscovery discovery)
            throws Exception {
        CacheRole role = config.roles().cache().orElseThrow();
        // Of its own: the others' patience with silent nodes is not the cache's.
        ChunkOrigin origin =
                BlockStores.openOrigin(
                        config.cluster(),
                        config.region(),
                        recorded,
                        config.blocks(),
                        discovery,
                        discovery);
        boolean started = false;
        try {
            CacheNode cache =
                    CacheNode.start(
                            new CacheOptions(
                                    config.cluster(),
                                    config.name(),
                                    config.region(),
                                    config.partition(),
                                    config.datacenter(),
                                    new HostPort(config.bind(), role.port()),
                                    config.advertise(),
                                    role.data(),
                                    role.capacityBytes(),
                                    role.reserve(),
                                    role.policy(),
                                    role.chunks(),
                                    role.periodMs(),
                                    role.fetchBytesPerSecond()),
                            discovery,
                            origin);
            started = true;
            return () -> {
                cache.close();
                origin.close();
            };
        } catch (BindException e) {
            throw unusable(
                    "the cache of " + config.name(), "roles.cache.port", config, role.port(), e);
        } finally {
            if (!started) {
                origin.close();
            }
        }
    }

    private static Failure unusable(
            String what, String key, ServerConfig config, int port, BindException cause) {
        return new Failure(
                Failure.codeOf(cause),
                what
                        + " cannot listen at "
                        + new HostPort(config.bind(), port)
                        + ": "
                        + BindFailure.mend(cause)
                        + " (key '"
                        + key
                        + "')",
                cause);
    }

    /** All at once; the first failure, once every one has started or failed. */
    private void startAtOnce(List<Callable<AutoCloseable>> starts) throws Failure, IOException {
        Throwable failure = null;
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<AutoCloseable>> futures = starts.stream().map(threads::submit).toList();
            for (Future<AutoCloseable> future : futures) {
                try {
                    open(future.get());
                } catch (ExecutionException e) {
                    failure = failure == null ? e.getCause() : failure;
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    failure = e;
                }
            }
        }
        switch (failure) {
            case null -> {}
            case Failure e -> throw e;
            case IOException e -> throw e;
            case Throwable e -> throw new Failure(Failure.codeOf(e), Failure.describe(e), e);
        }
    }

    private void open(AutoCloseable resource) {
        synchronized (opened) {
            opened.push(resource);
        }
    }
}
