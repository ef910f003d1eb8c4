package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Bucket;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * A cluster's buckets in their recorded order, and which object of a block is in which.
 * Thread-safe.
 */
final class Buckets implements AutoCloseable {
    private static final long FARTHEST_NS = TimeUnit.HOURS.toNanos(1);

    private final String cluster;
    private final List<Bucket> all = new ArrayList<>();

    /** Of each bucket. */
    private final List<Integer> partitions = new ArrayList<>();

    private final Map<Integer, Bucket> byPartition = new HashMap<>();

    /**
     * @param storage how to reach the recorded buckets, each of them
     */
    Buckets(
            String cluster,
            RecordedStore recorded,
            BlockStorage storage,
            S3BlockStore.Options options) {
        this.cluster = cluster;
        for (RecordedStore.Bucket each : recorded.buckets()) {
            S3Bucket place = storage.bucket(each.region());
            if (place == null) {
                throw new IllegalArgumentException("no way to the bucket of " + each.region());
            }
            Bucket bucket = new Bucket(place, options);
            all.add(bucket);
            partitions.add(each.partition());
            byPartition.put(each.partition(), bucket);
        }
    }

    int size() {
        return all.size();
    }

    List<Bucket> all() {
        return all;
    }

    /** Those that blocks of a region may have objects in; of all regions (0): each. */
    List<Bucket> ofBlocksOf(int region) throws BlockStoreException {
        return region == 0 ? all : List.of(of(region));
    }

    Bucket of(int partition) throws BlockStoreException {
        Bucket bucket = byPartition.get(partition);
        if (bucket == null) {
            throw unknown("the region of partition " + partition);
        }
        return bucket;
    }

    /** Whether all buckets of a coded block are known here. */
    boolean know(BlockRef ref) {
        return ref.getEpoch() >= 1 && ref.getEpoch() <= all.size();
    }

    Bucket of(BlockRef ref, int chunk) {
        return all.get(Spread.bucket(ref.getIdLow(), chunk, ref.getEpoch()));
    }

    /** Of an object whose bucket is known here. */
    Bucket of(Piece piece) throws BlockStoreException {
        return piece.parityChunks() == 0
                ? of(piece.region())
                : all.get(Spread.bucket(piece.idLow(), piece.chunk(), piece.buckets()));
    }

    @Nullable Bucket ofOrNull(BlockRef ref, int chunk) {
        if (ref.getParityChunks() == 0) {
            return byPartition.get(ref.getRegion());
        }
        return know(ref) ? of(ref, chunk) : null;
    }

    /** The partition of the region whose bucket a chunk is in; the bucket is known here. */
    int partition(BlockRef ref, int chunk) {
        return ref.getParityChunks() == 0
                ? ref.getRegion()
                : partitions.get(Spread.bucket(ref.getIdLow(), chunk, ref.getEpoch()));
    }

    /**
     * How far away each chunk of a block is whose buckets are known here, by index; one whose
     * bucket has just failed is farther than all others.
     */
    long[] waysNs(BlockRef ref) {
        long[] ways = new long[ref.getDataChunks() + ref.getParityChunks()];
        for (int chunk = 0; chunk < ways.length; chunk++) {
            Bucket bucket = of(ref, chunk);
            ways[chunk] = bucket.isSuspect() ? FARTHEST_NS : bucket.wayNs();
        }
        return ways;
    }

    String prefix(int region) {
        return Piece.prefix(cluster, region);
    }

    String key(Piece piece) {
        return piece.key(cluster);
    }

    /** Returns once the bucket's service keeps a piece. */
    boolean put(Bucket bucket, Piece piece, byte[] payload, int at) throws IOException {
        bucket.put(key(piece), ObjectFormat.encode(piece, payload, at));
        return true;
    }

