package org.globalfs.bench.lab;

import org.globalfs.bench.BenchFailure;

/** Lets measured time pass. */
public final class Pause {
    private Pause() {}

    public static void ofMs(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }
}
