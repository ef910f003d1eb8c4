package org.globalfs.datastore.s3;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Bucket;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.wire.BlockRef;

/** Three buckets of a real S3 server, and what tests do to the objects in them. */
final class S3Cluster implements AutoCloseable {
    static final int REGIONS = 3;

    private final S3Server server;
    private final RecordedStore recorded;
    private final BlockStorage storage;

    /** A partition that says of blocks what it was told. */
    static final class Owner implements BlockOwner {
        final Set<BlockRef> inUse = ConcurrentHashMap.newKeySet();
        volatile boolean leads = true;

        @Override
        public boolean leads() {
            return leads;
        }

        @Override
        public Set<BlockRef> inUse(Collection<BlockRef> blocks) throws IOException {
            return blocks.stream().filter(inUse::contains).collect(Collectors.toSet());
        }
    }

    S3Cluster(Path folder) throws IOException {
        System.setProperty("aws.accessKeyId", S3Server.ACCESS_KEY);
        System.setProperty("aws.secretAccessKey", S3Server.SECRET_KEY);
        List<S3Bucket> places = new ArrayList<>();
        List<RecordedStore.Bucket> buckets = new ArrayList<>();
        server = new S3Server(folder, name(0), name(1), name(2));
        Optional<URI> endpoint = Optional.of(URI.create(server.endpoint()));
        for (int i = 0; i < REGIONS; i++) {
            String region = "region" + (i + 1);
            places.add(new S3Bucket(region, name(i), "us-east-1", endpoint, true));
            buckets.add(new RecordedStore.Bucket(region, i + 1, name(i)));
        }
        recorded = new RecordedStore(StoreKind.S3, buckets);
        storage = new BlockStorage(StoreKind.S3, places);
    }

    private static String name(int bucket) {
        return "care-b" + (bucket + 1);
    }

    S3BlockStore open(String cluster) {
        return new S3BlockStore(cluster, recorded, storage);
    }

    /** One in a region that reads through its caches, and reaches all buckets some other way. */
    S3BlockStore openThroughCaches(
            String cluster, String region, Discovery discovery, String endpoint) {
        return openThroughCaches(
                cluster, region, discovery, endpoint, S3BlockStore.Options.defaults());
    }

    /** The same, with other limits. */
    S3BlockStore openThroughCaches(
            String cluster,
            String region,
            Discovery discovery,
            String endpoint,
            S3BlockStore.Options options) {
        List<S3Bucket> places = new ArrayList<>();
        for (S3Bucket each : storage.buckets()) {
            places.add(
                    new S3Bucket(
                            each.region(),
                            each.bucket(),
                            each.awsRegion(),
                            Optional.of(URI.create(endpoint)),
                            true));
        }
        return S3BlockStore.throughCaches(
                cluster,
                region,
                recorded,
                new BlockStorage(StoreKind.S3, places),
                discovery,
                options);
    }

    /** As {@link #open(String)}, where the first bucket is reached some other way. */
    S3BlockStore open(String cluster, String firstEndpoint) {
        List<S3Bucket> places = new ArrayList<>(storage.buckets());
        S3Bucket first = places.getFirst();
        places.set(
                0,
                new S3Bucket(
                        first.region(),
                        first.bucket(),
                        first.awsRegion(),
                        Optional.of(URI.create(firstEndpoint)),
                        true));
        return new S3BlockStore(cluster, recorded, new BlockStorage(StoreKind.S3, places));
    }

    String endpoint() {
        return server.endpoint();
    }

    Buckets buckets(String cluster) {
        return new Buckets(cluster, recorded, storage, S3BlockStore.Options.defaults());
    }

    static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    Path bucket(int index) {
        return server.bucket(name(index));
    }

    /** Until {@link #bringBack} it is not there. */
    void takeAway(int bucket) throws IOException {
        Files.move(bucket(bucket), away(bucket), StandardCopyOption.ATOMIC_MOVE);
    }

    void bringBack(int bucket) throws IOException {
        Files.move(away(bucket), bucket(bucket), StandardCopyOption.ATOMIC_MOVE);
    }

    Path away(int bucket) {
        return bucket(bucket).resolveSibling("away-" + bucket);
    }

    /** A block's objects in all buckets, by chunk. */
    Map<Integer, Path> objects(BlockRef ref) throws IOException {
        String id = String.format("%016x%016x", ref.getIdHigh(), ref.getIdLow());
        Map<Integer, Path> found = new TreeMap<>();
        for (int i = 0; i < REGIONS; i++) {
            if (Files.exists(bucket(i))) {
                for (Path object : server.objects(name(i))) {
                    String name = object.getFileName().toString();
                    if (name.startsWith(id) && name.matches(".*-\\d{2}")) {
                        found.put(Piece.chunk(name), object);
                    }
                }
            }
        }
        return found;
    }

    /** Flips a bit in place, so that the server's notes on the file stay. */
    static void flip(Path object, int at) throws IOException {
        byte[] bytes = Files.readAllBytes(object);
        bytes[at] ^= 1;
        Files.write(object, bytes);
    }

    @Override
    public void close() {
        server.close();
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }
}
