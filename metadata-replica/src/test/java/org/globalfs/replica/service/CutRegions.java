package org.globalfs.replica.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.thrift.TException;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.PartitionStates;
import org.globalfs.replica.state.operations.Wire;
import org.globalfs.replica.state.store.StateOptions;

/**
 * Three regions in one thread, a replica each, whose links can be cut between any two steps. A step
 * is one thing that happens somewhere: a proposal is ordered in ring 0, an instance of it reaches a
 * region, a region imports it or orders something of its own, a block is copied. What happens next
 * is a queue's, so that a run can be repeated, and be cut at its nth step. Where nothing is left to
 * do, time passes, and the replicas' own work of every tick is done.
 *
 * <p>Of rings this is what multicast promises: ring 0 goes on among regions that reach each other
 * if they are two, a region's own ring always; nobody misses an instance, and one that was cut off
 * gets them late. Proposals that cannot be ordered are kept until they can be, or lost.
 */
final class CutRegions implements PartitionStates, AutoCloseable {

    static final int COUNT = 3;
    static final long VOTE_TIMEOUT_MS = 4_000;
    static final StateOptions SMALL = new StateOptions(4 << 20, 4 << 20);

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long TICK_NS = SECOND_NS / 2;
    private static final long ELECTION_NS = SECOND_NS;
    private static final long LONGEST_SECONDS = 120;
    private static final long FAST = 1L << 40;

    /** More than there are errands at a time. */
    private static final long SESSIONS = 100;

    private record Instance(long number, List<Entry> entries) {}

    private record Link(int one, int other) {
        static Link of(int a, int b) {
            return new Link(Math.min(a, b), Math.max(a, b));
        }
    }

    private record Step(String what, BooleanSupplier possible, boolean lost, Runnable action) {}

    private final Map<Integer, CutRegion> regions = new TreeMap<>();
    private final Map<Integer, List<Instance>> logs = new TreeMap<>();
    private final Deque<Step> steps = new ArrayDeque<>();
    private final List<Step> held = new ArrayList<>();
    private final Set<Link> cuts = new HashSet<>();
    private final List<Errand> errands = new ArrayList<>();
    private final Map<Long, Long> sequences = new HashMap<>();
    private final Path folder;
    private final Set<BlockRef> unreadable = new HashSet<>();
    private Consumer<String> before = what -> {};
    private boolean losing;
    private int coordinator = 1;
    private long cutNs;
    private long nowNs = 1_000 * SECOND_NS;
    private long timestamp;
    private long blocks;
    private long blocksNotBeforeMs;
    private long sessions;
    private boolean resting;

    CutRegions(Path folder) throws IOException {
        this(folder, FAST);
    }

    /**
     * @param followBytesPerSecond the most that is copied so that content follows files
     */
    CutRegions(Path folder, long followBytesPerSecond) throws IOException {
        this.folder = folder;
        for (int ring = 0; ring <= COUNT; ring++) {
            logs.put(ring, new ArrayList<>());
        }
        for (int region = 1; region <= COUNT; region++) {
            regions.put(
                    region,
                    new CutRegion(
                            this, region, folder.resolve("r" + region), followBytesPerSecond));
        }
    }

    /** Partition 0 as region 1 has it. */
    @Override
    public PartitionState state(int partition) {
        return partition == 0 ? global(1) : region(partition).own.use(state -> state);
    }

    /** Partition 0 as a region has it. */
    PartitionState global(int region) {
        return region(region).global.use(state -> state);
    }

    CutRegion region(int region) {
        CutRegion found = regions.get(region);
        assertThat(found).isNotNull();
        return found;
    }

    long nowNs() {
        return nowNs;
    }

    /** Somebody waits, and all others with it. */
    void pause(long ns) {
        step("pause");
        nowNs += ns;
    }

    /**
     * @param listener told of each step before it is done
     */
    void beforeSteps(Consumer<String> listener) {
        before = listener;
    }

    /** Says that a step is done now, other than from the queue. */
    void step(String what) {
        before.accept(what);
    }

    /** Whether too little of the block is left to read it. */
    void lost(BlockRef block, boolean lost) {
        if (lost) {
            unreadable.add(block);
        } else {
            unreadable.remove(block);
        }
    }

    boolean isLost(BlockRef block) {
        return unreadable.contains(block);
    }

    /** Which region coordinates ring 0, while it can. */
    void coordinate(int region) {
        coordinator = region;
    }

    /** Whether proposals are lost that cannot be ordered. */
    void lose(boolean lost) {
        losing = lost;
    }

    void cut(int one, int other) {
        cuts.add(Link.of(one, other));
        cutNs = nowNs;
    }

    void isolate(int region) {
        others(region).forEach(other -> cut(region, other));
    }

