package org.globalfs.multicast.runtime;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.MergeStrategy;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.RingState;
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

/**
 * A process's part in all its rings: one event loop, one log, and a delivery thread a ring, or one
 * for the rings that a learner has merged by round-robin.
 */
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
    private final List<DeliveryThread> deliveries = new ArrayList<>();
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
        Invariant.check(
                options.merge() instanceof MergeStrategy.HomeRing,
                "a learner a ring, but %s",
                options.merge());
        return start(options, learners, learners, null, imports, onFatal);
    }

    /**
     * The same with one learner of the rings, merged as {@link MergeStrategy.RoundRobin} says. It
     * follows the rings of its position, which are among those of the options.
     */
    public static MulticastNode startMerged(
            MulticastOptions options, MergedLearner learner, Consumer<Throwable> onFatal)
            throws IOException {
        Invariant.check(
                options.merge() instanceof MergeStrategy.RoundRobin,
                "a merged learner, but %s",
                options.merge());
        Map<Integer, RingState> views = new HashMap<>();
        options.rings().keySet().forEach(ring -> views.put(ring, new RingView(ring, learner)));
        return start(options, views, Map.of(), learner, null, onFatal);
    }

    private static MulticastNode start(
            MulticastOptions options,
            Map<Integer, ? extends RingState> states,
            Map<Integer, Learner> learners,
            @Nullable MergedLearner merged,
            @Nullable ImportSource imports,
            Consumer<Throwable> onFatal)
            throws IOException {
        LogFolder.Opened opened = LogFolder.open(options, states);
        try {
            return new MulticastNode(
                    options,
                    states,
                    learners,
                    merged,
                    imports,
                    onFatal,
                    opened.log(),
                    opened.rings());
        } catch (IOException | RuntimeException e) {
            opened.log().close();
            throw e;
        }
    }

    private MulticastNode(
            MulticastOptions options,
            Map<Integer, ? extends RingState> states,
            Map<Integer, Learner> learners,
            @Nullable MergedLearner merged,
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
                                TransportOptions.maxQueuedBytes(Runtime.getRuntime().maxMemory())),
                        loop);
        if (feed != null) {
            feed.executed();
        }
        options.rings()
                .forEach((number, members) -> {
                    RingState state = states.get(number);
                    Invariant.check(state != null, "no state for ring %s", number);
                    rings.put(number, newRing(number, members, state, options, recovered));
                });
        learners.forEach(
                (number, learner) -> deliveries.add(delivery(ring(number).input, learner)));
        if (merged != null && options.merge() instanceof MergeStrategy.RoundRobin strategy) {
            deliveries.add(mergedDelivery(merged, strategy));
        }
        loop.attach(transport, List.copyOf(rings.values()));
        this.loopThread = new Thread(loop, "multicast-" + self);
        loopThread.setDaemon(true);
        deliveries.forEach(DeliveryThread::start);
        loopThread.start();
    }

    private Ring newRing(
            int number,
            List<Integer> members,
            RingState state,
            MulticastOptions options,
            RecoveredRings recovered) {
        int[] ids = members.stream().mapToInt(Integer::intValue).toArray();
        long seed = Arrays.hashCode(new long[] {System.nanoTime(), self, number});
        RingConfig config =
                RingConfig.defaults(number, self, ids, seed).with(options.dissemination(number));
        if (options.merge() instanceof MergeStrategy.RoundRobin skips) {
            config = config.withSkips(skips.lambda(), skips.delta().toNanos());
        }
        ImportFeed imports = number == homeRing ? feed : null;
        RingCore core = RingCore.recover(config, recovered.state(number), imports, loop.now());
        core.witness(state.lastTimestamp());
        core.onProgress(state.applied(), state.applied());
        RingInput input = new RingInput(number, mlog, core.decided(), state.applied());
        return new Ring(number, self, core, input);
    }

    private DeliveryThread delivery(RingInput input, Learner learner) {
        return new Delivery(
                self,
                input,
                learner,
                (ring, instance, timestamp, membership) -> {
                    loop.checkpointInstalled(ring, instance, timestamp, membership);
                    if (ring == 0) {
                        globalExecuted(instance);
                    }
                },
                this::fatal);
    }

    private DeliveryThread mergedDelivery(
            MergedLearner learner, MergeStrategy.RoundRobin strategy) {
        Map<Integer, RingInput> inputs = new TreeMap<>();
        rings.forEach((number, ring) -> inputs.put(number, ring.input));
        return new MergedDelivery(
                self,
                learner,
                strategy,
                inputs,
                loop::checkpointInstalled,
                loop::skipWanted,
                this::fatal);
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
        return propose(ring, new Entry.Command(0, value, destinations), true);
    }

    @Override
    public boolean proposeHere(int ring, byte[] value) {
        return propose(ring, new Entry.Command(0, value, new int[0]), false);
    }

    @Override
    public boolean subscribe(int through, int group, RingPosition from) {
        return propose(
                through,
                new Entry.Subscription(group, from.ring(), true, from.instance(), from.position()),
                true);
    }

    @Override
    public boolean unsubscribe(int through, int group, int ring) {
        return propose(through, new Entry.Subscription(group, ring, false, 0, 0), true);
    }

    private boolean propose(int ring, Entry proposal, boolean handOn) {
        Ring target = ring(ring);
        int to = target.proposalsGoTo();
        boolean reachable = to == self || transport.connected().contains(to);
        boolean taken = reachable && phase.get() == Phase.RUNNING && target.offer(proposal, handOn);
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
    public long term(int ring) {
        return ring(ring).term();
    }

    @Override
    public long leaseInstance(int ring) {
        return ring(ring).leaseInstance(loop.now());
    }

    @Override
    public CompletableFuture<Long> readIndex(int ring) {
        return loop.readIndex(ring(ring).number);
    }

    @Override
    public long leaseRemainingMs(int ring) {
        return ring(ring).leaseRemainingNs(loop.now()) / 1_000_000;
    }

    @Override
    public RingStatus status(int ring) {
        return ring(ring).status(loop.now(), mlog.firstAvailable(ring), transport.connected());
    }

    @Override
    public Membership membership(int ring) {
        return ring(ring).membership();
    }

    @Override
    public CompletableFuture<MembershipChange.Outcome> change(int ring, MembershipChange change) {
        return loop.change(ring(ring).number, change);
    }

    @Override
    public void checkpointed(int ring, long instance) {
        ring(ring).checkpointed(instance);
    }

    @Override
    public void checkpointed(MergePosition position) {
        rings.forEach((number, ring) -> {
            RingPosition in = position.in(number);
            ring.checkpointed(in == null ? ring.input.delivered() : in.instance());
        });
    }

    @Override
    public void keepLogShort(boolean isShort) {
        mlog.keepShort(isShort);
        rings.values().forEach(ring -> ring.keepShort(isShort));
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
        deliveries.forEach(DeliveryThread::close);
        loop.close();
        Threads.join(loopThread, Long.MAX_VALUE);
    }

    @Override
    public void close() {
        boolean running = phase.compareAndSet(Phase.RUNNING, Phase.CLOSING);
        if (running) {
            endThreads();
        }
        deliveries.forEach(DeliveryThread::join);
        if (running) {
            mlog.close();
        }
    }

    /** Stops as a crash would: nothing is written any more. */
    public void crash() {
        if (phase.compareAndSet(Phase.RUNNING, Phase.CLOSING)) {
            endThreads();
            deliveries.forEach(DeliveryThread::join);
            mlog.abandon();
        }
    }
}
