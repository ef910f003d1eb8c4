package org.globalfs.bench.multicast;

import org.globalfs.bench.BenchFailure;

/** Lets measured time pass. */
final class Pause {
    private Pause() {}

    static void ofMs(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }
}
