package org.globalfs.datastore.s3;

import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.wire.BlockRef;

/**
 * What one object holds: a whole block, or one chunk of a coded one.
 *
 * @param parityChunks 0: the block is whole
 */
record Piece(
        long idHigh,
        long idLow,
        int blockBytes,
        int region,
        int dataChunks,
        int parityChunks,
        int chunk,
        int payloadBytes) {

    static Piece of(BlockRef ref, int chunk) {
        int k = ref.getDataChunks();
        int m = ref.getParityChunks();
        return new Piece(
                ref.getIdHigh(),
                ref.getIdLow(),
                ref.getLength(),
                ref.getRegion(),
                k,
                m,
                chunk,
                m == 0 ? ref.getLength() : ReedSolomon.of(k, m).chunkBytes(ref.getLength()));
    }

    /**
     * The object's name. The four digits are spread evenly, so that a service that splits its load
     * by names finds places to split at.
     */
    String key(String cluster) {
        return String.format(
                "%s/%04x/%016x%016x.%02d", cluster, idLow >>> 48, idHigh, idLow, chunk);
    }
}
