package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which nodes are suspect, for all operations of a client: what one operation learned by waiting,
 * no other has to. A suspect is asked last, and pinged in the background until it answers, or is
 * gone for good. Thread-safe.
 */
final class FailureDetector implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FailureDetector.class);
    private static final long PROBE_PERIOD_MS = 250;
    private static final int PROBE_TIMEOUT_MS = 1_000;
    private static final long MIN_SLOW_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long MAX_SLOW_NS = TimeUnit.SECONDS.toNanos(10);

    private final String cluster;
    private final NodeAddresses addresses;
    private final Runnable housekeeping;
    private final long housekeepingMs;
    private final Map<String, Suspicion> suspects = new ConcurrentHashMap<>();

    /** Suspects of which nobody knows an address any more: not asked until somebody does. */
    private final Set<String> gone = ConcurrentHashMap.newKeySet();

    /** Asked now: one that says nothing keeps no other waiting. */
    private final Set<String> probed = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean stopped;
    private final Thread prober;

    /**
     * @param notBeforeNs a node that answers pings but was slow stays suspect until then
     */
    private record Suspicion(long notBeforeNs, int times) {}

    /**
     * @param housekeeping run now and then, by the thread that is there anyway
     */
    FailureDetector(
            String cluster, NodeAddresses addresses, Runnable housekeeping, long housekeepingMs) {
        this.cluster = cluster;
        this.addresses = addresses;
        this.housekeeping = housekeeping;
        this.housekeepingMs = housekeepingMs;
        prober = Thread.ofPlatform().daemon().name("storage-prober").unstarted(this::run);
        prober.start();
    }

    boolean isSuspect(String node) {
        return isPinged(node) || isGone(node);
    }

    /** Whether it is a suspect that is asked in the background. */
    boolean isPinged(String node) {
        return !suspects.isEmpty() && suspects.containsKey(node);
    }

    /** Former homes of blocks may be asked for still: they stay suspect, whoever learned of it. */
    private boolean isGone(String node) {
        if (gone.isEmpty() || !gone.contains(node)) {
            return false;
        }
        if (addresses.address(node) == null) {
            return true;
        }
        gone.remove(node); // it is back
        return false;
    }

    /** The node could not be connected to, or dropped the connection. */
    void unreachable(String node, String why) {
        suspect(node, why, 0);
    }

    /** The node did not answer in time, though it may still live. */
    void slow(String node, String why) {
        suspect(node, why, MIN_SLOW_NS);
    }

    private void suspect(String node, String why, long forNs) {
        if (isGone(node)) {
            return;
        }
        long now = System.nanoTime();
        if (suspects.putIfAbsent(node, new Suspicion(now + forNs, 1)) != null) {
            return;
        }
        LOG.warn("{} is suspect: {}", node, why);
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The node answered a request. */
    void answered(String node) {
        if (!suspects.isEmpty()) {
            Suspicion suspicion = suspects.get(node);
            if (suspicion != null && System.nanoTime() - suspicion.notBeforeNs >= 0) {
                clear(node);
            }
        }
    }

    private void clear(String node) {
        if (suspects.remove(node) != null) {
            LOG.info("{} answers again", node);
        }
    }

    private void run() {
        long keptNs = System.nanoTime();
        while (pause()) {
            if (System.nanoTime() - keptNs >= TimeUnit.MILLISECONDS.toNanos(housekeepingMs)) {
                housekeeping.run();
                keptNs = System.nanoTime();
            }
            suspects.forEach((node, suspicion) -> {
                if (System.nanoTime() - suspicion.notBeforeNs >= 0 && probed.add(node)) {
                    begin(node, suspicion);
                }
            });
        }
    }

    /** A thread each: one that waits in a selector would keep a virtual one's carrier. */
    private void begin(String node, Suspicion suspicion) {
        Runnable probe =
                () -> {
                    try {
                        probe(node, suspicion);
                    } finally {
                        probed.remove(node);
                    }
                };
        try {
            Thread.ofPlatform().daemon().name("storage-probe-" + node).start(probe);
        } catch (OutOfMemoryError e) {
            probe.run(); // this process has no more threads now
        }
    }

    private void probe(String node, Suspicion suspicion) {
        HostPort address = addresses.address(node);
        if (address == null) {
            gone.add(node); // before it is no suspect
            suspects.remove(node, suspicion);
            LOG.info("{} is not known any more, and not asked whether it is there", node);
            return;
        }
        try (StorageConnection connection =
                new StorageConnection(address, cluster, node, PROBE_TIMEOUT_MS)) {
            connection.ping();
            clear(node);
        } catch (IOException e) {
            long wait =
                    Math.min(MAX_SLOW_NS, TimeUnit.MILLISECONDS.toNanos(50L << suspicion.times));
            suspects.replace(
                    node,
                    suspicion,
                    new Suspicion(System.nanoTime() + wait, Math.min(suspicion.times + 1, 5)));
            LOG.trace("{} still does not answer: {}", node, e.toString());
        }
    }

    /** Waits for work; false once stopped. */
    private boolean pause() {
        lock.lock();
        try {
            long idle = TimeUnit.MILLISECONDS.toNanos(housekeepingMs);
            while (!stopped && suspects.isEmpty() && idle > 0) {
                idle = changed.awaitNanos(idle);
            }
            boolean probes = !suspects.isEmpty();
            long left = probes ? TimeUnit.MILLISECONDS.toNanos(PROBE_PERIOD_MS) : 0;
            while (!stopped && left > 0) {
                left = changed.awaitNanos(left);
            }
            return !stopped;
        } catch (InterruptedException e) {
            return false;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
