package org.globalfs.replica.service;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Says that the replica stops. */
final class Shutdown {

    private final CountDownLatch begun = new CountDownLatch(1);

    void begin() {
        begun.countDown();
    }

    boolean begun() {
        return begun.getCount() == 0;
    }

    /** Pauses, but not into the shutdown. */
    boolean await(long time, TimeUnit unit) {
        try {
            return begun.await(time, unit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
