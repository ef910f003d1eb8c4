package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.StorageConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands a chunk to another node: the copy here goes once one is on disk there, and stays in any
 * other case.
 *
 * <p>Two nodes that see different epochs may hand the same chunk to each other at the same time. So
 * a copy is first marked as leaving, and only then the other node is asked: it does not count a
 * copy of its own that is leaving, and one that is put there again leaves no more. At least one of
 * the two finds the other's mark, and keeps its copy.
 */
final class ChunkMove {
    /** The copy stays: the other node does not take this one. */
    static final int REFUSED = -1;

    /** The copy stays: it cannot be read here. */
    static final int UNREADABLE = -2;

    /** The copy stays: the other node is full. */
    static final int NO_SPACE = -3;

    /** The copy stays: the other node's disk failed, and takes no writes. */
    static final int DISK_FAILED = -4;

    private static final Logger LOG = LoggerFactory.getLogger(ChunkMove.class);

    private ChunkMove() {}

    /** What failed is the disk here. */
    static final class StoreFailure extends IOException {
        private static final long serialVersionUID = 1;

        private StoreFailure(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /**
     * @param keptFor the chunk's home when that is neither of the two, else empty
     * @return bytes that were sent, 0 when it was there; or why it stays, below zero
     * @throws StoreFailure this node's disk failed, not the other node
     * @throws IOException the other node does not answer: the copy stays
     */
    static int move(
            SegmentStore store,
            StorageConnection to,
            ChunkKey key,
            ChunkShape shape,
            String keptFor)
            throws IOException {
        long mark = store.leaves(key);
        store.reached(Step.MOVE_MARKED);
        boolean gone = false;
        try {
            int sent = 0;
            boolean there = to.has(key);
            store.reached(Step.MOVE_ASKED);
            if (!there) {
                byte[] bytes = read(store, key);
                if (bytes == null) {
                    return UNREADABLE;
                }
                ChunkStatus status = to.put(key, shape, keptFor, bytes, 0, bytes.length);
                if (status != ChunkStatus.OK && status != ChunkStatus.DELETED) {
                    LOG.debug("{} does not take chunk {}: {}", to.node(), key, status);
                    return switch (status) {
                        case NO_SPACE -> NO_SPACE;
                        case IO_ERROR -> DISK_FAILED;
                        default -> REFUSED;
                    };
                }
                sent = bytes.length;
                store.reached(Step.MOVE_SENT);
            }
            leave(store, key, mark);
            gone = true;
            store.reached(Step.MOVE_ENDED);
            return sent;
        } finally {
            if (!gone) {
                store.stays(key, mark);
            }
        }
    }

    private static void leave(SegmentStore store, ChunkKey key, long mark) throws StoreFailure {
        try {
            store.left(key, mark);
        } catch (IOException e) {
            throw new StoreFailure(e);
        }
    }

    private static byte @Nullable [] read(SegmentStore store, ChunkKey key) throws StoreFailure {
        ChunkLocation location = store.location(key);
        int length = location == null ? 0 : location.dataBytes();
        ByteBuffer buffer = BufferPool.take(SegmentStore.readRoom(length));
        try {
            ChunkStatus status = store.readOnce(key, 0, length, buffer);
            if (status != ChunkStatus.OK) {
                LOG.warn("chunk {}, which belongs to another node, is {} here", key, status);
                return null;
            }
            byte[] bytes = new byte[length];
            buffer.get(bytes);
            return bytes;
        } catch (IOException e) {
            throw new StoreFailure(e);
        } finally {
            BufferPool.give(buffer);
        }
    }
}
