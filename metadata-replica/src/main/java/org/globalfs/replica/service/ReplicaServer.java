package org.globalfs.replica.service;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.runtime.LogFolder;
import org.globalfs.multicast.runtime.MulticastNode;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.Dissemination;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.replica.state.store.StateException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One metadata replica: partition 0 and its region's partition, fed by their rings, served over
 * Thrift.
 *
 * <p>Threads: multicast's event loop and a delivery thread a ring, a thread a client connection,
 * two for upkeep. An update goes connection thread → ring → delivery thread → the same connection
 * thread.
 */
public final class ReplicaServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaServer.class);

    /** What is admitted in between must fit into the reserve. */
    private static final long DISK_PERIOD_MS = 200;

    private final ReplicaConfig config;
    private final int home;
    private ReplicaOptions options;
    private final Shutdown shutdown = new Shutdown();
    private final FatalError fatal;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Map<Integer, HostedPartition> partitions = new TreeMap<>();
    private IntSupplier checkpointsTakenOver = () -> 0;
    private final Map<Integer, CausalWait> causal = new TreeMap<>();
    private final Map<Integer, Flusher> flushers = new TreeMap<>();
    private final CompletableFuture<PartitionLearner.Sequel> regionalSequel =
            new CompletableFuture<>();
    private final CompletableFuture<PartitionLearner.Sequel> globalSequel =
            new CompletableFuture<>();

    /**
     * Opens the state, joins the rings, serves and registers.
     *
     * @param blocks how content that nothing refers to is deleted
     * @param onFatal called once when the replica cannot go on; the process should exit. Not called
     *     for failures of start
     * @throws IOException a folder, address or log cannot be used; says which and why
     */
    public static ReplicaServer start(
            ReplicaConfig config,
            Discovery discovery,
            Datastore blocks,
            Consumer<Throwable> onFatal)
            throws IOException {
        ReplicaServer server = new ReplicaServer(config, onFatal);
        try {
            server.open(discovery, blocks);
        } catch (IOException | RuntimeException | Error e) {
            server.close();
            throw e;
        }
        server.register(discovery);
        return server;
    }

    private ReplicaServer(ReplicaConfig config, Consumer<Throwable> onFatal) {
        this.config = config;
        this.options = config.options();
        this.home = config.region().partition();
        this.fatal = new FatalError(config.id(), shutdown, onFatal);
    }

    private void open(Discovery discovery, Datastore blocks) throws IOException {
        ReplicaFolder.claim(config.folder(), config.topology().cluster(), config.id(), home);
        options = config.options().within(config.reserve().on(Disk.of(config.folder())));
        if (discovery.hasServed(config.id())) {
            LogFolder.expectLog(logFolder());
        }
        boolean isKnown = LogFolder.isExpected(logFolder());
        boolean hasLog = Files.exists(logFolder());
        HostedPartition global = hold(Topology.GLOBAL, isKnown);
        HostedPartition own = hold(home, isKnown);
        causal.put(Topology.GLOBAL, new CausalWait(global, global));
        causal.put(home, new CausalWait(own, global));
        CheckpointSource checkpoints =
                new CheckpointSource(partitions, config.folder().resolve("outgoing"));
        Map<Integer, List<Integer>> first = firstAcceptors();
        RingPeers peers =
                new RingPeers(config.id(), config.topology(), discovery, first, partitions);
        opened.push(peers);
        RingClaim claim = claim(first, peers);
        CheckpointFetch fetch = new CheckpointFetch(peers::others, shutdown);
        checkpointsTakenOver = fetch::takenOver;
        for (HostedPartition partition : partitions.values()) {
            fetch.recover(partition, hasLog);
        }
        Multicast multicast = joinRings(global, own, fetch, first);
        discovery.recordServing(config.id());
        partitions.forEach((number, p) -> flushers.put(number, new Flusher(p, multicast, options)));
        Grants grants = new Grants(own, global, multicast, options.heapBytes());
        CoordinatedDriver driver = driveCoordinated(global, own, multicast, grants);
        DiskRoom disk = new DiskRoom(config.id(), config.reserve(), config.folder(), logFolder());
        PeerRoom peerRoom = new PeerRoom(home, disk, peers, multicast);

        Updates updates =
                new Updates(
                        config.topology(),
                        partitions,
                        causal,
                        peers,
                        grants,
                        multicast,
                        disk,
                        peerRoom,
                        shutdown);
        Reads.Opened follow = followContent(multicast, blocks, updates);
        Reads reads = reads(peers, grants, multicast, follow);
        CheckAnswers checks = new CheckAnswers(CheckAnswers.PAGE, System::nanoTime);
        ReplicaCalls calls =
                new ReplicaCalls(config.id(), partitions, flushers, peers, multicast, disk, checks);
        BucketCare buckets = new BucketCare(partitions, multicast, blocks);
        opened.push(buckets);
        serve(
                calls.table(
                        updates,
                        reads,
                        grants,
                        checkpoints,
                        new RingChanges(home, multicast),
                        buckets,
                        new LostBlocks(partitions, multicast, blocks),
                        fatal));
        watchPeers(claim, peerRoom, checks);
        startUpkeep(multicast, disk, driver, grants, checkpoints, blocks, peers);
    }

    private Reads reads(RingPeers peers, Grants grants, Multicast multicast, Reads.Opened follow) {
        return new Reads(
                partitions,
                causal,
                peers,
                home,
                grants,
                multicast,
                follow,
                options.mostLockWaits());
    }

    private void watchPeers(RingClaim claim, PeerRoom peerRoom, CheckAnswers checks) {
        String thread = "replica-" + config.id() + "-peers";
        opened.push(
                new Upkeep(thread, shutdown, fatal)
                        .every(1_000, claim::tick)
                        .every(1_000, peerRoom::tick)
                        .every(10_000, checks::dropUnused)
                        .start());
    }

    private void serve(RpcServer.Calls calls) throws IOException {
        opened.push(
                RpcServer.start(
                        "metadata replica " + config.id(),
                        config.bind(),
                        config.site().rpc().port(),
                        calls));
    }

    private CoordinatedDriver driveCoordinated(
            HostedPartition global, HostedPartition own, Multicast multicast, Grants grants) {
        CoordinatedDriver driver =
                new CoordinatedDriver(
                        global,
                        own,
                        multicast,
                        grants::cleared,
                        options.voteTimeoutMs(),
                        System::nanoTime);
        grants.onGiven(driver::proposeVotes);
        connectSequels(multicast, driver, grants);
        return driver;
    }

    /** Begins it in all partitions; returns who is to hear of opened files. */
    private Reads.Opened followContent(Multicast multicast, Datastore blocks, Updates updates) {
        Map<Integer, ContentFollow> follows = new TreeMap<>();
        partitions.forEach((number, partition) -> {
            ContentFollow follow =
                    new ContentFollow(
                            partition,
                            multicast,
                            blocks,
                            updates::update,
                            shutdown,
                            ns -> {
                                var _ = shutdown.await(ns, TimeUnit.NANOSECONDS);
                            },
                            options.followBytesPerSecond(),
                            System::nanoTime);
            follows.put(number, follow);
            String thread = "replica-" + config.id() + "-follow-" + number;
            opened.push(new Upkeep(thread, shutdown, fatal).every(500, follow::tick).start());
        });
        return (partition, ino) ->
                Optional.ofNullable(follows.get(partition)).ifPresent(f -> f.opened(ino));
    }

    private HostedPartition hold(int number, boolean isKnown) throws IOException {
        HostedPartition partition =
                new HostedPartition(config.folder(), number, options.state(), isKnown);
        partitions.put(number, partition);
        opened.push(partition);
        return partition;
    }

    /** As the folder has them: what the topology says later changes no ring. */
    private Map<Integer, List<Integer>> firstAcceptors() throws IOException {
        Map<Integer, List<Integer>> configured = new TreeMap<>();
        boolean changed = false;
        for (HostedPartition partition : partitions.values()) {
            int ring = partition.partition();
            configured.put(ring, Arrays.stream(config.topology().members(ring)).boxed().toList());
            changed |= partition.membership() != null || partition.isLost();
        }
        return FirstAcceptors.of(config.folder(), configured, changed);
    }

    private RingClaim claim(Map<Integer, List<Integer>> first, RingPeers peers) throws IOException {
        RingClaim claim = new RingClaim(config.id(), home, first, peers, partitions);
        if (!FirstAcceptors.areKept(config.folder())) {
            claim.checkAtFirst();
            FirstAcceptors.keep(config.folder(), first);
        }
        return claim;
    }

    private Multicast joinRings(
            HostedPartition global,
            HostedPartition own,
            CheckpointFetch fetch,
            Map<Integer, List<Integer>> first)
            throws IOException {
        Map<Integer, Learner> learners = new TreeMap<>();
        learners.put(
                Topology.GLOBAL,
                new PartitionLearner(
                        global,
                        null,
                        fetch,
                        (i, entries) -> globalSequel.join().executed(i, entries),
                        shutdown));
        learners.put(
                home,
                new PartitionLearner(
                        own,
                        global,
                        fetch,
                        (i, entries) -> regionalSequel.join().executed(i, entries),
                        shutdown));
        Multicast multicast =
                MulticastNode.start(multicastOptions(first), learners, imports(global, own), fatal);
        opened.push(multicast);
        return multicast;
    }

    private Path logFolder() {
        return config.folder().resolve("log");
    }

    private MulticastOptions multicastOptions(Map<Integer, List<Integer>> first) {
        Topology topology = config.topology();
        Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
        for (Topology.ReplicaSite site : topology.replicas()) {
            addresses.put(
                    site.id(),
                    InetSocketAddress.createUnresolved(site.ring().host(), site.ring().port()));
        }
        Map<Integer, Dissemination> dissemination = new TreeMap<>();
        for (int ring : first.keySet()) {
            dissemination.put(ring, config.rings().dissemination(ring));
        }
        return new MulticastOptions(
                        topology.cluster(),
                        config.id(),
                        new InetSocketAddress(config.bind(), config.site().ring().port()),
                        addresses,
                        first,
                        home,
                        logFolder(),
                        config.durability() == Durability.DISK,
                        options.logSegmentBytes(),
                        options.logRetainedBytes())
                .spreading(dissemination);
    }

    private static ImportSource imports(HostedPartition global, HostedPartition own) {
        return new ImportSource() {
            @Override
            public long nextConcerning(int partition, long after) {
                return global.nextConcerning(partition, after);
            }

            @Override
            public long importedThrough(int partition) {
                return own.importedThrough();
            }
        };
    }

    private void connectSequels(Multicast multicast, CoordinatedDriver driver, Grants grants) {
        Flusher globalFlusher = Objects.requireNonNull(flushers.get(Topology.GLOBAL));
        Flusher regionalFlusher = Objects.requireNonNull(flushers.get(home));
        globalSequel.complete((long instance, List<Entry> entries) -> {
            multicast.globalExecuted(instance);
            globalFlusher.executed(entries);
            driver.globalExecuted();
        });
        regionalSequel.complete((long instance, List<Entry> entries) -> {
            regionalFlusher.executed(entries);
            grants.executed(entries);
            driver.regionalExecuted(entries);
        });
    }

    private void startUpkeep(
            Multicast multicast,
            DiskRoom disk,
            CoordinatedDriver driver,
            Grants grants,
            CheckpointSource checkpoints,
            Datastore blocks,
            RingPeers peers) {
        HostedPartition global = Objects.requireNonNull(partitions.get(Topology.GLOBAL));
        Flusher regionalFlusher = Objects.requireNonNull(flushers.get(home));
        String name = "replica-" + config.id();
        Upkeep local =
                new Upkeep(name + "-upkeep", shutdown, fatal)
                        .every(DISK_PERIOD_MS, () -> look(disk, multicast))
                        .every(100, driver::tick)
                        .every(500, grants::tick)
                        .every(250, () -> flushers.values().forEach(Flusher::tick));
        for (HostedPartition partition : partitions.values()) {
            local.every(100, new NoticeDelivery(partition, multicast, System::nanoTime)::tick);
            local.every(500, new SessionLeases(partition, multicast)::tick);
            local.every(100, new OrphanUpkeep(partition, multicast, System::nanoTime)::tick);
            local.every(100, new QuotaCounting(partition, multicast)::tick);
            local.every(100, new CopyUpkeep(partition, multicast, System::nanoTime)::tick);
        }
        Upkeep remote = new Upkeep(name + "-remote", shutdown, fatal);
        for (HostedPartition partition : partitions.values()) {
            remote.every(
                    1_000,
                    new DoomedBlocks(partition, multicast, blocks, shutdown, DoomedBlocks.BATCH)
                            ::tick);
        }
        remote.every(
                        20_000,
                        new ImportConfirmation(global, home, regionalFlusher, peers, multicast)
                                ::tick)
                .every(30_000, checkpoints::dropUnused);
        Upkeep sweeps = new Upkeep(name + "-sweep", shutdown, fatal);
        for (HostedPartition partition : partitions.values()) {
            sweeps.every(
                    1_000,
                    new BlockSweep(
                                    partition,
                                    multicast,
                                    blocks,
                                    shutdown,
                                    options.sweepPeriodMs(),
                                    options.sweepGraceMs())
                            ::tick);
        }
        opened.push(local.start());
        opened.push(remote.start());
        opened.push(sweeps.start());
    }

    private static void look(DiskRoom disk, Multicast multicast) throws IOException {
        disk.look();
        multicast.keepLogShort(disk.isScarce());
    }

    private void register(Discovery discovery) {
        Topology.ReplicaSite site = config.site();
        discovery.register(
                new Member(
                        Role.REPLICA,
                        Integer.toString(config.id()),
                        config.region().name(),
                        home,
                        site.datacenter(),
                        site.rpc(),
                        Map.of("ring", site.ring().toString())));
        LOG.info(
                "replica {} of region {} serves at {}",
                config.id(),
                config.region().name(),
                site.rpc());
    }

    /** How often a partition's state was replaced by a peer's since the start. */
    int checkpointsTakenOver() {
        return checkpointsTakenOver.getAsInt();
    }

    /** Leaves the rings and closes the state, flushed so that the next start replays nothing. */
    @Override
    public void close() {
        stop(true);
    }

    /** Stops as a crash would, as far as one process can: nothing is flushed, nobody is told. */
    public void abandon() {
        stop(false);
    }

    private void flushAtLast(Flusher flusher) {
        try {
            flusher.flush();
        } catch (StateException e) {
            LOG.warn("replica {}: the next start replays its log: {}", config.id(), e.getMessage());
        }
    }

    private void stop(boolean flush) {
        if (shutdown.begun()) {
            return;
        }
        shutdown.begin();
        if (flush) {
            flushers.values().forEach(this::flushAtLast);
        }
        // Delivery threads may wait for these.
        globalSequel.complete((instance, entries) -> {});
        regionalSequel.complete((instance, entries) -> {});
        while (!opened.isEmpty()) {
            AutoCloseable next = opened.pop();
            try {
                if (!flush && next instanceof MulticastNode node) {
                    node.crash();
                } else {
                    next.close();
                }
            } catch (Exception e) {
                LOG.warn(
                        "replica {}: closing {}: {}",
                        config.id(),
                        next.getClass().getSimpleName(),
                        e.toString());
            }
        }
    }
}
