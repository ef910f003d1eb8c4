package org.globalfs.bench.agar;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.zip.CRC32C;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Pause;
import org.globalfs.datastore.client.CacheNodes;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * The paper's clients in Frankfurt, each with a block store of its own, and their conversation with
 * the benchmark: each line in is a command, answered by one line that begins with "ok" or "error".
 */
final class LiveClients implements AutoCloseable {
    private static final int WRITERS = 4;
    private static final int NO_MORE = -1;
    private static final int STATISTICS_TIMEOUT_MS = 10_000;
    private static final long CHANGE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int POLL_MS = 20;
    private static final CacheStatistics NO_STATISTICS =
            new CacheStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    private final String cluster;
    private final String region;
    private final ZooKeeperDiscovery discovery;
    private final List<Written> written = new ArrayList<>();
    private final List<DistributedBlockStore> stores = new ArrayList<>();

    /** A block, and what it has to be when it is read. */
    private record Written(BlockRef ref, long crc) {}

    LiveClients(String zookeeper, String cluster, String region) throws IOException {
        this.cluster = cluster;
        this.region = region;
        discovery =
                ZooKeeperDiscovery.connect(
                        zookeeper, cluster, TimeUnit.NANOSECONDS.toMillis(CHANGE_NS));
    }

    /** Until the benchmark says "exit" or has gone. */
    void serve(InputStream in, PrintStream out) throws IOException {
        await("all storage nodes", () -> discovery.newest().nodes().size() == Setting.CHUNKS);
        out.println("ok ready");
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine();
                line != null && !line.equals("exit");
                line = lines.readLine()) {
            out.println(answer(line.split(" ")));
            out.flush();
        }
    }

    private String answer(String[] words) {
        try {
            return "ok "
                    + switch (words[0]) {
                        case "write" -> write(Integer.parseInt(words[1]));
                        case "open" -> open();
                        case "caches" -> caches(Integer.parseInt(words[1]));
                        case "others-for" -> others(Long.parseLong(words[1]), 0);
                        case "others" -> others(0, Integer.parseInt(words[1]));
                        case "read" ->
                                read(
                                                Long.parseLong(words[1]),
                                                Integer.parseInt(words[2]),
                                                Integer.parseInt(words[3]))
                                        .line();
                        default -> throw new BenchFailure("unknown command " + words[0]);
                    };
        } catch (IOException | BenchFailure e) {
            return "error " + e;
        }
    }

    private static void await(String what, BooleanSupplier there) {
        long since = System.nanoTime();
        while (!there.getAsBoolean()) {
            if (System.nanoTime() - since > CHANGE_NS) {
                throw new BenchFailure("waited in vain for " + what);
            }
            Pause.ofMs(POLL_MS);
        }
    }

    /** Writes so many blocks; those beyond the setting's are the others. */
    private String write(int blocks) throws IOException {
        Written[] slots = new Written[blocks];
        AtomicInteger next = new AtomicInteger();
        try (DistributedBlockStore store =
                new DistributedBlockStore(cluster, region, discovery, discovery)) {
            atOnce(
                    WRITERS,
                    writer -> {
                        byte[] content = new byte[Setting.OBJECT_BYTES];
                        for (int block = next.getAndIncrement();
                                block < blocks;
                                block = next.getAndIncrement()) {
                            new Random(block).nextBytes(content);
                            BlockRef ref = store.put(Topology.GLOBAL, ByteBuffer.wrap(content));
                            slots[block] = new Written(ref, crc(content));
                        }
                    });
        }
        written.addAll(List.of(slots));
        return Integer.toString(blocks);
    }

    private static long crc(byte[] content) {
        CRC32C crc = new CRC32C();
        crc.update(content);
        return crc.getValue();
    }

    /** New clients, which know nothing of what was before. */
    private String open() {
        stores.forEach(DistributedBlockStore::close);
        stores.clear();
        for (int client = 0; client < Setting.CLIENTS; client++) {
            stores.add(new DistributedBlockStore(cluster, region, discovery, discovery));
        }
        return "";
    }

    /** Waits until so many caches are announced. */
    private String caches(int count) {
        await(count + " caches", () -> discovery.members(Role.CACHE).size() == count);
        return "";
    }

    /**
     * Reads the others, which do not count: connections are made, distances measured and programs
     * compiled meanwhile.
     */
    private String others(long ms, int atLeast) throws IOException {
        long since = System.nanoTime();
        AtomicInteger next = new AtomicInteger();
        int others = written.size() - Setting.OBJECTS;
        double[] _ =
                read(() -> {
                    int read = next.getAndIncrement();
                    boolean goesOn =
                            read < atLeast
                                    || System.nanoTime() - since
                                            < TimeUnit.MILLISECONDS.toNanos(ms);
                    return goesOn ? Setting.OBJECTS + read % others : NO_MORE;
                });
        return "";
    }

    /** Reads what a seed's requests are from one place to another. */
    private Reading read(long seed, int from, int to) throws IOException {
        int[] requests = new Zipf(Setting.OBJECTS, AgarBench.SKEW).requests(seed, to);
        AtomicInteger next = new AtomicInteger(from);
        CacheStatistics before = statistics();
        double[] sumsMs =
                read(() -> {
                    int read = next.getAndIncrement();
                    return read < to ? requests[read] : NO_MORE;
                });
        CacheStatistics after = statistics();
        double sumMs = 0;
        for (double ms : sumsMs) {
            sumMs += ms;
        }
        return new Reading(
                to - from,
                sumMs,
                after.requests() - before.requests(),
                after.partHits() - before.partHits(),
                after.wholeHits() - before.wholeHits(),
                after.fetchedBytes() - before.fetchedBytes(),
                after.servedBytes() - before.servedBytes(),
                after.missed() - before.missed());
    }

    /**
     * Each client reads the next block when it has read one; the sums of what reads took, in ms.
     */
    private double[] read(IntSupplier nextBlock) throws IOException {
        double[] sumsMs = new double[stores.size()];
        atOnce(
                stores.size(),
                client -> {
                    byte[] into = new byte[Setting.OBJECT_BYTES];
                    for (int block = nextBlock.getAsInt();
                            block != NO_MORE;
                            block = nextBlock.getAsInt()) {
                        Written wanted = written.get(block);
                        long start = System.nanoTime();
                        stores.get(client).get(wanted.ref, 0, into, 0, into.length);
                        sumsMs[client] += (System.nanoTime() - start) / 1e6;
                        if (crc(into) != wanted.crc) {
                            throw new IOException("block " + block + " is not what was written");
                        }
                    }
                });
        return sumsMs;
    }

    private CacheStatistics statistics() throws IOException {
        Member cache = cache();
        if (cache == null) {
            return NO_STATISTICS;
        }
        try (StorageConnection connection =
                new StorageConnection(
                        cache.address(),
                        cluster,
                        CacheNodes.name(cache.id()),
                        STATISTICS_TIMEOUT_MS)) {
            return connection.cacheStatistics();
        }
    }

    private @Nullable Member cache() {
        List<Member> caches = discovery.members(Role.CACHE);
        return caches.isEmpty() ? null : caches.getFirst();
    }

    /** What one of several threads does. */
    private interface Work {
        void run(int thread) throws IOException;
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
        stores.forEach(DistributedBlockStore::close);
        discovery.close();
    }
}
