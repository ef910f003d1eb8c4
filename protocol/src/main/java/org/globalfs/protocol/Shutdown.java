package org.globalfs.protocol;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Says that something stops; its threads wait here for whatever they wait for. Thread-safe. */
public final class Shutdown {

    private final CountDownLatch begun = new CountDownLatch(1);

    public void begin() {
        begun.countDown();
    }

    public boolean begun() {
        return begun.getCount() == 0;
    }

    /** Pauses, but not into the shutdown; true: it has begun. */
    public boolean await(long time, TimeUnit unit) {
        try {
            return begun.await(time, unit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
