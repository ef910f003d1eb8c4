package org.globalfs.replica.service;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CompactOp;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.replica.state.PartitionState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the content of files follow them to the region that they were moved to: stores their blocks
 * once more here, and has the files refer to those. Until then they are read from where they are.
 * Done by the ring's coordinator, a file at a time; those that somebody has opened there since come
 * first. A file that changes meanwhile is looked at again; blocks that were copied in vain are
 * swept.
 */
final class ContentFollow {

    private static final Logger LOG = LoggerFactory.getLogger(ContentFollow.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int FILES = 256;
    private static final int MOST_WANTED = 4096;

    /**
     * Of a file, between one look at it and the command that changes it; fewer, where that would
     * take more than a second's bandwidth.
     */
    private static final int BLOCKS = 4;

    /** In between it finds out whether it is to go on. */
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    /** In place of an answer. */
    private static final Errno UNKNOWN = Errno.EINPROGRESS;

    private static final int TRIES = 5;
    private static final int WAIT_MS = 5_000;

    /** Of a copy that no file refers to yet. */
    private static final long NOWHERE = -1;

    /** After something went wrong that is likely to go wrong again. */
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(10);

    /**
     * A block that was stored here in place of another region's.
     *
     * @param at where the file was given it first
     */
    private record Copy(BlockRef block, long at) {}

    /** How updates are executed that other sessions' grants may be in the way of. */
    interface Executor {
        UpdateReply execute(UpdateRequest request) throws InterruptedException;
    }

    /** Waits, so that no more is copied than may be. */
    interface Pause {
        void await(long ns);
    }

    private final HostedPartition partition;
    private final Multicast multicast;
    private final Datastore datastore;
    private final Executor executor;
    private final Shutdown shutdown;
    private final Pause pause;
    private final long bytesPerSecond;
    private final LongSupplier nanoTime;
    private final long session = new SecureRandom().nextLong(1, 1L << 62);
    private final Set<Long> wanted = new LinkedHashSet<>();

    /** Those that something went wrong with in this round: opened again, they are not first. */
    private final Set<Long> failed = new HashSet<>();

    private long sequence;
    private long after;
    private long restsUntilNs;

    /** When the bandwidth of what was copied is used up, and the next step may begin. */
    private long nextStepNs;

    ContentFollow(
            HostedPartition partition,
            Multicast multicast,
            Datastore datastore,
            Executor executor,
            Shutdown shutdown,
            Pause pause,
            long bytesPerSecond,
            LongSupplier nanoTime) {
        this.partition = partition;
        this.multicast = multicast;
        this.datastore = datastore;
        this.executor = executor;
        this.shutdown = shutdown;
        this.pause = pause;
        this.bytesPerSecond = bytesPerSecond;
        this.nanoTime = nanoTime;
        this.restsUntilNs = nanoTime.getAsLong();
        this.nextStepNs = restsUntilNs;
    }

    /** Somebody opened a file here. */
    void opened(long ino) {
        if (multicast.isCoordinator(partition.partition())
                && partition.use(state -> state.hasForeignContent(ino))) {
            synchronized (wanted) {
                if (wanted.size() < MOST_WANTED && !failed.contains(ino)) {
                    wanted.add(ino);
                }
            }
        }
    }

    /** Copies what there is to copy; returns after a while, or when nothing is left. */
    void tick() throws InterruptedException {
        if (!goesOn() || nanoTime.getAsLong() - restsUntilNs < 0) {
            return;
        }
        long from = after;
        List<Long> files = partition.use(state -> state.withForeignContent(from, FILES));
        for (long ino : files) {
            for (long first = takeWanted(); first != 0; first = takeWanted()) {
                if (!follow(first)) {
                    return;
                }
            }
            after = ino; // whether it follows or not: others are not to wait for it
            if (!follow(ino)) {
                return;
            }
        }
        if (files.size() < FILES) {
            after = 0;
            synchronized (wanted) {
                failed.clear();
            }
        }
    }

    private void rest(long ino, String why) {
        restsUntilNs = nanoTime.getAsLong() + PAUSE_NS;
        synchronized (wanted) {
            if (failed.size() < MOST_WANTED) {
                failed.add(ino);
            }
        }
        LOG.warn(
                "partition {}: content of files that were moved here stays in other regions for"
                        + " now, such as inode {}'s: {}",
                partition.partition(),
                ino,
                why);
    }

    private boolean goesOn() {
        return bytesPerSecond > 0
                && !shutdown.begun()
                && multicast.isCoordinator(partition.partition());
    }

    private long takeWanted() {
        synchronized (wanted) {
            var each = wanted.iterator();
            if (!each.hasNext()) {
                return 0;
            }
            long first = each.next();
            each.remove();
            return first;
        }
    }

    /** False: let others be for a while. */
    private boolean follow(long ino) throws InterruptedException {
        Map<BlockRef, Copy> copies = new HashMap<>();
        long from = 0;
        int tries = 0;
        // Who tries again has copies already, which do not keep.
        while ((tries == 0 ? awaitNextStep() : goesOn()) && tries < TRIES) {
            ReadReply file = read(ino, from, Long.MAX_VALUE - from);
            if (file.getStatus() != Status.DONE || file.getErrno() != 0) {
                return true; // it went on to another partition, or is no more
            }
            List<Extent> foreign = foreign(file.getExtents());
            boolean last = file.getContentEnd() >= file.getAttributes().getSize();
            if (foreign.isEmpty() && !last) {
                from = file.getContentEnd();
                continue;
            }
            try {
                List<Extent> here = copy(ino, foreign, copies);
                Errno refused = change(ino, file.getAttributes().getVersion(), here);
                if (refused == null) {
                    taken(foreign, here, copies);
                } else if (refused == UNKNOWN) {
                    foreign.forEach(extent -> copies.remove(extent.getBlock()));
                }
                if (refused == null && foreign.isEmpty() || refused == Errno.ESTALE) {
                    return true; // all is here, or the file was removed meanwhile
                }
                if (refused != null && refused != Errno.EAGAIN && refused != UNKNOWN) {
                    rest(ino, refused.name());
                    return false;
                }
                tries = refused == null ? 0 : tries + 1;
            } catch (IOException e) {
                rest(ino, e.toString());
                return false;
            }
        }
        return true;
    }

    private ReadReply read(long ino, long from, long length) {
        ReadOp op = ReadOp.content(new ContentOp(ino, from, length));
        ReadRequest request =
                new ReadRequest(
                        session, partition.partition(), SYSTEM, Consistency.CAUSAL, 0, 0, op);
        return partition.use(state -> state.read(request));
    }

    /** The first that are in so many blocks of other regions. */
    private List<Extent> foreign(List<Extent> extents) {
        List<Extent> foreign = new ArrayList<>();
        Set<BlockRef> blocks = new LinkedHashSet<>();
        long bytes = 0;
        for (Extent extent : extents) {
            BlockRef block = extent.getBlock();
            if (block != null && block.getRegion() != partition.partition()) {
                if (blocks.add(block)) {
                    bytes += block.getLength();
                }
                if (blocks.size() > BLOCKS || blocks.size() > 1 && bytes > bytesPerSecond) {
                    break;
                }
                foreign.add(extent);
            }
        }
        return foreign;
    }

    private List<Extent> copy(long ino, List<Extent> foreign, Map<BlockRef, Copy> copies)
            throws IOException {
        List<Extent> here = new ArrayList<>();
        // It may be ahead of the clock here, as when another coordinator's was ahead.
        long fenceMs = partition.use(PartitionState::blockFenceMs);
        datastore.newBlocksNotBefore(fenceMs);
        for (Extent extent : foreign) {
            Copy copy = copies.get(extent.getBlock());
            if (copy == null || !keeps(ino, copy, fenceMs)) {
                long beganNs = nanoTime.getAsLong();
                copy = new Copy(datastore.copy(extent.getBlock(), partition.partition()), NOWHERE);
                copies.put(extent.getBlock(), copy);
                used(copy.block.getLength(), beganNs);
            }
            here.add(new Extent(extent).setBlock(copy.block));
        }
        return here;
    }

    /** The file refers to these copies now; others may be swept before it does. */
    private static void taken(List<Extent> foreign, List<Extent> here, Map<BlockRef, Copy> copies) {
        for (int i = 0; i < here.size(); i++) {
            Extent extent = here.get(i);
            copies.put(foreign.get(i).getBlock(), new Copy(extent.getBlock(), extent.getOffset()));
        }
        copies.values().removeIf(copy -> copy.at == NOWHERE);
    }

    /** Whether the file can be given a copy that was made before, or given it once more. */
    private boolean keeps(long ino, Copy copy, long fenceMs) {
        return copy.at == NOWHERE ? BlockIds.timeMs(copy.block) >= fenceMs : isAt(ino, copy);
    }

    /**
     * Whether the file still has a copy that it was given. One that it has no more may be deleted
     * already, and no partition remembers all that it has given up; one that it has at the version
     * that it is to be changed from, it has until then.
     */
    private boolean isAt(long ino, Copy copy) {
        ReadReply there = read(ino, copy.at, 1);
        return there.getStatus() == Status.DONE
                && there.getErrno() == 0
                && there.getExtents().stream()
                        .anyMatch(extent -> copy.block.equals(extent.getBlock()));
    }

    private void used(int bytes, long beganNs) {
        long fromNs = nextStepNs - beganNs > 0 ? nextStepNs : beganNs;
        nextStepNs = fromNs + TimeUnit.SECONDS.toNanos(1) * bytes / bytesPerSecond;
    }

    /**
     * Between steps and not within one, so that copies are referred to at once, however long it
     * takes until there may be others: what nothing refers to is swept.
     *
     * @return false: it does not go on
     */
    private boolean awaitNextStep() {
        while (goesOn()) {
            long leftNs = nextStepNs - nanoTime.getAsLong();
            if (leftNs <= 0) {
                return true;
            }
            pause.await(Math.min(leftNs, LONGEST_PAUSE_NS));
        }
        return false;
    }

    /**
     * Null: the file refers to these; or, without any, it was found to have none left. {@link
     * #UNKNOWN}: it may yet come to do so.
     */
    private @Nullable Errno change(long ino, long version, List<Extent> extents)
            throws InterruptedException {
        sequence++;
        Command command =
                new Command(
                        session,
                        sequence,
                        sequence,
                        SYSTEM,
                        partition.partition(),
                        UpdateOp.compact(new CompactOp(ino, version, extents)));
        UpdateRequest request = new UpdateRequest(partition.partition(), command);
        UpdateReply reply = executor.execute(request.setWaitMs(WAIT_MS));
        if (reply.getStatus() != Status.DONE) {
            return UNKNOWN;
        }
        return reply.getErrno() == 0 ? null : Errno.of(reply.getErrno());
    }
}
