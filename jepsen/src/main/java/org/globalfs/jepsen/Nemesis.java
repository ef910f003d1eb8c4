package org.globalfs.jepsen;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiPredicate;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.fault.Fault;
import org.globalfs.jepsen.fault.FaultKind;
import org.jspecify.annotations.Nullable;

/**
 * Breaks a cluster: one fault at a time, of each kind once in an order that chance gives, then of
 * each again. Notes them in the history that is being recorded.
 */
final class Nemesis {
    private static final int LEAST_BETWEEN_MS = 700;
    private static final int MOST_BETWEEN_MS = 2_000;

    /** For so long after its end a fault may be to blame; as long as the checkers say. */
    private static final long FELT_NS = TimeUnit.SECONDS.toNanos(5);

    private final TestedCluster cluster;
    private final List<FaultKind> kinds;
    private final boolean moves;
    private final Random random;
    private final List<FaultKind> deck = new ArrayList<>();
    private final List<String> done = new ArrayList<>();

    /** Whether content is being made whole for a fault, or such a fault is under way. */
    private volatile boolean awaited;

    /** Held while something is broken, and while nothing may be. */
    private final Semaphore breaking = new Semaphore(1);

    // both under the lock: a history that begins during a fault tells of it first
    private @Nullable Recording recording;
    private @Nullable Fault current;

    private @Nullable Fault last;
    private long lastHealedNs;

    /**
     * @param moves whether content may be another partition's than its folder says
     */
    Nemesis(TestedCluster cluster, List<FaultKind> kinds, boolean moves, long seed) {
        this.cluster = cluster;
        this.kinds = kinds;
        this.moves = moves;
        this.random = new Random(seed);
    }

    /** From now on notes go there; null: nowhere. */
    synchronized void recordIn(@Nullable Recording next) {
        recording = next;
        if (last != null && System.nanoTime() - lastHealedNs < FELT_NS) {
            noteBegin(last, true);
            noteHealed(last);
        }
        if (current != null) {
            noteBegin(current, true);
        }
    }

    private synchronized void note(Fault fault, boolean begins) {
        current = begins ? fault : null;
        if (begins) {
            noteBegin(fault, false);
        } else {
            last = fault;
            lastHealedNs = System.nanoTime();
            noteHealed(fault);
        }
    }

    private void noteHealed(Fault fault) {
        if (recording != null) {
            recording.healed(fault.name() + " " + fault.target());
        }
    }

    private void noteBegin(Fault fault, boolean already) {
        if (recording != null) {
            recording.broken(
                    fault.name(),
                    fault.target(),
                    already,
                    those(fault::spares),
                    ofContent(fault::readable),
                    ofContent(fault::writable));
        }
    }

    /** The same, none when it is not all: with moves nobody knows whose content it is. */
    private List<String> ofContent(BiPredicate<String, String> holds) {
        List<String> those = those(holds);
        boolean all = those.size() == those((client, partition) -> true).size();
        return moves && !all ? List.of() : those;
    }

    /** Clients with partitions for which that holds. */
    private static List<String> those(BiPredicate<String, String> holds) {
        List<String> partitions = new ArrayList<>(TestedCluster.REGIONS);
        partitions.add(FaultKind.GLOBAL);
        List<String> those = new ArrayList<>();
        for (String client : TestedCluster.REGIONS) {
            for (String partition : partitions) {
                if (holds.test(client, partition)) {
                    those.add(client + ">" + partition);
                }
            }
        }
        return those;
    }

    /** Breaks and mends until then; returns what was done. All is mended when it returns. */
    List<String> breakUntil(CompletableFuture<?> end) throws IOException {
        while (!kinds.isEmpty() && !ends(end, random.nextInt(LEAST_BETWEEN_MS, MOST_BETWEEN_MS))) {
            breaking.acquireUninterruptibly();
            try {
                done.add(strike(end));
            } finally {
                breaking.release();
            }
        }
        return List.copyOf(done);
    }

    /** One fault, from beginning to end; returns which. */
    private String strike(CompletableFuture<?> end) throws IOException {
        FaultKind kind = next();
        awaited = kind.wantsWholeContent();
        try {
            return strike(kind, end);
        } finally {
            awaited = false;
        }
    }

    private String strike(FaultKind kind, CompletableFuture<?> end) throws IOException {
        Fault fault = kind.on(cluster, random);
        fault.aim();
        note(fault, true);
        try {
            fault.begin();
            boolean _ = ends(end, kind.holdMs(random));
        } catch (IOException e) {
            try {
                fault.end();
            } catch (IOException alsoThat) {
                e.addSuppressed(alsoThat);
            }
            throw e;
        }
        fault.end();
        note(fault, false);
        return fault.name() + " " + fault.target();
    }

    /**
     * Whether clients should go on, though their time is over: a fault comes, or is there, for
     * which content has to be whole first. That takes as long as many histories, so it would mostly
     * meet nobody.
     */
    boolean isAwaited() {
        return awaited;
    }

    /** Waits until nothing is broken; nothing will be until {@link #goOn}. */
    void rest() {
        breaking.acquireUninterruptibly();
    }

    void goOn() {
        breaking.release();
    }

    private FaultKind next() {
        if (deck.isEmpty()) {
            deck.addAll(kinds);
            Collections.shuffle(deck, random);
        }
        return deck.removeLast();
    }

    private static boolean ends(CompletableFuture<?> end, int withinMs) throws IOException {
        try {
            end.get(withinMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            // whoever waits for the end itself is told why
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
