package org.globalfs.jepsen;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * Moves trees between partitions all the time, beside whatever else is done to the cluster. Nobody
 * is to notice, so histories say nothing of it. A move that a fault cuts short has done a part.
 */
final class TreeMoves implements AutoCloseable {
    private static final int MOST_BETWEEN_MS = 1_500;

    private final TestedCluster cluster;
    private final Map<String, List<String>> targets;
    private final List<String> trees;
    private final Random random;
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread thread;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    private TreeMoves(TestedCluster cluster, Map<String, List<String>> targets, long seed) {
        this.cluster = cluster;
        this.targets = targets;
        this.trees = new ArrayList<>(targets.keySet());
        this.random = new Random(seed);
        this.thread = Thread.ofVirtual().name("tree-moves").unstarted(this::run);
    }

    /**
     * Begins.
     *
     * @param targets of each tree, by its path below the mounts: names that {@code place move}
     *     takes
     */
    static TreeMoves begin(TestedCluster cluster, Map<String, List<String>> targets, long seed) {
        TreeMoves moves = new TreeMoves(cluster, targets, seed);
        moves.thread.start();
        return moves;
    }

    private void run() {
        try {
            while (!over.await(random.nextInt(MOST_BETWEEN_MS), TimeUnit.MILLISECONDS)) {
                try {
                    String tree = any(trees);
                    cluster.moveTree(
                            any(TestedCluster.REGIONS),
                            tree,
                            any(Objects.requireNonNull(targets.get(tree))));
                    done.incrementAndGet();
                } catch (IOException e) {
                    failed.incrementAndGet();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String any(List<String> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** What was done until now, for people. */
    String told() {
        return done + " moves of trees, and " + failed + " that were cut short or left something";
    }

    /** Returns once none is under way. */
    @Override
    public void close() {
        over.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
