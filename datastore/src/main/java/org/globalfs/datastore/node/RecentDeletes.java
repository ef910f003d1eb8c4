package org.globalfs.datastore.node;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.globalfs.datastore.wire.ChunkKey;

/**
 * Blocks deleted a moment ago, in two generations: a write that was under way when the block was
 * deleted (a handed-off chunk going home, a read repair) must not bring a chunk back.
 */
final class RecentDeletes {
    private static final int GENERATION_SIZE = 50_000;
    private static final long GENERATION_NS = 120_000_000_000L;

    private final int generationSize;
    private final Runnable whenFull;
    private volatile Set<ChunkKey> young = ConcurrentHashMap.newKeySet();
    private volatile Set<ChunkKey> old = Set.of();
    private long youngSince = System.nanoTime();

    RecentDeletes() {
        this(GENERATION_SIZE, () -> {});
    }

    /**
     * @param whenFull run by whoever finds a generation full, before it is turned
     */
    RecentDeletes(int generationSize, Runnable whenFull) {
        this.generationSize = generationSize;
        this.whenFull = whenFull;
    }

    void add(ChunkKey block) {
        young.add(blockOf(block));
        if (young.size() >= generationSize) {
            whenFull.run();
            turnIfFull();
        }
    }

    /** Of those who find it full at the same time the first turns it: another turn forgets it. */
    private synchronized void turnIfFull() {
        if (young.size() >= generationSize) {
            turn();
        }
    }

    private synchronized void turn() {
        old = young;
        young = ConcurrentHashMap.newKeySet();
        youngSince = System.nanoTime();
    }

    boolean contains(ChunkKey key) {
        ChunkKey block = blockOf(key);
        return young.contains(block) || old.contains(block);
    }

    /** Forgets what is old enough; called now and then. */
    synchronized void age() {
        if (System.nanoTime() - youngSince > GENERATION_NS) {
            turn();
        }
    }

    private static ChunkKey blockOf(ChunkKey key) {
        return key.index() == 0 ? key : new ChunkKey(key.idHigh(), key.idLow(), 0);
    }
}
