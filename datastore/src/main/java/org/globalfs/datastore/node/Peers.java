package org.globalfs.datastore.node;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The other storage nodes as this one sees them: who is announced, who has been away for how long,
 * and connections to each. {@link #look} is of one thread, and nothing else runs meanwhile; the
 * rest may be called by several at a time.
 */
final class Peers implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
    private static final int TIMEOUT_MS = 5_000;

    /** How often one that is taken for dead, as it does not answer, is asked again. */
    private static final long SILENT_NS = TimeUnit.SECONDS.toNanos(30);

    /** Attribute of a member: another one after each start, which may have found an empty disk. */
    static final String INCARNATION = "incarnation";

    private final String cluster;
    private final String self;
    private final int region;
    private final Discovery discovery;
    private final long graceNs;
    private final Map<String, Member> announced = new TreeMap<>();
    private final Map<String, Long> absentSinceNs = new HashMap<>();

    /** Those that did not answer when they were asked last. Of one thread. */
    private final Map<String, Silence> silent = new HashMap<>();

    /** Of these, those that have been silent for the grace. */
    private Set<String> mute = Set.of();

    private record Silence(long sinceNs, long askedNs) {}

    /** Those that nobody uses now. */
    private final Map<String, Queue<StorageConnection>> idle = new ConcurrentHashMap<>();

    /**
     * What a pass depends on.
     *
     * @param present announced nodes of the region: incarnations by id
     * @param dead ids of the nodes in the epoch, of all regions, that were away, or announced and
     *     silent, for the grace
     */
    record View(int epoch, Map<String, String> present, Set<String> dead) {}

    /**
     * @param region this node's, whose nodes' starting again matters
     */
    Peers(String cluster, String self, int region, Discovery discovery, long graceMs) {
        this.cluster = cluster;
        this.self = self;
        this.region = region;
        this.discovery = discovery;
        this.graceNs = TimeUnit.MILLISECONDS.toNanos(graceMs);
    }

    /** Looks who is there now. */
    View look(Epoch epoch) {
        announced.clear();
        for (Member member : discovery.members(Role.STORAGE)) {
            announced.put(member.id(), member);
        }
        long nowNs = System.nanoTime();
        mute = mute();
        Set<String> listed = new HashSet<>();
        NavigableSet<String> dead = new TreeSet<>();
        for (StorageSite site : epoch.nodes()) {
            listed.add(site.id());
            if (isPresent(site.id())) {
                absentSinceNs.remove(site.id());
            } else if (mute.contains(site.id())) {
                dead.add(site.id());
            } else if (nowNs - absentSinceNs.computeIfAbsent(site.id(), id -> nowNs) >= graceNs) {
                dead.add(site.id());
            }
        }
        absentSinceNs.keySet().retainAll(listed);
        Map<String, String> present = new TreeMap<>();
        for (Member member : announced.values()) {
            if (member.partition() == region) {
                present.put(member.id(), member.attributes().getOrDefault(INCARNATION, ""));
            }
        }
        return new View(epoch.number(), present, dead);
    }

    /**
     * Who answers nobody for the grace is as good as away, though ZooKeeper hears of it: its disk
     * hangs, say. But who hears nothing of half of the others is cut off itself, and they are not.
     */
    private Set<String> mute() {
        silent.keySet().retainAll(announced.keySet());
        Set<String> found = new HashSet<>();
        silent.forEach((id, silence) -> {
            if (silence.askedNs - silence.sinceNs >= graceNs) {
                found.add(id);
            }
        });
        return 2 * silent.size() < announced.size() - 1 ? found : Set.of();
    }

    /** It did not say what it holds, or take anything, when it was asked just now. */
    void noteSilent(String id) {
        long nowNs = System.nanoTime();
        Silence before = silent.get(id);
        long sinceNs = nowNs;
        // Between two times that it is asked it may have been there, unless they are close.
        if (before != null && (mute.contains(id) || nowNs - before.askedNs < 2 * SILENT_NS)) {
            sinceNs = before.sinceNs;
        }
        silent.put(id, new Silence(sinceNs, nowNs));
    }

    /** It said what it holds, or whether it takes something. */
    void noteAnswer(String id) {
        silent.remove(id);
    }

    /** Whether it need not be asked now: it is taken for dead, and was silent a moment ago. */
    boolean isToBeLeft(String id) {
        Silence silence = silent.get(id);
        return mute.contains(id)
                && silence != null
                && System.nanoTime() - silence.askedNs < SILENT_NS;
    }

    /** Whether somebody announced did not answer when asked last. */
    boolean areSilent() {
        return !silent.isEmpty();
    }

    /** Whether it is taken for dead, as it has been silent for the grace. */
    boolean isMute(String id) {
        return mute.contains(id);
    }

    /** Whether it is announced, and not taken for dead; this node is there for itself. */
    boolean isPresent(String id) {
        return id.equals(self) || announced.containsKey(id) && !mute.contains(id);
    }

    /**
     * How long a node that is away goes on not to be taken for dead; negative: for ever, as it is
     * not in the epoch.
     */
    long graceLeftMs(String id) {
        Long sinceNs = absentSinceNs.get(id);
        if (mute.contains(id)) {
            return 0;
        }
        return sinceNs == null
                ? -1
                : TimeUnit.NANOSECONDS.toMillis(
                        Math.max(0, graceNs - (System.nanoTime() - sinceNs)));
    }

    /** The partition of the node's region; 0: it is not announced. */
    int regionOf(String id) {
        Member member = announced.get(id);
        return id.equals(self) ? region : member == null ? 0 : member.partition();
    }

    /** Announced nodes that may hold chunks of a region's blocks, without this one. */
    NavigableSet<String> ofRegion(int blocksRegion) {
        NavigableSet<String> ids = new TreeSet<>();
        for (Member member : announced.values()) {
            boolean may = blocksRegion == 0 || member.partition() == blocksRegion;
            if (may && !member.id().equals(self)) {
                ids.add(member.id());
            }
        }
        return ids;
    }

    /** Something to be asked of a node. */
    @FunctionalInterface
    interface Request<T> {
        T ask(StorageConnection node) throws IOException;
    }

    /**
     * Asks a node on a connection that nobody else uses meanwhile. After a failure the next request
     * opens another one: a node that was started again has closed those that are idle, too.
     *
     * @throws IOException the node is away or does not answer, or the request failed here
     */
    <T> T ask(String id, Request<T> request) throws IOException {
        StorageConnection connection = take(id);
        boolean healthy = false;
        try {
            T answer = request.ask(connection);
            healthy = true;
            return answer;
        } finally {
            if (healthy) {
                idleOf(id).add(connection);
            } else {
                closeQuietly(id, connection);
                closeIdle(id);
            }
        }
    }

    private void closeIdle(String id) {
        Queue<StorageConnection> connections = idleOf(id);
        for (StorageConnection one = connections.poll(); one != null; one = connections.poll()) {
            closeQuietly(id, one);
        }
    }

    private StorageConnection take(String id) throws IOException {
        Queue<StorageConnection> kept = idleOf(id);
        for (StorageConnection one = kept.poll(); one != null; one = kept.poll()) {
            if (one.isOpen()) {
                return one;
            }
            closeQuietly(id, one);
        }
        Member member = announced.get(id);
        if (member == null) {
            throw new IOException("storage node " + id + " is away");
        }
        return StorageConnection.inBackground(member.address(), cluster, id, TIMEOUT_MS);
    }

    private Queue<StorageConnection> idleOf(String id) {
        return idle.computeIfAbsent(id, _ -> new ConcurrentLinkedQueue<>());
    }

    private static void closeQuietly(String id, StorageConnection connection) {
        try {
            connection.close();
        } catch (IOException e) {
            LOG.debug("closing a connection to {}: {}", id, e.toString());
        }
    }

    /** Connections are made anew when they are needed. */
    @Override
    public void close() {
        idle.keySet().forEach(this::closeIdle);
    }
}