    static List<Integer> others(int region) {
        return IntStream.rangeClosed(1, COUNT).filter(r -> r != region).boxed().toList();
    }

    void heal() {
        elect();
        cuts.clear();
        release();
    }

    private void release() {
        held.reversed().forEach(steps::addFirst);
        held.clear();
    }

    boolean joined(int one, int other) {
        return one == other || !cuts.contains(Link.of(one, other));
    }

    /** Whether it takes part in ring 0: with one other it is in a majority. */
    boolean inMajority(int region) {
        return others(region).stream().anyMatch(other -> joined(region, other));
    }

    private boolean elected() {
        return inMajority(coordinator) || nowNs - cutNs >= ELECTION_NS;
    }

    private void elect() {
        if (!inMajority(coordinator) && elected()) {
            coordinator = others(coordinator).getFirst();
            release();
        }
    }

    /** Whom a region takes to coordinate ring 0. */
    int coordinatorFor(int region) {
        if (inMajority(region)) {
            return elected() ? coordinator : Multicast.NONE;
        }
        return elected() || region != coordinator ? Multicast.NONE : region;
    }

    boolean propose(int region, int ring, byte[] value) {
        String what = name(value);
        if (ring != 0) {
            steps.add(
                    new Step(
                            what + " ordered in " + ring,
                            () -> true,
                            false,
                            () -> order(ring, value)));
            return true;
        }
        if (losing && coordinatorFor(region) == Multicast.NONE) {
            return false;
        }
        steps.add(
                new Step(
                        what + " ordered",
                        () -> inMajority(region) && inMajority(coordinator),
                        losing,
                        () -> order(0, value)));
        return true;
    }

    private static String name(byte[] value) {
        try {
            Command command = Wire.decode(new Command(), value);
            UpdateOp op = command.getOp();
            return op.getSetField() + (op.isSetVote() ? " of " + op.getVote().getPartition() : "");
        } catch (TException e) {
            throw new AssertionError(e);
        }
    }

    /** Gives it the next place in the ring now. */
    void order(int ring, byte[] value) {
        timestamp = HybridClock.next(timestamp, nowNs / 1_000_000);
        List<Entry> entries = List.of(new Entry.Command(timestamp, value, new int[0]));
        if (ring != 0) {
            deliver(ring, entries);
            return;
        }
        Instance instance = new Instance(log(0).size() + 1, entries);
        log(0).add(instance);
        for (int to = 1; to <= COUNT; to++) {
            CutRegion there = region(to);
            steps.add(
                    new Step(
                            name(value) + " reaches " + to,
                            () -> inMajority(there.region),
                            false,
                            () -> reach(there, instance.number)));
        }
    }

    /** What was ordered up to there arrives. */
    void reach(CutRegion there, long number) {
        while (there.global.applied() < number) {
            Instance next = log(0).get((int) there.global.applied());
            there.deliverGlobal(next.number, next.entries);
            if (there.toImport() >= 0) {
                steps.add(
                        new Step(
                                there.nameOfNextImport() + " imported by " + there.region,
                                () -> true,
                                false,
                                () -> importInto(there)));
            }
        }
    }

    private void importInto(CutRegion there) {
        long next = there.toImport();
        if (next >= 0) {
            deliver(there.region, List.of(new Entry.Import(next)));
        }
    }

    private void deliver(int ring, List<Entry> entries) {
        Instance instance = new Instance(log(ring).size() + 1, entries);
        log(ring).add(instance);
        region(ring).deliver(instance.number, entries);
    }

    private List<Instance> log(int ring) {
        List<Instance> log = logs.get(ring);
        assertThat(log).isNotNull();
        return log;
    }

    long ordered() {
        return log(0).size();
    }

    /** An errand begins. */
    Errand send(int region, int partition, UpdateOp op) {
        sessions = sessions % SESSIONS + 1;
        Errand errand = new Errand(this, region, sessions, partition, op);
        errands.add(errand);
        errand.goOn();
        return errand;
    }

    /** Sends an update from a region, and lets all go on until it is answered, and done. */
    UpdateReply done(int region, int partition, UpdateOp op) {
        Errand errand = send(region, partition, op);
        until(() -> errand.outcome() != null);
        return MovedTree.succeeded(errand);
    }

    /** Makes a file or a directory from a region; returns its inode. */
    long made(int region, long parent, String name, int mode) {
        ByteBuffer bytes = ByteBuffer.wrap(name.getBytes(UTF_8));
        UpdateOp op = UpdateOp.create(new CreateOp(parent, bytes, mode));
        return done(region, home(parent), op).getAttributes().getIno();
    }

    long nextSequence(long session) {
        return sequences.merge(session, 1L, Long::sum);
    }

    /** Whether clients ask for nothing for now. */
    void rest(boolean rest) {
        resting = rest;
    }

