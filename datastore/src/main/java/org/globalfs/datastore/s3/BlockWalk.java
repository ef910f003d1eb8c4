package org.globalfs.datastore.s3;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Goes through all blocks of a partition of which its buckets hold something: the buckets'
 * listings, which are sorted, are merged, so that no more than a page of each is in memory.
 *
 * <p>A listing is not of one moment, so what it lacks is only suspected to be missing. What a
 * bucket that does not answer holds from there on is unknown. Of one thread.
 */
final class BlockWalk {
    private static final int ID_DIGITS = 4;
    private static final int IDS = 1 << 16;

    private final Buckets buckets;
    private final int region;
    private final String prefix;
    private final int pageKeys;
    private final @Nullable String until;
    private final List<Listing> listings = new ArrayList<>();
    private String at;

    /**
     * A block.
     *
     * @param present of its chunks those that are listed, a bit each
     * @param unknown those whose bucket did not say
     */
    record Found(BlockRef ref, long present, long unknown) {
        int chunks() {
            return ref.getDataChunks() + ref.getParityChunks();
        }

        /** Those that should be listed and are not. */
        long missing() {
            return (1L << chunks()) - 1 & ~present & ~unknown;
        }
    }

    /** One bucket's. */
    private final class Listing {
        final Bucket bucket;
        List<Bucket.Listed> page = List.of();
        int next;
        boolean last;
        String behind;
        @Nullable BlockStoreException failure;
        long objects;
        long bytes;

        Listing(Bucket bucket, String behind) {
            this.bucket = bucket;
            this.behind = behind;
        }

        /** The object that is next; null: there is none, or nobody knows. */
        Bucket.@Nullable Listed peek() {
            while (next == page.size() && !last && failure == null) {
                try {
                    Bucket.Page more = bucket.list(prefix, behind, pageKeys);
                    checkOrder(more);
                    page = more.objects();
                    next = 0;
                    last = more.last();
                } catch (BlockStoreException e) {
                    failure = e;
                }
            }
            return next < page.size() && failure == null ? page.get(next) : null;
        }

        /** What were missed because of it would be made anew although it is there. */
        private void checkOrder(Bucket.Page more) throws BlockStoreException {
            for (Bucket.Listed each : more.objects()) {
                if (each.key().compareTo(behind) <= 0) {
                    throw new BlockStoreException(
                            Reason.UNREACHABLE,
                            "listing "
                                    + bucket
                                    + " failed: "
                                    + each.key()
                                    + " comes behind "
                                    + behind
                                    + ", so nobody can tell what is missing");
                }
                behind = each.key();
            }
            if (more.objects().isEmpty() && !more.last()) {
                throw new BlockStoreException(
                        Reason.UNREACHABLE, "listing " + bucket + " failed: it does not go on");
            }
        }
    }

    /**
     * @param from four hexadecimal digits, the first that names of objects have behind the
     *     partition's number; empty: from the beginning
     * @param until those that it ends before; null: none
     */
    BlockWalk(Buckets buckets, int region, String from, @Nullable String until)
            throws BlockStoreException {
        this(buckets, region, from, until, Bucket.MOST_KEYS);
    }

    BlockWalk(Buckets buckets, int region, String from, @Nullable String until, int pageKeys)
            throws BlockStoreException {
        this.pageKeys = pageKeys;
        this.buckets = buckets;
        this.region = region;
        this.prefix = buckets.prefix(region);
        this.until = until == null ? null : prefix + until;
        this.at = prefix + from;
        for (Bucket bucket : buckets.ofBlocksOf(region)) {
            listings.add(new Listing(bucket, at));
        }
    }

    /** The next block; null: that was the last. */
    @Nullable Found next() {
        while (true) {
            String stem = first();
            if (stem == null) {
                return null;
            }
            at = stem;
            BlockRef ref = Piece.block(region, stem + "-00");
            long present = 0;
            for (Listing listing : listings) {
                for (Bucket.Listed object = listing.peek();
                        object != null && stem(object).equals(stem);
                        object = listing.peek()) {
                    listing.next++;
                    if (ref != null && isOurs(listing, object, ref)) {
                        present |= 1L << Piece.chunk(object.key());
                        listing.objects++;
                        listing.bytes += object.bytes();
                    }
                }
            }
            if (ref != null && present != 0) {
                return new Found(ref, present, unknown(ref) & ~present);
            }
        }
    }

    private @Nullable String first() {
        String first = null;
        for (Listing listing : listings) {
            Bucket.Listed object = listing.peek();
            if (object != null && (until == null || object.key().compareTo(until) < 0)) {
                String stem = stem(object);
                first = first == null || stem.compareTo(first) < 0 ? stem : first;
            }
        }
        return first;
    }

    /** Of an object with any other name: all of it. */
    private String stem(Bucket.Listed object) {
        String key = object.key();
        return Piece.block(region, key) == null ? key : Piece.stem(key);
    }

    /** Whether it is where its name says that it belongs, and not somebody's copy elsewhere. */
    private boolean isOurs(Listing listing, Bucket.Listed object, BlockRef ref) {
        if (Piece.block(region, object.key()) == null) {
            return false;
        }
        int chunk = Piece.chunk(object.key());
        return chunk < ref.getDataChunks() + ref.getParityChunks()
                && (!buckets.know(ref) || buckets.ofOrNull(ref, chunk) == listing.bucket)
                && buckets.key(Piece.of(ref, chunk)).equals(object.key());
    }

    private long unknown(BlockRef ref) {
        long unknown = 0;
        for (int chunk = 0; chunk < ref.getDataChunks() + ref.getParityChunks(); chunk++) {
            Bucket bucket = buckets.ofOrNull(ref, chunk);
            boolean said = false;
            for (Listing listing : listings) {
                said |= listing.bucket == bucket && listing.failure == null;
            }
            unknown |= said ? 0 : 1L << chunk;
        }
        return unknown;
    }

    /** The digits that it is at, to begin another walk there. */
    String place() {
        return at.substring(prefix.length(), Math.min(at.length(), prefix.length() + ID_DIGITS));
    }

    /** How much of the walk is behind it, of 1: ids are spread evenly. */
    double part() {
        int digits = prefix.length() + ID_DIGITS;
        if (at.length() < digits) {
            return 0;
        }
        try {
            return (double) Integer.parseInt(at.substring(prefix.length(), digits), 16) / IDS;
        } catch (NumberFormatException e) {
            return 0; // a name of somebody else's
        }
    }

    /** Objects and their bytes, seen in a bucket by now. */
    record Count(String region, long objects, long bytes) {}

    List<Count> counts() {
        return listings.stream()
                .map(each -> new Count(each.bucket.region(), each.objects, each.bytes))
                .toList();
    }

    long objects() {
        return listings.stream().mapToLong(each -> each.objects).sum();
    }

    long bytes() {
        return listings.stream().mapToLong(each -> each.bytes).sum();
    }

    /** By region, the buckets that did not answer, and why. */
    Map<String, String> away() {
        Map<String, String> away = new TreeMap<>();
        for (Listing listing : listings) {
            BlockStoreException failure = listing.failure;
            if (failure != null) {
                away.put(listing.bucket.region(), String.valueOf(failure.getMessage()));
            }
        }
        return away;
    }
}
