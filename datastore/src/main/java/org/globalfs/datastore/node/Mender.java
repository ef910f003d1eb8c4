package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Shutdown;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a node's damaged chunks again, from their blocks' others. */
final class Mender {
    private static final Logger LOG = LoggerFactory.getLogger(Mender.class);

    /** A chunk that could not be made anew is left alone for so long. */
    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private final SegmentStore store;
    private final String node;
    private final ChunkSource source;
    private final Shutdown shutdown;
    private final Map<ChunkKey, Long> notBefore = new ConcurrentHashMap<>();

    Mender(SegmentStore store, String node, ChunkSource source, Shutdown shutdown) {
        this.store = store;
        this.node = node;
        this.source = source;
        this.shutdown = shutdown;
    }

    /** None is left alone the next time. */
    void forgive() {
        notBefore.clear();
    }

    /**
     * Goes through all that are known once.
     *
     * @param pass told what comes of it
     */
    void mend(@Nullable ScrubPass pass) {
        for (ChunkKey key : store.corrupt()) {
            Long time = notBefore.get(key);
            if (shutdown.begun() || time != null && System.nanoTime() - time < 0) {
                continue;
            }
            try {
                ChunkLocation location = store.location(key);
                boolean written = location != null && mend(key, location);
                notBefore.remove(key);
                if (written && pass != null) {
                    pass.mended(key);
                }
            } catch (IOException | RuntimeException e) {
                notBefore.put(key, System.nanoTime() + AGAIN_NS);
                if (pass != null) {
                    pass.notMended(key, e);
                }
                LOG.error("{}: damaged chunk {} stays so for now", node, key, e);
            }
        }
        notBefore.keySet().removeIf(key -> store.location(key) == null);
    }

    /** False: its block is gone. */
    private boolean mend(ChunkKey key, ChunkLocation location) throws IOException {
        byte[] bytes = source.chunk(key, location.shape());
        if (bytes.length != location.dataBytes()) {
            throw new IOException(
                    "it has "
                            + location.dataBytes()
                            + " bytes, its block's others "
                            + bytes.length);
        }
        ChunkStatus status = store.keep(key, location.shape(), location.home(), bytes);
        if (status == ChunkStatus.OK) {
            LOG.info("{}: damaged chunk {} is written again", node, key);
        } else if (status != ChunkStatus.DELETED) {
            throw new IOException("it cannot be written: " + status);
        }
        return status == ChunkStatus.OK;
    }
}