    /** A range of a piece, verified; what a network garbled is better the second time. */
    byte[] read(Bucket bucket, Piece piece, int offset, int length) throws IOException {
        String key = key(piece);
        ObjectFormat.Span span = ObjectFormat.span(piece.payloadBytes(), offset, length);
        byte[] range = new byte[length];
        for (int attempt = 0; attempt < 2; attempt++) {
            byte[] fetched = bucket.get(key, span);
            if (fetched == null) {
                throw new BlockStoreException(
                        Reason.LOST, "object " + key + " is not in " + bucket);
            }
            if (ObjectFormat.decode(piece, fetched, offset, length, range, 0)) {
                return range;
            }
        }
        byte[] header = bucket.get(key, new ObjectFormat.Span(0, ObjectFormat.HEADER_BYTES));
        if (header != null && ObjectFormat.version(header) > ObjectFormat.VERSION) {
            throw new BlockStoreException(
                    Reason.UNREACHABLE, newer("object " + key + " in " + bucket, header));
        }
        throw new BlockStoreException(
                Reason.LOST, "object " + key + " in " + bucket + " is damaged");
    }

    /**
     * What an object is like.
     *
     * @param payload that may be relied on; of a damaged one it is only there when it is the header
     *     that is damaged
     * @param problem in words that name the object
     */
    record Look(State state, byte @Nullable [] payload, String problem) {

        enum State {
            WHOLE,
            MISSING,
            DAMAGED,
            /** The bucket did not say, or the object is of a newer program. */
            UNKNOWN
        }
    }

    /** Reads and verifies an object whole, its header too. */
    Look look(BlockRef ref, int chunk) {
        Piece piece = Piece.of(ref, chunk);
        Bucket bucket = ofOrNull(ref, chunk);
        String object = "object " + key(piece) + " in " + bucket;
        if (bucket == null) {
            return new Look(
                    Look.State.UNKNOWN, null, "its bucket is not in this server's 'blocks.s3'");
        }
        try {
            return look(bucket, piece, object);
        } catch (BlockStoreException e) {
            return new Look(Look.State.UNKNOWN, null, String.valueOf(e.getMessage()));
        }
    }

    private Look look(Bucket bucket, Piece piece, String object) throws BlockStoreException {
        int bytes = ObjectFormat.objectBytes(piece.payloadBytes());
        byte[] payload = new byte[piece.payloadBytes()];
        Look look = new Look(Look.State.MISSING, null, object + " is missing");
        for (int attempt = 0; attempt < 2; attempt++) {
            byte[] fetched = bucket.get(key(piece), new ObjectFormat.Span(0, bytes));
            if (fetched == null) {
                return new Look(Look.State.MISSING, null, object + " is missing");
            }
            byte[] header = Arrays.copyOf(fetched, ObjectFormat.HEADER_BYTES);
            if (ObjectFormat.version(header) > ObjectFormat.VERSION) {
                return new Look(Look.State.UNKNOWN, null, newer(object, header));
            }
            byte[] pages =
                    Arrays.copyOfRange(
                            fetched,
                            Math.min(ObjectFormat.HEADER_BYTES, fetched.length),
                            fetched.length);
            if (!ObjectFormat.decode(piece, pages, 0, payload.length, payload, 0)) {
                look = new Look(Look.State.DAMAGED, null, object + " is damaged");
            } else if (!ObjectFormat.hasHeader(piece, fetched)) {
                look = new Look(Look.State.DAMAGED, payload, object + " has a damaged header");
            } else {
                return new Look(Look.State.WHOLE, payload, "");
            }
        }
        return look;
    }

    private static String newer(String object, byte[] header) {
        return object
                + " has format "
                + ObjectFormat.version(header)
                + "; this program knows up to "
                + ObjectFormat.VERSION
                + ": upgrade it";
    }

    static BlockStoreException unknown(String of) {
        return new BlockStoreException(
                Reason.UNPLACEABLE,
                of
                        + " was added after this process started: add its bucket to 'blocks.s3' and"
                        + " start it again");
    }

    @Override
    public void close() {
        all.forEach(Bucket::close);
    }
}
