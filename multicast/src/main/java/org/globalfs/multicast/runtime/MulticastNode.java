package org.globalfs.multicast.runtime;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.RingStatus;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.core.RingCore;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.merge.ImportFeed;
import org.globalfs.multicast.transport.Transport;
import org.globalfs.multicast.transport.TransportOptions;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process's part in all its rings: one event loop, one log, and a delivery thread a ring. */
public final class MulticastNode implements Multicast {
    private static final Logger log = LoggerFactory.getLogger(MulticastNode.class);

    private enum Phase {
        RUNNING,
        CLOSING,
        FAILED
    }

    private final int self;
    private final int homeRing;
    private final MulticastLog mlog;
    private final Transport transport;
    private final EventLoop loop;
    private final Thread loopThread;
    private final @Nullable ImportFeed feed;
    private final Map<Integer, Ring> rings = new TreeMap<>();
    private final Consumer<Throwable> onFatal;
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.RUNNING);

    /**
     * Recovers the log, listens and starts.
     *
     * @param learners one for each ring of the options
     * @param imports what ring 0 has for the home ring; null without home ring
     * @param onFatal called once, on a thread of its own, when ordering cannot go on (a full or
     *     broken disk, a broken invariant, an exception of a learner). All connections are closed
     *     by then; the process should exit with the reason.
     * @throws IOException the address cannot be listened on
     * @throws org.globalfs.multicast.log.LogException the log is somebody else's or in use, or it
     *     is lost and the rings are too small to do without
     */
    public static MulticastNode start(
            MulticastOptions options,
            Map<Integer, Learner> learners,
            @Nullable ImportSource imports,
            Consumer<Throwable> onFatal)
            throws IOException {
        Invariant.check(
                learners.keySet().equals(options.rings().keySet()),
                "rings %s but learners for %s",
                options.rings().keySet(),
                learners.keySet());
        LogFolder.Opened opened = LogFolder.open(options, learners);
        try {
            return new MulticastNode(
                    options, learners, imports, onFatal, opened.log(), opened.rings());
        } catch (IOException | RuntimeException e) {
            opened.log().close();
            throw e;
        }
    }

    private MulticastNode(
            MulticastOptions options,
            Map<Integer, Learner> learners,
            @Nullable ImportSource imports,
            Consumer<Throwable> onFatal,
            MulticastLog mlog,
            RecoveredRings recovered)
            throws IOException {
        this.self = options.self();
        this.homeRing = options.homeRing();
        this.mlog = mlog;
        this.onFatal = onFatal;
        this.feed = imports == null ? null : new ImportFeed(imports, homeRing);
        this.loop = new EventLoop(self, mlog, this::fatal);
        this.transport =
                new Transport(
                        new TransportOptions(
                                options.cluster(),
                                self,
                                options.bind(),
                                options.peers(),
                                TransportOptions.DEFAULT_MAX_QUEUED_BYTES),
                        loop);
        if (feed != null) {
            feed.executed();
        }
        options.rings()
                .forEach((number, members) -> {
                    Learner learner = learners.get(number);
                    Invariant.check(learner != null, "no learner for ring %s", number);
                    rings.put(number, newRing(number, members, learner, recovered));
                });
        loop.attach(transport, List.copyOf(rings.values()));
        this.loopThread = new Thread(loop, "multicast-" + self);
        loopThread.setDaemon(true);
        rings.values().forEach(ring -> ring.delivery.start());
        loopThread.start();
    }

    private Ring newRing(
            int number, List<Integer> members, Learner learner, RecoveredRings recovered) {
        int[] ids = members.stream().mapToInt(Integer::intValue).toArray();
        long seed = Arrays.hashCode(new long[] {System.nanoTime(), self, number});
        RingConfig config = RingConfig.defaults(number, self, ids, seed);
        ImportFeed imports = number == homeRing ? feed : null;
        RingCore core = RingCore.recover(config, recovered.state(number), imports, loop.now());
        core.witness(learner.lastTimestamp());
        mlog.checkpointed(number, learner.applied());
        Delivery delivery =
                new Delivery(
                        self,
                        number,
                        learner,
                        mlog,
                        core.decided(),
                        (instance, timestamp) -> {
                            loop.checkpointInstalled(number, instance, timestamp);
                            if (number == 0) {
                                globalExecuted(instance);
                            }
                        },
                        this::fatal);
        return new Ring(number, self, members, core, delivery);
    }

    private Ring ring(int number) {
        Ring ring = rings.get(number);
        Invariant.check(ring != null, "replica %s is not in ring %s", self, number);
        return ring;
    }

    boolean inRing(int number) {
        return rings.containsKey(number);
    }

    @Override
    public boolean propose(int ring, byte[] value, int[] destinations) {
        Ring target = ring(ring);
        int coordinator = target.coordinator();
        boolean reachable = coordinator == self || transport.connected().contains(coordinator);
        boolean taken =
                reachable && phase.get() == Phase.RUNNING && target.offer(value, destinations);
        if (taken) {
            loop.wakeup();
        }
        return taken;
    }

    @Override
    public int coordinator(int ring) {
        return ring(ring).coordinator();
    }

    @Override
    public boolean isCoordinator(int ring) {
        return ring(ring).leading();
    }

    @Override
    public long leaseInstance(int ring) {
        return ring(ring).leaseInstance(loop.now());
    }

    @Override
    public long leaseRemainingMs(int ring) {
        return ring(ring).leaseRemainingNs(loop.now()) / 1_000_000;
    }

    @Override
    public RingStatus status(int ring) {
        return ring(ring)
                .status(self, loop.now(), mlog.firstAvailable(ring), transport.connected());
    }

    @Override
    public void checkpointed(int ring, long instance) {
        mlog.checkpointed(ring, instance);
    }

    @Override
    public void globalExecuted(long instance) {
        if (feed != null && feed.executed()) {
            loop.importsDue(homeRing);
        }
    }

    private void fatal(String where, Throwable cause) {
        if (!phase.compareAndSet(Phase.RUNNING, Phase.FAILED)) {
            log.warn("replica {}: also in the {}: {}", self, where, cause.toString());
            return;
        }
        log.error("replica {}: multicast stops, its {} failed", self, where, cause);
        Thread.ofPlatform()
                .name("multicast-stop-" + self)
                .start(() -> {
                    endThreads();
                    mlog.abandon();
                    onFatal.accept(cause);
                });
    }

    private void endThreads() {
        rings.values().forEach(ring -> ring.delivery.close());
        loop.close();
        Threads.join(loopThread, Long.MAX_VALUE);
    }

    @Override
    public void close() {
        boolean running = phase.compareAndSet(Phase.RUNNING, Phase.CLOSING);
        if (running) {
            endThreads();
        }
        rings.values().forEach(ring -> ring.delivery.join());
        if (running) {
            mlog.close();
        }
    }

    /** Stops as a crash would: nothing is written any more. */
    public void crash() {
        if (phase.compareAndSet(Phase.RUNNING, Phase.CLOSING)) {
            endThreads();
            rings.values().forEach(ring -> ring.delivery.join());
            mlog.abandon();
        }
    }
}
