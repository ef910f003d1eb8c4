package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.stream.Stream;
import org.globalfs.multicast.Membership;
import org.globalfs.protocol.Folders;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.VerdictSource;
import org.globalfs.replica.state.model.Verdict;
import org.globalfs.replica.state.store.StateException;
import org.globalfs.replica.state.store.StateOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A partition's state as this process holds it. The state itself can be exchanged for a peer's
 * checkpoint while calls run: every use is inside the read side of a lock, the exchange inside the
 * write side.
 *
 * <p>Folders: {@code pN} is the state; {@code pN.incoming} a checkpoint being fetched, worthless
 * after a crash; {@code pN.ready} a complete one, which replaces {@code pN} whenever it is found;
 * {@code pN.damaged-K} a state, or what was left of one, set aside for inspection; {@code pN.lost}
 * says that {@code pN} began anew though there was a state before.
 */
final class HostedPartition implements VerdictSource, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HostedPartition.class);

    /** RocksDB makes a new state where this file is missing, whatever else there is. */
    private static final String NEWEST = "CURRENT";

    private final int partition;
    private final Path parent;
    private final Path folder;
    private final Path ready;
    private final Path incoming;
    private final Path lost;
    private final StateOptions options;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private PartitionState state;
    private volatile boolean isLost;

    final Progress progress = new Progress();
    final Waiters waiters = new Waiters();

    /**
     * @param isKnown this replica took part before, so that a missing state is a lost one
     */
    HostedPartition(Path parent, int partition, StateOptions options, boolean isKnown)
            throws IOException {
        this.partition = partition;
        this.parent = parent;
        this.folder = parent.resolve("p" + partition);
        this.ready = parent.resolve("p" + partition + ".ready");
        this.incoming = parent.resolve("p" + partition + ".incoming");
        this.lost = parent.resolve("p" + partition + ".lost");
        this.options = options;
        Folders.delete(incoming);
        installReady();
        if (isKnown && !Files.exists(folder.resolve(NEWEST))) {
            LOG.error(
                    "partition {}: its state {} is gone; another replica's will replace it",
                    partition,
                    folder);
            noteLoss();
            setAsideWhatIsLeft();
        }
        this.state = openOrBegin();
        this.isLost = Files.exists(lost);
    }

    /** What lacks {@link #NEWEST} alone can be mended by hand, should no other replica have it. */
    private void setAsideWhatIsLeft() throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> left = Files.list(folder)) {
            if (left.findAny().isEmpty()) {
                return;
            }
        }
        Path aside = unused();
        try {
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IOException(
                    "%s holds no state, and what is in it cannot be set aside as %s. If it is a mount point, mount that disk at %s instead; else move away what is in it"
                            .formatted(folder, aside, parent),
                    e);
        }
        LOG.error("partition {}: what was left is set aside as {}", partition, aside);
        Folders.sync(parent);
    }

    /** A damaged state is set aside: what it held is in the log, or with the other replicas. */
    private PartitionState openOrBegin() throws IOException {
        try {
            return PartitionState.open(folder, partition, options);
        } catch (StateException e) {
            if (!e.isDamage()) {
                throw e;
            }
            Path aside = unused();
            LOG.error(
                    "partition {}: {}. The state is set aside as {}; another replica's will replace it",
                    partition,
                    e.getMessage(),
                    aside);
            noteLoss();
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
            Folders.sync(parent);
            return PartitionState.open(folder, partition, options);
        }
    }

    /** Before there is an empty state, which must not be taken for the tree. */
    private void noteLoss() throws IOException {
        if (!Files.exists(lost)) {
            Files.createFile(lost);
            Folders.sync(parent);
        }
    }

    private Path unused() {
        for (int n = 1; ; n++) {
            Path candidate = parent.resolve("p" + partition + ".damaged-" + n);
            if (!Files.exists(candidate)) {
                return candidate;
            }
        }
    }

    /**
     * The state began anew because the one before was damaged or gone, and nothing has replaced it:
     * nobody may be shown it.
     */
    boolean isLost() {
        return isLost;
    }

    /** From now on it counts as any state that lags. */
    void found() throws IOException {
        if (isLost) {
            Files.deleteIfExists(lost);
            Folders.sync(parent); // or a power cut would make a lost one of it again
            isLost = false;
        }
    }

    int partition() {
        return partition;
    }

    <T> T use(Function<PartitionState, T> action) {
        lock.readLock().lock();
        try {
            return action.apply(state);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** An empty folder for a checkpoint to be fetched into. */
    Path newIncoming() throws IOException {
        Folders.delete(incoming);
        return Files.createDirectories(incoming);
    }

    /**
     * The incoming folder is complete and on disk: go on from it. Called by the thread that
     * delivers.
     */
    void exchange() throws IOException {
        Files.move(incoming, ready, StandardCopyOption.ATOMIC_MOVE);
        Folders.sync(parent);
        lock.writeLock().lock();
        try {
            state.close();
            installReady();
            state = PartitionState.open(folder, partition, options);
        } finally {
            lock.writeLock().unlock();
        }
        found();
        progress.moved();
    }

    private void installReady() throws IOException {
        if (Files.exists(ready)) {
            Folders.delete(folder);
            Files.move(ready, folder, StandardCopyOption.ATOMIC_MOVE);
            Folders.sync(parent);
        }
    }

    @Override
    public long applied() {
        return use(PartitionState::applied);
    }

    long importedThrough() {
        return use(PartitionState::importedThrough);
    }

    /** The newest membership of the ring that was executed here; null while it is the first one. */
    @Nullable Membership membership() {
        lock.readLock().lock();
        try {
            return state.membership();
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public long nextConcerning(int other, long after) {
        return use(s -> s.nextConcerning(other, after));
    }

    @Override
    public List<Verdict> verdicts(int other, long instance) {
        return use(s -> s.verdicts(other, instance));
    }

    @Override
    public long trimmedThrough(int other) {
        return use(s -> s.trimmedThrough(other));
    }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            state.close();
        } finally {
            lock.writeLock().unlock();
        }
    }
}
