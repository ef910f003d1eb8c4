package org.globalfs.bench.datastore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Pause;
import org.globalfs.datastore.client.CacheNodes;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.globalfs.protocol.wire.BlockRef;

/** Clients of the measured datastore, each with a block store of its own. */
final class ClientsMember implements BenchMember {
    private static final int MOST_CLIENTS = 4;
    private static final int TIMEOUT_MS = 10_000;
    private static final int POLL_MS = 10;
    private static final int DELETED_AT_ONCE = 100;

    /** So much of what was written is read through the cache. */
    private static final int CACHED_BLOCKS = 32;

    /** Whatever is how near. */
    private static final BlockStorage CACHED =
            new BlockStorage(
                    StoreKind.DHT,
                    List.of(),
                    0,
                    BlockStorage.DEFAULT_TOLERATED_LOSSES,
                    S3Upkeep.DEFAULT);

    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(20);

    private final ZooKeeperDiscovery discovery;
    private final List<DistributedBlockStore> near = new ArrayList<>();
    private final List<DistributedBlockStore> far = new ArrayList<>();
    private final List<Written> written = Collections.synchronizedList(new ArrayList<>());
    private final byte[] content = new byte[Setup.BLOCK_BYTES];

    /** A block, and what it begins with. */
    private record Written(BlockRef ref, long stamp) {}

    /** What one of several clients does. */
    private interface Work {
        void run(int client) throws IOException;
    }

