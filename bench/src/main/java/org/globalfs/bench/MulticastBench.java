package org.globalfs.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.log.LogOptions;
import org.globalfs.multicast.runtime.MulticastNode;
import org.jspecify.annotations.Nullable;

/**
 * Latency and throughput of one ring of real nodes on loopback in this JVM: from a proposal at the
 * coordinator until its own learner has it. Prints what the same disk takes for a bare write and
 * sync, to compare with.
 */
public final class MulticastBench {
    private static final int[] NOWHERE = {};
    private static final int RING = 1;

    /**
     * What to run.
     *
     * @param folder made for the run and removed after it
     */
    public record Options(Path folder, int nodes, int valueBytes, int seconds, boolean durable) {}

    /** Learner of one node; at the coordinator it times what this program proposed. */
    private static final class Timer implements Learner {
        private final Histogram latency = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
        private @Nullable Semaphore outstanding;
        private long applied;
        private long lastTimestamp;

        synchronized void measure(@Nullable Semaphore free) {
            outstanding = free;
            latency.reset();
        }

        synchronized Histogram result() {
            return latency.copy();
        }

        @Override
        public synchronized long applied() {
            return applied;
        }

        @Override
        public synchronized long lastTimestamp() {
            return lastTimestamp;
        }

        @Override
        public synchronized void deliver(long instance, List<Entry> entries) {
            applied = instance;
            for (Entry entry : entries) {
                if (entry instanceof Entry.Command command) {
                    lastTimestamp = command.timestamp();
                    if (outstanding != null) {
                        latency.recordValue(
                                System.nanoTime() - ByteBuffer.wrap(command.value()).getLong());
                        outstanding.release();
                    }
                }
            }
        }

        @Override
        public void behind(long firstAvailable) {
            throw new IllegalStateException("a learner of the benchmark lags behind every log");
        }
    }

    private final Options options;
    private final PrintStream out;
    private final List<MulticastNode> nodes = new ArrayList<>();
    private final List<Timer> timers = new ArrayList<>();

    private MulticastBench(Options options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Runs every case and prints a line for each. */
    public static void run(Options options, PrintStream out)
            throws IOException, InterruptedException {
        Files.createDirectories(options.folder());
        MulticastBench bench = new MulticastBench(options, out);
        try {
            bench.start();
            bench.runCases();
        } finally {
            bench.nodes.forEach(MulticastNode::close);
            deleteTree(options.folder());
        }
    }

    /**
     * Arguments: folder, then optionally nodes, bytes of a value, seconds a case, disk or memory.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path folder =
                args.length > 0 ? Path.of(args[0]) : Files.createTempDirectory("globalfs-bench");
        int nodes = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        int bytes = args.length > 2 ? Integer.parseInt(args[2]) : 200;
        int seconds = args.length > 3 ? Integer.parseInt(args[3]) : 5;
        boolean durable = args.length <= 4 || !args[4].equals("memory");
        run(new Options(folder, nodes, bytes, seconds, durable), System.out);
    }

    private void start() throws IOException {
        Map<Integer, InetSocketAddress> addresses = new HashMap<>();
        List<Integer> members = new ArrayList<>();
        for (int id = 1; id <= options.nodes(); id++) {
            try (ServerSocket socket = new ServerSocket(0)) {
                addresses.put(
                        id,
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(), socket.getLocalPort()));
            }
            members.add(id);
        }
        for (int id : members) {
            Timer timer = new Timer();
            timers.add(timer);
            InetSocketAddress own = addresses.get(id);
            if (own == null) {
                throw new IllegalStateException("no address for node " + id);
            }
            MulticastOptions of =
                    new MulticastOptions(
                            "bench",
                            id,
                            own,
                            addresses,
                            Map.of(RING, members),
                            -1,
                            options.folder().resolve("node" + id),
                            options.durable(),
                            LogOptions.DEFAULT_SEGMENT_BYTES,
                            LogOptions.DEFAULT_RETAINED_BYTES);
            nodes.add(
                    MulticastNode.start(
                            of, Map.of(RING, timer), null, reason -> reason.printStackTrace(out)));
        }
    }

    private void runCases() throws IOException, InterruptedException {
        int coordinator = awaitCoordinator();
        measure(coordinator, 1);
        measure(coordinator, 64);
        out.printf(
                "%d nodes, values of %d bytes, %s%n",
                options.nodes(),
                options.valueBytes(),
                options.durable() ? "durable" : "NOT durable");
        for (int outstanding : new int[] {1, 8, 64, 512}) {
            Histogram disk = syncCost();
            Histogram latency = measure(coordinator, outstanding);
            out.printf(
                    "%4d outstanding: %8.0f/s  p50 %.3f ms  p99 %.3f ms  max %.1f ms"
                            + "   (bare write+sync: p50 %.3f ms, p99 %.3f ms)%n",
                    outstanding,
                    (double) latency.getTotalCount() / options.seconds(),
                    latency.getValueAtPercentile(50) / 1e6,
                    latency.getValueAtPercentile(99) / 1e6,
                    latency.getMaxValue() / 1e6,
                    disk.getValueAtPercentile(50) / 1e6,
                    disk.getValueAtPercentile(99) / 1e6);
        }
    }

    private int awaitCoordinator() throws InterruptedException {
        while (true) {
            for (int i = 0; i < nodes.size(); i++) {
                if (nodes.get(i).leaseInstance(RING) >= 0) {
                    return i;
                }
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private Histogram measure(int coordinator, int outstanding) throws InterruptedException {
        Semaphore free = new Semaphore(outstanding);
        timers.get(coordinator).measure(free);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.seconds());
        while (System.nanoTime() < end) {
            free.acquire();
            byte[] value = new byte[options.valueBytes()];
            ByteBuffer.wrap(value).putLong(System.nanoTime());
            if (!nodes.get(coordinator).propose(RING, value, NOWHERE)) {
                free.release();
                Thread.onSpinWait();
            }
        }
        free.acquire(outstanding);
        Histogram result = timers.get(coordinator).result();
        timers.get(coordinator).measure(null);
        return result;
    }

    /** A 4-KiB overwrite with sync of a file that was written before, for half a second. */
    private Histogram syncCost() throws IOException {
        Histogram result = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
        Path file = options.folder().resolve("bare");
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocateDirect(4 << 20), 0);
            channel.force(true);
            ByteBuffer block = ByteBuffer.allocateDirect(4096);
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
            for (int at = 0; System.nanoTime() < end; at = (at + 4096) % (4 << 20)) {
                long start = System.nanoTime();
                channel.write(block.clear(), at);
                channel.force(false);
                result.recordValue(System.nanoTime() - start);
            }
        }
        Files.delete(file);
        return result;
    }

    private static void deleteTree(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> walk = Files.walk(folder)) {
            all = walk.sorted(java.util.Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.deleteIfExists(path);
        }
    }
}