    /** Who asked has died, or waits. */
    void forget(Errand errand) {
        errands.remove(errand);
    }

    /** Who asked asks on. */
    void goOn(Errand errand) {
        errands.add(errand);
    }

    /** Blocks that are made from now on, anywhere, have this time at least. */
    void newBlocksNotBefore(long timeMs) {
        blocksNotBeforeMs = Math.max(blocksNotBeforeMs, timeMs);
    }

    BlockRef newBlock(int region, int length) {
        blocks++;
        long idHigh = blocksNotBeforeMs << 16 | blocks;
        return new BlockRef(idHigh, blocks, length, region, (byte) 4, (byte) 2, 1);
    }

    private void drain() {
        while (true) {
            Step step = steps.poll();
            if (step == null) {
                return;
            }
            if (step.possible.getAsBoolean()) {
                before.accept(step.what);
            }
            if (step.possible.getAsBoolean()) {
                step.action.run();
            } else if (!step.lost) {
                held.add(step);
            }
        }
    }

    /** For so long. */
    void pass(long seconds) {
        long endNs = nowNs + seconds * SECOND_NS;
        while (nowNs < endNs) {
            tick();
        }
    }

    private void tick() {
        drain();
        nowNs += TICK_NS;
        elect();
        if (!resting) {
            List.copyOf(errands).forEach(Errand::goOn);
        }
        errands.removeIf(errand -> errand.outcome() != null);
        drain();
        regions.values().forEach(CutRegion::tick);
        drain();
    }

    /** Until it is so; fails when it is not after a long while. */
    void until(BooleanSupplier reached) {
        long endNs = nowNs + LONGEST_SECONDS * SECOND_NS;
        while (!reached.getAsBoolean()) {
            assertThat(nowNs).as("left to be done: %s", left()).isLessThan(endNs);
            tick();
        }
    }

    /** Until nothing is left to do; what is left after a long while stays for ever. */
    void settle() {
        tick();
        until(() -> left().isEmpty());
    }

    private List<String> left() {
        List<String> left = new ArrayList<>();
        steps.forEach(step -> left.add(step.what));
        held.forEach(step -> left.add(step.what));
        errands.forEach(errand -> left.add(errand.toString()));
        regions.values().forEach(region -> region.left().forEach(left::add));
        return left;
    }

    void internal(int ring, UpdateOp op) {
        steps.add(
                new Step(
                        op.getSetField() + " ordered in " + ring,
                        () -> true,
                        false,
                        () -> order(ring, CommandBytes.internal(ring, op))));
    }

    /** All replicas of partition 0 are in one state, and all logs lead there again. */
    void checkReplicas() {
        Set<String> hashes =
                regions.keySet().stream()
                        .map(region -> hash(global(region)))
                        .collect(Collectors.toSet());
        assertThat(hashes).as("partition 0 in all regions").hasSize(1);
        try (Replay replay = new Replay(folder)) {
            replay.run();
            for (int partition = 0; partition <= COUNT; partition++) {
                assertThat(hash(replay.state(partition)))
                        .as("partition %s replayed", partition)
                        .isEqualTo(hash(state(partition)));
            }
        }
    }

    private static String hash(PartitionState state) {
        return HexFormat.of().formatHex(state.hash().digest());
    }

    /** All logs once more, as replicas execute them that were away all the time. */
    private final class Replay implements AutoCloseable {
        private final Map<Integer, PartitionState> states = new TreeMap<>();

        Replay(Path folder) {
            for (int partition = 0; partition <= COUNT; partition++) {
                Path again = folder.resolve("again" + partition);
                states.put(partition, PartitionState.open(again, partition, SMALL));
            }
        }

        PartitionState state(int partition) {
            PartitionState found = states.get(partition);
            assertThat(found).isNotNull();
            return found;
        }

        /** Regions follow closely: what they have confirmed is forgotten later on. */
        void run() {
            for (Instance instance : log(0)) {
                deliver(0, instance);
                for (int region = 1; region <= COUNT; region++) {
                    follow(region);
                }
            }
        }

        private void follow(int region) {
            while (state(region).applied() < log(region).size()) {
                Instance next = log(region).get((int) state(region).applied());
                for (Entry entry : next.entries) {
                    if (entry instanceof Entry.Import imported
                            && imported.instance() > state(0).applied()) {
                        return;
                    }
                }
                deliver(region, next);
            }
        }

        private void deliver(int partition, Instance instance) {
            PartitionState global = partition == 0 ? null : state(0);
            state(partition)
                    .deliver(instance.number, instance.entries, global, (s, n, reply) -> {});
        }

        @Override
        public void close() {
            states.values().forEach(PartitionState::close);
        }
    }

    static Credentials root() {
        return new Credentials(0, 0);
    }

    @Override
    public void close() {
        regions.values().forEach(CutRegion::close);
    }
}
