package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far away each region is, measured in the background while anybody asks for other regions than
 * the own one. Nodes of one region count as equally far; which of them are slow, {@link NodeTimes}
 * knows. Thread-safe.
 */
final class RegionDistances implements Distances, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RegionDistances.class);
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(30);

    /** Without questions for so long, measuring pauses. */
    private static final long ASKED_NS = TimeUnit.SECONDS.toNanos(60);

    private static final int TIMEOUT_MS = 2_000;
    private static final double WEIGHT_OF_NEW = 0.3;

    /** Where other regions are before they have been measured: all equally far. */
    private static final long UNKNOWN_NS = TimeUnit.SECONDS.toNanos(1);

    private final String cluster;
    private final String ownRegion;
    private final NodeDirectory directory;
    private final FailureDetector detector;
    private final Map<String, Long> measured = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition asked = lock.newCondition();
    private volatile boolean running;
    private volatile long askedNs;
    private boolean stopped;

    RegionDistances(
            String cluster, String ownRegion, NodeDirectory directory, FailureDetector detector) {
        this.cluster = cluster;
        this.ownRegion = ownRegion;
        this.directory = directory;
        this.detector = detector;
    }

    @Override
    public long ns(StorageSite site) {
        if (site.region().equals(ownRegion)) {
            return 0;
        }
        askedNs = System.nanoTime();
        if (!running) {
            begin();
        }
        return measured.getOrDefault(site.region(), UNKNOWN_NS);
    }

    private void begin() {
        lock.lock();
        try {
            if (!running && !stopped) {
                // Only then: where there is no thread for it, the next who asks tries again.
                Thread.ofPlatform().daemon().name("region-distances").start(this::run);
                running = true;
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (true) {
            try {
                measureAll();
            } catch (RuntimeException e) {
                LOG.warn("the distances of regions could not be measured, and will be again", e);
            }
            lock.lock();
            try {
                long left = PERIOD_NS;
                while (!stopped && left > 0) {
                    left = asked.awaitNanos(left);
                }
                if (stopped || System.nanoTime() - askedNs > ASKED_NS) {
                    running = false;
                    return;
                }
            } catch (InterruptedException e) {
                running = false;
                return;
            } finally {
                lock.unlock();
            }
        }
    }

    private void measureAll() {
        Map<String, List<StorageSite>> byRegion = new TreeMap<>();
        try {
            for (StorageSite site : directory.newest(0).nodes()) {
                if (!site.region().equals(ownRegion) && !detector.isSuspect(site.id())) {
                    byRegion.computeIfAbsent(site.region(), r -> new ArrayList<>()).add(site);
                }
            }
        } catch (IOException e) {
            LOG.debug("distances are not measured: {}", e.toString());
            return;
        }
        byRegion.forEach((region, sites) -> {
            Long ns = roundTripNs(sites.get(ThreadLocalRandom.current().nextInt(sites.size())));
            if (ns != null) {
                measured.merge(
                        region, ns, (old, now) -> old + (long) (WEIGHT_OF_NEW * (now - old)));
            }
        });
        LOG.debug("distances in ns: {}", measured);
    }

    private @Nullable Long roundTripNs(StorageSite site) {
        try (StorageConnection connection =
                new StorageConnection(directory.address(site), cluster, site.id(), TIMEOUT_MS)) {
            connection.ping();
            long start = System.nanoTime();
            connection.ping();
            return System.nanoTime() - start;
        } catch (IOException e) {
            LOG.debug("the distance of {} is not known: {}", site.region(), e.toString());
            return null;
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            asked.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
