package org.globalfs.client;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.globalfs.client.io.IoOptions;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Replica;
import org.globalfs.client.meta.ReplicaCalls;
import org.globalfs.client.meta.ReplicaDirectory;
import org.globalfs.client.meta.RpcReplicaCalls;
import org.globalfs.client.meta.Session;
import org.globalfs.client.meta.SessionKeeper;
import org.globalfs.client.meta.SessionLease;
import org.globalfs.client.use.RegionOracle;
import org.globalfs.client.use.UseReporter;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.GlobalFileSystem;
import org.globalfs.datastore.BlockStores;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageRoom;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session with a GlobalFS cluster: the library. {@link #fileSystem} is the inode-based
 * interface that a mount serves, {@link #paths} the one for people.
 *
 * <p>A session reads its own writes, and whatever else it has seen, wherever it reads. {@link
 * #vector} says how far that is; another session, in another region too, that {@link #join joins}
 * it from then on sees at least as much.
 */
public final class GlobalFsClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GlobalFsClient.class);
    private static final Duration FIND_CLUSTER = Duration.ofSeconds(10);

    /** Buckets have no size; programs that look for room before they write need one. */
    private static final long BUCKETS_BYTES = 1L << 60;

    private static final Duration FIND_REPLICAS = Duration.ofSeconds(10);
    private static final long METADATA_CACHE_BYTES =
            Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 8);

    private final ReplicaCalls calls;
    private final MetadataClient metadata;
    private final GlobalFileSystem fileSystem;
    private final SessionKeeper keeper;
    private final @Nullable UseReporter reporter;
    private final Runnable closeOthers;
    private final AtomicBoolean closed = new AtomicBoolean();

    private GlobalFsClient(
            ReplicaCalls calls,
            MetadataClient metadata,
            GlobalFileSystem fileSystem,
            SessionKeeper keeper,
            @Nullable UseReporter reporter,
            Runnable closeOthers) {
        this.calls = calls;
        this.metadata = metadata;
        this.fileSystem = fileSystem;
        this.keeper = keeper;
        this.reporter = reporter;
        this.closeOthers = closeOthers;
    }

    /**
     * Begins a session with the cluster that ZooKeeper knows by this name.
     *
     * @throws IOException ZooKeeper cannot be reached, or no replica of the region is known
     */
    public static GlobalFsClient connect(ClientConfig config) throws IOException {
        ZooKeeperDiscovery discovery =
                ZooKeeperDiscovery.connect(
                        config.zookeeper(), config.cluster(), FIND_CLUSTER.toMillis());
        try {
            return connect(config, discovery, discovery, discovery::close);
        } catch (IOException | RuntimeException e) {
            discovery.close();
            throw e;
        }
    }

    /** Begins a session with the members that {@code discovery} shows; it stays the caller's. */
    public static GlobalFsClient connect(
            ClientConfig config, Discovery discovery, PlacementEpochs epochs) throws IOException {
        return connect(config, discovery, epochs, () -> {});
    }

    private static GlobalFsClient connect(
            ClientConfig config, Discovery discovery, PlacementEpochs epochs, Runnable closeOthers)
            throws IOException {
        RecordedStore recorded = recorded(config, discovery);
        BlockStore blocks =
                BlockStores.open(
                        config.cluster(),
                        config.region(),
                        recorded,
                        config.blocks(),
                        discovery,
                        epochs);
        RegionOracle oracle = new RegionOracle(discovery, config.region());
        try {
            return connect(
                    config,
                    new DiscoveredReplicas(discovery),
                    new RpcReplicaCalls(),
                    blocks,
                    () ->
                            recorded.kind() == StoreKind.S3
                                    ? BUCKETS_BYTES
                                    : capacityBytes(discovery, epochs.newest().regional()),
                    oracle,
                    () -> {
                        oracle.close();
                        blocks.close();
                        closeOthers.run();
                    });
        } catch (NoReplicaException e) {
            blocks.close();
            throw MissingRegion.error(config, discovery, epochs.newest(), recorded);
        } catch (IOException | RuntimeException e) {
            blocks.close();
            throw e;
        }
    }

    private static RecordedStore recorded(ClientConfig config, Discovery discovery)
            throws IOException {
        try {
            return config.blocks().recordedIn(discovery, config.cluster());
        } catch (ConfigException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** What the storage nodes hold together, parity taken off. */
    private static long capacityBytes(Discovery discovery, BlockCode code) {
        long bytes = StorageRoom.together(discovery.members(Role.STORAGE));
        return bytes / code.chunks() * code.dataChunks();
    }

    /** Without an oracle nobody is told what the tree is used for. */
    static GlobalFsClient connect(
            ClientConfig config,
            ReplicaDirectory replicas,
            ReplicaCalls calls,
            BlockStore blocks,
            LongSupplier capacityBytes,
            @Nullable RegionOracle oracle,
            Runnable closeOthers)
            throws IOException {
        int origin = partition(config, replicas);
        String datacenter = config.datacenter().isEmpty() ? null : config.datacenter();
        MetadataClient metadata =
                new MetadataClient(
                        Session.begin(), calls, replicas, origin, config.region(), datacenter);
        GlobalFileSystem fileSystem =
                new GlobalFileSystem(
                        metadata,
                        blocks,
                        options(config.mount()),
                        METADATA_CACHE_BYTES,
                        capacityBytes,
                        new SessionLease(
                                metadata, Duration.ofMillis(config.mount().sessionLeaseMs())),
                        oracle);
        SessionKeeper keeper = new SessionKeeper(fileSystem.lease());
        UseReporter reporter =
                oracle == null
                        ? null
                        : new UseReporter(fileSystem.uses(), fileSystem::policy, oracle);
        LOG.info("session {} begins in region {}", metadata.session().id(), config.region());
        return new GlobalFsClient(calls, metadata, fileSystem, keeper, reporter, closeOthers);
    }

    private static IoOptions options(ClientConfig.Mount mount) {
        IoOptions defaults = IoOptions.defaults();
        return new IoOptions(
                mount.inlineMaxBytes(),
                defaults.flushBytes(),
                defaults.bufferBytes(),
                mount.cacheBytes(),
                defaults.flushDelay(),
                Duration.ofMillis(mount.requestTimeoutMs()),
                mount.sync());
    }

    /** The client's region tells its partition by the replicas there. */
    private static int partition(ClientConfig config, ReplicaDirectory replicas)
            throws IOException {
        long deadlineNs = System.nanoTime() + FIND_REPLICAS.toNanos();
        while (true) {
            for (Replica replica : replicas.replicas()) {
                if (replica.region().equals(config.region())) {
                    return replica.partition();
                }
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new NoReplicaException(config.region());
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    /** No replica of the client's region has shown up. */
    private static final class NoReplicaException extends IOException {
        private static final long serialVersionUID = 1;

        NoReplicaException(String region) {
            super("no metadata replica of region '" + region + "' is known");
        }
    }

    public FileSystem fileSystem() {
        return fileSystem;
    }

    /** Files by their paths, on behalf of this user. */
    public PathOperations paths(int uid, int gid) {
        return new PathOperations(
                fileSystem,
                () -> Caller.of(uid, gid, new int[0], System.nanoTime() + 600_000_000_000L));
    }

    /** The session's number, as servers log it. */
    public long session() {
        return metadata.session().id();
    }

    /** The highest instance of each partition that this session has seen. */
    public Map<Integer, Long> vector() {
        return metadata.session().vector().snapshot();
    }

    /**
     * From now on this session sees at least what the session that exported the vector had seen.
     */
    public void join(Map<Integer, Long> vector) {
        metadata.session().vector().merge(vector);
    }

    /** Commits what is buffered and ends the session. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            if (reporter != null) {
                reporter.close();
            }
            fileSystem.close();
            keeper.close();
            calls.close();
            closeOthers.run();
        }
    }
}
