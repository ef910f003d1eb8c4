package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.Shutdown;
import org.jspecify.annotations.Nullable;

/** Goes through a node's chunks in order, and never reads more than it was credited. */
final class ScrubWalk {
    private static final int BATCH = 256;

    private final SegmentStore store;
    private final @Nullable ChunkKey last;

    /** The next chunk to read is the first one behind it; null: the first of all. */
    private @Nullable ChunkKey cursor;

    /** Bytes that may be read by now and have not been. */
    private double credit;

    private boolean over;

    /** Reads a chunk. */
    @FunctionalInterface
    interface Reader {
        void read(ChunkKey key, int bytes) throws IOException;
    }

    /**
     * @param after null: from the first chunk of all
     * @param last where it ends; null: behind the last chunk that there is by then
     */
    ScrubWalk(SegmentStore store, @Nullable ChunkKey after, @Nullable ChunkKey last) {
        this.store = store;
        this.cursor = after;
        this.last = last;
    }

    /**
     * From a chunk that was drawn when the store was opened, so that each is as likely to be read
     * soon, whenever its block was made, to the last one.
     */
    static ScrubWalk fromAnywhere(SegmentStore store) {
        return new ScrubWalk(store, store.drawn(), null);
    }

    void credit(double bytes) {
        credit += bytes;
    }

    /** Whether it is behind its last chunk. */
    boolean isOver() {
        return over;
    }

    /** A chunk that cannot be read ends it for now; it goes on behind that one. */
    void readOn(Reader reader, Shutdown shutdown) throws IOException {
        while (credit > 0 && !over) {
            List<Map.Entry<ChunkKey, ChunkLocation>> next = store.list(cursor, BATCH);
            over = next.isEmpty();
            for (Map.Entry<ChunkKey, ChunkLocation> entry : next) {
                ChunkKey key = entry.getKey();
                over = last != null && key.compareTo(last) > 0;
                if (credit <= 0 || over || shutdown.begun()) {
                    return;
                }
                cursor = key;
                credit -= Math.max(1, entry.getValue().dataBytes());
                reader.read(key, entry.getValue().dataBytes());
            }
        }
    }
}
