package org.globalfs.datastore.s3;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * What one object holds: a whole block, or one chunk of a coded one.
 *
 * @param parityChunks 0: the block is whole
 * @param buckets how many the cluster had when the block was written
 */
record Piece(
        long idHigh,
        long idLow,
        int blockBytes,
        int region,
        int dataChunks,
        int parityChunks,
        int buckets,
        int chunk,
        int payloadBytes) {
    /** Behind the cluster, the partition, and the four digits. */
    private static final Pattern NAME =
            Pattern.compile(
                    "([0-9a-f]{16})([0-9a-f]{16})-([0-9a-f]{1,6})-(\\d{1,2})-(\\d{1,2})-(\\d{1,5})-\\d{2}");

    private static final int CHUNK_DIGITS = 2;
    private static final int MOST_CHUNKS = 32;

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
                ref.getEpoch(),
                chunk,
                m == 0 ? ref.getLength() : ReedSolomon.of(k, m).chunkBytes(ref.getLength()));
    }

    /** What the names of all objects of a partition begin with. */
    static String prefix(String cluster, int region) {
        return cluster + "/" + region + "/";
    }

    /**
     * The object's name: all that a reference to the block says, so that a listing gives references
     * back. The four digits are spread evenly, so that a service that splits its load by names
     * finds places to split at.
     */
    String key(String cluster) {
        return prefix(cluster, region)
                + String.format(
                        "%04x/%016x%016x-%x-%d-%d-%d-%02d",
                        idLow >>> 48,
                        idHigh,
                        idLow,
                        blockBytes,
                        dataChunks,
                        parityChunks,
                        buckets,
                        chunk);
    }

    /** Whether a block that an object's name gives can be one. */
    private static boolean isSound(BlockRef ref) {
        int k = ref.getDataChunks();
        int m = ref.getParityChunks();
        boolean whole = k == 1 && m == 0 && ref.getRegion() != 0;
        boolean coded = k >= 1 && m >= 1 && k + m <= MOST_CHUNKS && ref.getRegion() == 0;
        return (whole || coded)
                && ref.getEpoch() >= 1
                && ref.getLength() >= 1
                && ref.getLength() <= BlockStore.MAX_BLOCK_BYTES;
    }

    /** Which chunk of its block an object holds, whose name gives a block. */
    static int chunk(String key) {
        return Integer.parseInt(key.substring(key.length() - CHUNK_DIGITS));
    }

    /** A name without the chunk: the same of all chunks of a block, and no other's. */
    static String stem(String key) {
        return key.substring(0, key.length() - CHUNK_DIGITS - 1);
    }

    /** The block that an object of a partition is of; null: its name is not one of ours. */
    static @Nullable BlockRef block(int region, String key) {
        Matcher name = NAME.matcher(key.substring(key.lastIndexOf('/') + 1));
        if (!name.matches()) {
            return null;
        }
        BlockRef ref =
                new BlockRef(
                        Long.parseUnsignedLong(name.group(1), 16),
                        Long.parseUnsignedLong(name.group(2), 16),
                        Integer.parseInt(name.group(3), 16),
                        region,
                        Byte.parseByte(name.group(4)),
                        Byte.parseByte(name.group(5)),
                        Integer.parseInt(name.group(6)));
        return isSound(ref) ? ref : null;
    }
}
