package org.globalfs.client.fuse;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether something is mounted on directories of a mount, as far as this process's namespace shows.
 * For any thread.
 */
final class Submounts {
    private static final Logger log = LoggerFactory.getLogger(Submounts.class);

    /** How long they are taken to be there still. */
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(5);

    private final String device;
    private volatile long lookedNs;
    private volatile boolean present;

    /**
     * @param device of the mount, "major:minor"
     */
    Submounts(String device) {
        this.device = device;
    }

    /** As it is now. */
    boolean look() {
        boolean found;
        try {
            found = MountTable.carriesOthers(device);
        } catch (IOException e) {
            log.warn("cannot see whether something is mounted in the tree: {}", e.toString());
            found = true;
        }
        if (found != present) {
            log.info(
                    found
                            ? "something is mounted in the tree: names of partition 0 are looked up each time"
                            : "nothing is mounted in the tree any more");
        }
        lookedNs = System.nanoTime();
        present = found;
        return found;
    }

    /** As it was found last; none are believed to have gone for some seconds. */
    boolean present() {
        return present && (System.nanoTime() - lookedNs < AGAIN_NS || look());
    }
}
