package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.StorageRoom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces a storage node with the room that it has, and tells when that becomes another: its disk
 * may be used by others, too.
 */
final class RoomReport implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RoomReport.class);
    private static final long PERIOD_S = 10;
    private static final long CLOSE_MS = 3_000;

    /** What is less of the capacity is not worth telling everybody. */
    private static final int PART = 100;

    private final SegmentStore store;
    private final Discovery discovery;
    private final Function<StorageRoom, Member> member;
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;
    private StorageRoom told;

    /**
     * Announces the node.
     *
     * @param member the node with its room
     */
    RoomReport(
            SegmentStore store,
            String node,
            Discovery discovery,
            Function<StorageRoom, Member> member)
            throws IOException {
        this.store = store;
        this.discovery = discovery;
        this.member = member;
        told = store.room();
        discovery.register(member.apply(told));
        thread = Thread.ofPlatform().daemon().name("storage-" + node + "-room").start(this::run);
    }

    private void run() {
        while (!shutdown.await(PERIOD_S, TimeUnit.SECONDS)) {
            try {
                look();
            } catch (IOException | RuntimeException e) {
                LOG.warn(
                        "{}: what room there is now is not told: {}",
                        thread.getName(),
                        e.toString());
            }
        }
    }

    /** Tells the room, if it is another than what was told. */
    void look() throws IOException {
        StorageRoom now = store.room();
        if (differs(now.used(), told.used()) || differs(now.diskFree(), told.diskFree())) {
            discovery.update(member.apply(now));
            told = now;
        }
    }

    private boolean differs(long now, long before) {
        return Math.abs(now - before) > told.capacity() / PART;
    }

    /** A node of the same id that starts after this is not announced as the one that was here. */
    @Override
    public void close() {
        shutdown.begin();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
