package org.globalfs.multicast.runtime;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.protocol.Dissemination;
import org.globalfs.protocol.FreePorts;
import org.jspecify.annotations.Nullable;

/** Several processes' multicast in one JVM, on loopback and a folder. */
final class Cluster implements AutoCloseable {
    static final Duration LONG = Duration.ofSeconds(30);

    final Path folder;
    final Map<Integer, List<Integer>> rings;
    final Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
    private final Map<Integer, InetSocketAddress> spares = new TreeMap<>();
    final Map<Integer, MulticastNode> running = new ConcurrentSkipListMap<>();

    /** By node, then ring. Survives restarts, as a state on disk would. */
    final Map<Integer, Map<Integer, RecordingLearner>> learners = new TreeMap<>();

    final List<Throwable> fatal = new CopyOnWriteArrayList<>();
    final Map<Integer, Integer> homeRings = new HashMap<>();
    final Map<Integer, ImportSource> imports = new HashMap<>();
    long retainedBytes = 64 << 20;
    boolean durable = true;

    /** By ring. */
    Map<Integer, Dissemination> dissemination = Map.of();

    Cluster(Path folder, Map<Integer, List<Integer>> rings) throws IOException {
        this.folder = folder;
        this.rings = rings;
        for (List<Integer> members : rings.values()) {
            for (int node : members) {
                if (!addresses.containsKey(node)) {
                    addresses.put(node, freeAddress());
                    Map<Integer, RecordingLearner> own = new TreeMap<>();
                    rings.forEach((ring, m) -> {
                        if (m.contains(node)) {
                            own.put(ring, new RecordingLearner());
                        }
                    });
                    learners.put(node, own);
                }
            }
        }
    }

    static InetSocketAddress freeAddress() throws IOException {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePorts.one());
    }

    /** A process that no configuration but its own knows of, to be added to the ring. */
    String spare(int node, int ring) throws IOException {
        spares.put(node, freeAddress());
        learners.put(node, new TreeMap<>(Map.of(ring, new RecordingLearner())));
        return "127.0.0.1:" + spares.get(node).getPort();
    }

    MulticastNode start(int node) throws IOException {
        Map<Integer, List<Integer>> own = new HashMap<>();
        learners.get(node).keySet().forEach(ring -> own.put(ring, rings.get(ring)));
        @Nullable ImportSource source = imports.get(node);
        MulticastNode started =
                MulticastNode.start(
                        new MulticastOptions(
                                        "test",
                                        node,
                                        addresses.getOrDefault(node, spares.get(node)),
                                        addresses,
                                        own,
                                        homeRings.getOrDefault(node, -1),
                                        logOf(node),
                                        durable,
                                        4 << 20,
                                        retainedBytes)
                                .spreading(dissemination),
                        Map.<Integer, Learner>copyOf(learners.get(node)),
                        source,
                        fatal::add);
        running.put(node, started);
        return started;
    }

    Path logOf(int node) {
        return folder.resolve("node" + node);
    }

    void startAll() throws IOException {
        for (int node : addresses.keySet()) {
            start(node);
        }
    }

    RecordingLearner learner(int node, int ring) {
        return learners.get(node).get(ring);
    }

    void crash(int node) {
        running.remove(node).crash();
    }

    /** Node that coordinates the ring and has a lease. */
    int awaitCoordinator(int ring) {
        return await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(
                        () ->
                                running.entrySet().stream()
                                        .filter(e -> serves(e.getValue(), ring))
                                        .map(Map.Entry::getKey)
                                        .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    private boolean serves(MulticastNode node, int ring) {
        return node.inRing(ring) && node.leaseInstance(ring) >= 0;
    }

    @Override
    public void close() {
        List.copyOf(running.values()).forEach(MulticastNode::close);
        if (!fatal.isEmpty()) {
            throw new AssertionError("a node failed", fatal.get(0));
        }
    }
}
