package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.ConfirmImportsOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.ResultListener;
import org.jspecify.annotations.Nullable;

/** One region's replica in {@link CutRegions}: both its partitions, and all that it does itself. */
final class CutRegion implements AutoCloseable, Datastore {

    private static final long CONFIRM_NS = 3_000_000_000L;

    final int region;
    final HostedPartition global;
    final HostedPartition own;
    private final CutRegions all;
    private final Multicast multicast;
    private final CoordinatedDriver driver;
    private final List<NoticeDelivery> notices = new ArrayList<>();
    private final CopyUpkeep copies;
    private final List<ContentFollow> follows = new ArrayList<>();
    private final Map<Integer, Map<String, UpdateReply>> replies = new HashMap<>();
    private long confirmed;
    private long confirmedNs;

    CutRegion(CutRegions all, int region, Path folder, long followBytesPerSecond)
            throws IOException {
        this.all = all;
        this.region = region;
        global = new HostedPartition(folder, 0, CutRegions.SMALL, false);
        own = new HostedPartition(folder, region, CutRegions.SMALL, false);
        multicast = new SteppedMulticast(all, region);
        driver =
                new CoordinatedDriver(
                        global,
                        own,
                        multicast,
                        transaction -> true,
                        CutRegions.VOTE_TIMEOUT_MS,
                        all::nowNs);
        copies = new CopyUpkeep(own, multicast, all::nowNs);
        for (HostedPartition each : List.of(global, own)) {
            notices.add(new NoticeDelivery(each, multicast, all::nowNs));
            follows.add(
                    new ContentFollow(
                            each,
                            multicast,
                            this,
                            this::execute,
                            new Shutdown(),
                            all::pause,
                            followBytesPerSecond,
                            all::nowNs));
            replies.put(each.partition(), new HashMap<>());
        }
    }

    private static String key(long session, long sequence) {
        return session + "/" + sequence;
    }

    private Map<String, UpdateReply> replies(int partition) {
        Map<String, UpdateReply> found = replies.get(partition);
        assertThat(found).isNotNull();
        return found;
    }

    /** The answer to a command, so that the next one is seen as new. */
    @Nullable UpdateReply takeReply(int partition, Command command) {
        return replies(partition).remove(key(command.getSession(), command.getSequence()));
    }

    private ResultListener listener(int partition) {
        return (session, sequence, reply) -> replies(partition).put(key(session, sequence), reply);
    }

    void deliverGlobal(long instance, List<Entry> entries) {
        var _ =
                global.use(state -> {
                    state.deliver(instance, entries, null, listener(0));
                    return state;
                });
        driver.globalExecuted();
    }

    void deliver(long instance, List<Entry> entries) {
        var _ =
                own.use(state -> {
                    state.deliver(instance, entries, global, listener(region));
                    return state;
                });
        driver.regionalExecuted(entries);
    }

    /** The next instance of ring 0 to import, or -1. */
    long toImport() {
        return global.nextConcerning(region, own.importedThrough());
    }

    String nameOfNextImport() {
        return global.verdicts(region, toImport()).getFirst().getClass().getSimpleName();
    }

    /** What is told to have been seen of partition 0 has been imported here. */
    boolean hasSeen(long instance) {
        long next = toImport();
        return global.applied() >= instance && (next < 0 || next > instance);
    }

    void tick() {
        driver.tick();
        notices.forEach(NoticeDelivery::tick);
        copies.tick();
        try {
            for (ContentFollow follow : follows) {
                follow.tick();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        confirm();
    }

    /** As ImportConfirmation does, once every replica of the region has told it. */
    private void confirm() {
        long through = own.importedThrough();
        if (through > confirmed && all.nowNs() - confirmedNs >= CONFIRM_NS) {
            UpdateOp op = UpdateOp.confirmImports(new ConfirmImportsOp(region, through));
            if (multicast.propose(0, CommandBytes.internal(region, op), new int[] {0})) {
                confirmed = through;
                confirmedNs = all.nowNs();
            }
        }
    }

    /** What {@link ContentFollow} wants done is ordered at once, or not at all. */
    private UpdateReply execute(UpdateRequest request) {
        int ring = request.getPartition();
        byte[] value = CommandBytes.of(request.getCommand());
        all.step(request.getCommand().getOp().getSetField() + " ordered in " + ring);
        if (ring == 0) {
            if (!all.inMajority(region)) {
                return Updates.retry();
            }
            all.order(0, value);
            all.reach(this, all.ordered());
        } else {
            all.order(ring, value);
        }
        UpdateReply reply = takeReply(ring, request.getCommand());
        return reply == null ? new UpdateReply(Status.RETRY, 0) : reply;
    }

    @Override
    public List<BlockRef> delete(List<BlockRef> blocks) {
        return blocks;
    }

    @Override
    public void newBlocksNotBefore(long timeMs) {
        all.newBlocksNotBefore(timeMs);
    }

    @Override
    public BlockRef copy(BlockRef block, int to) throws IOException {
        all.step("block copied to " + to);
        if (block.getRegion() != 0 && !all.joined(region, block.getRegion())) {
            throw new IOException("region " + block.getRegion() + " is out of reach");
        }
        if (all.isLost(block)) {
            throw new IOException("fewer than 4 whole chunks of the block exist on any node");
        }
        return all.newBlock(to, block.getLength());
    }

    void opened(long ino) {
        follows.forEach(follow -> follow.opened(ino));
    }

    /** What is under way here, as the replica's own state has it. */
    List<String> left() {
        List<String> left = new ArrayList<>();
        add(left, "prepared", global.use(PartitionState::pendingTransactions));
        add(left, "to be voted", own.use(PartitionState::pendingVotes));
        add(left, "locks", List.copyOf(own.use(PartitionState::held).keySet()));
        add(left, "to be imported", toImport() < 0 ? List.of() : List.of(toImport()));
        boolean untidy = own.use(PartitionState::copying).untidy();
        add(left, "to be erased", untidy ? List.of(region) : List.of());
        for (HostedPartition each : List.of(global, own)) {
            add(left, "owed", each.use(state -> state.owed(1)).notices());
            add(left, "foreign", each.use(state -> state.withForeignContent(0, 1)));
        }
        return left;
    }

    private void add(List<String> left, String what, List<?> some) {
        if (!some.isEmpty()) {
            left.add(what + " in " + region + ": " + some);
        }
    }

    @Override
    public void close() {
        global.close();
        own.close();
    }
}
