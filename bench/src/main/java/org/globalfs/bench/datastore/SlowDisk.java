package org.globalfs.bench.datastore;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.datastore.node.FaultPoints;

/** A disk each of whose reads takes as much longer as it is told to. */
final class SlowDisk implements FaultPoints {
    private volatile long ns;

    void slowBy(long ms) {
        ns = TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Override
    public void reached(Step step, Path path) {}

    @Override
    public void reading(Path path, long offset) {
        if (ns > 0) {
            LockSupport.parkNanos(ns);
        }
    }
}