    ClientsMember(String zookeeper) throws IOException {
        discovery = Setup.connect(zookeeper);
        new Random(1).nextBytes(content);
        for (int client = 0; client < MOST_CLIENTS; client++) {
            near.add(new DistributedBlockStore(Setup.CLUSTER, Setup.REGION, discovery, discovery));
            far.add(
                    new DistributedBlockStore(
                            Setup.CLUSTER, Setup.FAR_REGION, discovery, discovery, CACHED));
        }
        try {
            String _ = ReedSolomon.settle();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    @Override
    public String answer(String[] words) throws IOException {
        return switch (words[0]) {
            case "nodes" -> nodes(Role.STORAGE, Integer.parseInt(words[1]));
            case "caches" -> nodes(Role.CACHE, Integer.parseInt(words[1]));
            case "put" ->
                    put(Integer.parseInt(words[1]), Long.MAX_VALUE, Double.parseDouble(words[2]))
                            .line();
            case "fill" -> put(MOST_CLIENTS, Long.parseLong(words[1]), Double.MAX_VALUE).line();
            case "get" -> get(Integer.parseInt(words[1])).line();
            case "latency" -> latency(Integer.parseInt(words[1]), Double.parseDouble(words[2]));
            case "cached" ->
                    cached(Integer.parseInt(words[1]), Double.parseDouble(words[2])).line();
            case "delete" -> delete();
            case "rebuilt-without" -> rebuilt(words[1]);
            default -> throw new BenchFailure("unknown command " + words[0]);
        };
    }

    private String nodes(Role role, int count) {
        long since = System.nanoTime();
        while (discovery.members(role).size() != count) {
            if (System.nanoTime() - since > PATIENCE_NS) {
                throw new BenchFailure("waited in vain for " + count + " of " + role);
            }
            Pause.ofMs(POLL_MS);
        }
        return "";
    }

    private Transfer put(int clients, long mostBytes, double seconds) throws IOException {
        long start = System.nanoTime();
        AtomicLong left = new AtomicLong(mostBytes);
        AtomicLong bytes = new AtomicLong();
        atOnce(
                clients,
                client -> {
                    byte[] own = content.clone();
                    Random stamps = new Random();
                    while ((System.nanoTime() - start) / 1e9 < seconds
                            && left.addAndGet(-own.length) > -own.length) {
                        long stamp = stamps.nextLong();
                        ByteBuffer block = ByteBuffer.wrap(own).putLong(0, stamp);
                        BlockRef ref = near.get(client).put(Setup.PARTITION, block);
                        written.add(new Written(ref, stamp));
                        bytes.addAndGet(own.length);
                    }
                });
        return new Transfer(bytes.get(), System.nanoTime() - start);
    }

    /** All that was written, once. */
    private Transfer get(int clients) throws IOException {
        List<Written> all = List.copyOf(written);
        AtomicInteger next = new AtomicInteger();
        long start = System.nanoTime();
        atOnce(
                clients,
                client -> {
                    byte[] into = new byte[Setup.BLOCK_BYTES];
                    for (int i = next.getAndIncrement();
                            i < all.size();
                            i = next.getAndIncrement()) {
                        get(near.get(client), all.get(i), into);
                    }
                });
        return new Transfer((long) all.size() * Setup.BLOCK_BYTES, System.nanoTime() - start);
    }

    private static void get(DistributedBlockStore store, Written block, byte[] into)
            throws IOException {
        store.get(block.ref, 0, into, 0, into.length);
        if (ByteBuffer.wrap(into).getLong() != block.stamp) {
            throw new BenchFailure(block.ref + " is not what was written");
        }
    }

    /**
     * Ranges of what was written, by one client.
     *
     * @return nanoseconds that half of the reads, and all but one in a hundred, took at most
     */
    private String latency(int bytes, double seconds) throws IOException {
        Random random = new Random(1);
        byte[] into = new byte[bytes];
        LongStream.Builder took = LongStream.builder();
        long start = System.nanoTime();
        long endNs;
        do {
            Written block = written.get(random.nextInt(written.size()));
            int from = random.nextInt((Setup.BLOCK_BYTES - bytes) / bytes + 1) * bytes;
            long beganNs = System.nanoTime();
            near.getFirst().get(block.ref, from, into, 0, bytes);
            endNs = System.nanoTime();
            took.add(endNs - beganNs);
        } while ((endNs - start) / 1e9 < seconds);
        long[] sorted = took.build().sorted().toArray();
        return sorted[sorted.length / 2] + " " + sorted[sorted.length * 99 / 100];
    }

    /**
     * Some blocks over and over, by clients that have everything in their region's cache. On a busy
     * machine a client may give up waiting for the cache: that is no figure of the cache's, so it
     * is taken again.
     */
    private Transfer cached(int clients, double seconds) throws IOException {
        List<Written> some = written.subList(0, Math.min(CACHED_BLOCKS, written.size()));
        long endNs = System.nanoTime() + PATIENCE_NS;
        boolean filled = false;
        while (true) {
            CacheStatistics before = cache();
            Transfer read = read(far, some, clients, filled ? seconds : 0.2);
            CacheStatistics after = cache();
            long asked = after.requests() - before.requests();
            boolean allHits = asked > 0 && after.wholeHits() - before.wholeHits() == asked;
            long served = after.servedBytes() - before.servedBytes();
            if (filled && served >= read.bytes()) {
                return read;
            }
            if (System.nanoTime() > endNs) {
                throw new BenchFailure(
                        "of %d bytes only %d came from the cache".formatted(read.bytes(), served));
            }
            filled = allHits;
        }
    }

    private static Transfer read(
            List<DistributedBlockStore> stores, List<Written> some, int clients, double seconds)
            throws IOException {
        AtomicInteger next = new AtomicInteger();
        AtomicLong bytes = new AtomicLong();
        long start = System.nanoTime();
        atOnce(
                clients,
                client -> {
                    byte[] into = new byte[Setup.BLOCK_BYTES];
                    do {
                        Written block = some.get(next.getAndIncrement() % some.size());
                        get(stores.get(client), block, into);
                        bytes.addAndGet(into.length);
                    } while ((System.nanoTime() - start) / 1e9 < seconds);
                });
        return new Transfer(bytes.get(), System.nanoTime() - start);
    }

    private CacheStatistics cache() throws IOException {
        Member cache = discovery.members(Role.CACHE).getFirst();
        try (StorageConnection connection =
                new StorageConnection(
                        cache.address(), Setup.CLUSTER, CacheNodes.name(cache.id()), TIMEOUT_MS)) {
            return connection.cacheStatistics();
        }
    }

    private String delete() throws IOException {
        while (!written.isEmpty()) {
            List<Written> some =
                    List.copyOf(written.subList(0, Math.min(DELETED_AT_ONCE, written.size())));
            Set<BlockRef> refs = new HashSet<>(some.stream().map(Written::ref).toList());
            if (near.getFirst().deleteAll(refs).size() != refs.size()) {
                throw new BenchFailure("not all blocks could be deleted");
            }
            written.removeAll(some);
        }
        return "";
    }

    /**
     * Waits until the other nodes hold all chunks of what was written.
     *
     * @return milliseconds until they began, then bytes that they made anew and in which time
     */
    private String rebuilt(String dead) throws IOException {
        long start = System.nanoTime();
        long wanted = (long) written.size() * Setup.CHUNKS;
        Map<String, StorageConnection> connections = new HashMap<>();
        try {
            for (Member node : discovery.members(Role.STORAGE)) {
                if (!node.id().equals(dead)) {
                    connections.put(
                            node.id(),
                            new StorageConnection(
                                    node.address(), Setup.CLUSTER, node.id(), TIMEOUT_MS));
                }
            }
            long first = held(connections);
            long begun = 0;
            while (true) {
                long now = held(connections);
                if (begun == 0 && now > first) {
                    begun = System.nanoTime();
                    first = now;
                }
                if (now >= wanted) {
                    break;
                }
                if (System.nanoTime() - start > PATIENCE_NS) {
                    throw new BenchFailure(now + " of " + wanted + " chunks are there");
                }
                Pause.ofMs(POLL_MS);
            }
            long chunkBytes = Setup.BLOCK_BYTES / Setup.DATA_CHUNKS;
            return TimeUnit.NANOSECONDS.toMillis(begun - start)
                    + " "
                    + new Transfer((wanted - first) * chunkBytes, System.nanoTime() - begun).line();
        } finally {
            for (StorageConnection connection : connections.values()) {
                connection.close();
            }
        }
    }

    private static long held(Map<String, StorageConnection> connections) throws IOException {
        long chunks = 0;
        for (StorageConnection connection : connections.values()) {
            chunks += connection.statistics().chunks();
        }
        return chunks;
    }

    private static void atOnce(int threads, Work work) throws IOException {
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                running.add(
                        executor.submit(() -> {
                            work.run(number);
                            return null;
                        }));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    @Override
    public void close() {
        near.forEach(DistributedBlockStore::close);
        far.forEach(DistributedBlockStore::close);
        discovery.close();
    }
}
