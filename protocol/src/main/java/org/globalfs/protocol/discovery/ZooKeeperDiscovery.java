package org.globalfs.protocol.discovery;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.BoundedExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Discovery in ZooKeeper, under {@code /globalfs/CLUSTER}.
 *
 * <p>A member is an ephemeral node {@code members/ROLE/ID~INCARNATION}. The incarnation lets a
 * process that was killed and restarted announce itself at once beside its stale node, which lives
 * on until its session runs out: of several nodes with one id the youngest counts. Epochs are
 * persistent nodes {@code placement/NUMBER}; creating one is the compare-and-set. Replicas that
 * ever served are persistent nodes {@code replicas/ID}. Where blocks are kept is in the persistent
 * node {@code blocks}.
 *
 * <p>Members and epochs are mirrored here. While the connection is down the mirror keeps its last
 * content. A ZooKeeper that comes back without its data is given what is known here: who has
 * announced members puts back the epochs, and what else it has recorded or read.
 */
public final class ZooKeeperDiscovery implements Discovery, PlacementEpochs, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperDiscovery.class);

    /** Numbers in ids order as numbers: 2 before 10. */
    private static final Comparator<Member> BY_ID =
            Comparator.comparingInt((Member m) -> m.id().length()).thenComparing(Member::id);

    private static final int SESSION_TIMEOUT_MS = 6_000;
    private static final int CONNECTION_TIMEOUT_MS = 5_000;
    private static final int REGISTER_TIMEOUT_MS = 10_000;

    /** Before any storage node has ever joined. */
    private static final Epoch NONE = new Epoch(0, List.of());

    private record Seen(Member member, long created) {}

    private final CuratorFramework client;
    private final String root;
    private final CuratorCache memberCache;
    private final CuratorCache epochCache;
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();
    private final ConcurrentSkipListMap<Integer, Epoch> epochs = new ConcurrentSkipListMap<>();
    private final Map<String, PersistentNode> announced = new HashMap<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** Paths of announcements that cannot be read, reported once each: they change all the time. */
    private final Set<String> unreadable = ConcurrentHashMap.newKeySet();

    /** Replicas that are known here to have served, by their ids. */
    private final Set<String> served = ConcurrentHashMap.newKeySet();

    private volatile @Nullable RecordedStore store;

    private ZooKeeperDiscovery(CuratorFramework client, String cluster) {
        this.client = client;
        root = "/globalfs/" + cluster;
        memberCache = CuratorCache.build(client, root + "/members");
        epochCache = CuratorCache.build(client, root + "/placement");
    }

    /** Connects, and waits until the view is complete. */
    public static ZooKeeperDiscovery connect(String zookeeper, String cluster, long timeoutMs)
            throws IOException {
        CuratorFramework client;
        try {
            client =
                    CuratorFrameworkFactory.builder()
                            .connectString(zookeeper)
                            .zkClientConfig(new PlainClientConfig())
                            .sessionTimeoutMs(SESSION_TIMEOUT_MS)
                            .connectionTimeoutMs(CONNECTION_TIMEOUT_MS)
                            .retryPolicy(new BoundedExponentialBackoffRetry(50, 1_000, 5))
                            .build();
        } catch (IllegalArgumentException e) {
            throw new IOException("'" + zookeeper + "' is not a ZooKeeper connect string", e);
        }
        client.start();
        ZooKeeperDiscovery discovery = new ZooKeeperDiscovery(client, cluster);
        try {
            discovery.open(zookeeper, timeoutMs);
        } catch (IOException | RuntimeException e) {
            discovery.close();
            throw e;
        }
        return discovery;
    }

    private void open(String zookeeper, long timeoutMs) throws IOException {
        CountDownLatch mirrored = new CountDownLatch(2);
        memberCache
                .listenable()
                .addListener(
                        CuratorCacheListener.builder()
                                .forAll((type, before, after) -> onMember(before, after))
                                .forInitialized(mirrored::countDown)
                                .build());
        epochCache
                .listenable()
                .addListener(
                        CuratorCacheListener.builder()
                                .forAll((type, before, after) -> onEpoch(after))
                                .forInitialized(mirrored::countDown)
                                .build());
        try {
            if (!client.blockUntilConnected((int) timeoutMs, TimeUnit.MILLISECONDS)) {
                throw unreachable(zookeeper, timeoutMs);
            }
            checkChroot(zookeeper);
            memberCache.start();
            epochCache.start();
            if (!mirrored.await(timeoutMs, TimeUnit.MILLISECONDS)) {
                throw unreachable(zookeeper, timeoutMs);
            }
            client.getConnectionStateListenable()
                    .addListener((_, state) -> {
                        if (state == ConnectionState.RECONNECTED) {
                            Thread.ofVirtual().name("discovery-put-back").start(this::putBack);
                        }
                    });
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Nothing can be made below a path that is not there, and who looks finds nothing there. */
    private void checkChroot(String zookeeper) throws IOException {
        String chroot = new ConnectStringParser(zookeeper).getChrootPath();
        if (chroot == null) {
            return;
        }
        boolean there;
        try {
            there = client.checkExists().forPath("/") != null;
        } catch (Exception e) {
            throw failed("looking for " + chroot, e);
        }
        if (!there) {
            throw new IOException(
                    "ZooKeeper has no node "
                            + chroot
                            + ", below which the key 'zookeeper' has everything: create it"
                            + " (zkCli.sh create "
                            + chroot
                            + "), or correct the key");
        }
    }

    private static IOException unreachable(String zookeeper, long timeoutMs) {
        List<String> unknown = new ArrayList<>();
        for (InetSocketAddress server : new ConnectStringParser(zookeeper).getServerAddresses()) {
            if (new InetSocketAddress(server.getHostString(), server.getPort()).isUnresolved()) {
                unknown.add("'" + server.getHostString() + "'");
            }
        }
        return new IOException(
                "ZooKeeper at "
                        + zookeeper
                        + " did not answer within "
                        + timeoutMs
                        + " ms: "
                        + (unknown.isEmpty()
                                ? "start it, or correct the key 'zookeeper'"
                                : "this machine knows no address of "
                                        + String.join(", ", unknown)
                                        + ": correct the key 'zookeeper', or let DNS or /etc/hosts"
                                        + " name it"));
    }

    /** Returns once the node is there, or, ZooKeeper being away, once it is sure to be made. */
    @Override
    public void register(Member member) {
        unregister(member.role(), member.id());
        String path =
                root + "/members/" + member.role() + "/" + member.id() + "~" + UUID.randomUUID();
        PersistentNode node =
                new PersistentNode(
                        client,
                        CreateMode.EPHEMERAL,
                        false,
                        path,
                        Records.encode(member).getBytes(UTF_8));
        synchronized (announced) {
            announced.put(member.role() + "/" + member.id(), node);
        }
        node.start();
        try {
            if (!node.waitForInitialCreate(REGISTER_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                LOG.warn(
                        "ZooKeeper has not taken the announcement of {} {} yet; trying on",
                        member.role(),
                        member.id());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void update(Member member) throws IOException {
        PersistentNode node;
        synchronized (announced) {
            node = announced.get(member.role() + "/" + member.id());
        }
        if (node == null) {
            return;
        }
        try {
            node.setData(Records.encode(member).getBytes(UTF_8));
        } catch (Exception e) {
            throw failed("announcing " + member.role() + " " + member.id() + " anew", e);
        }
    }

    /** Takes an announcement of this process back; quiet when there is none. */
    public void unregister(Role role, String id) {
        PersistentNode node;
        synchronized (announced) {
            node = announced.remove(role + "/" + id);
        }
        if (node != null) {
            close(node);
        }
    }

    @Override
    public List<Member> members(Role role) {
        Map<String, Seen> youngest = new HashMap<>();
        for (Seen each : seen.values()) {
            if (each.member.role() == role) {
                youngest.merge(each.member.id(), each, (a, b) -> a.created >= b.created ? a : b);
            }
        }
        return youngest.values().stream().map(Seen::member).sorted(BY_ID).toList();
    }

    @Override
    public boolean isCurrent() {
        return client.getZookeeperClient().isConnected();
    }

    @Override
    public boolean hasServed(int replica) throws IOException {
        try {
            return client.checkExists().forPath(replicaPath(replica)) != null;
        } catch (Exception e) {
            throw failed("looking for replica " + replica, e);
        }
    }

    @Override
    public void recordServing(int replica) throws IOException {
        try {
            client.create().orSetData().creatingParentsIfNeeded().forPath(replicaPath(replica));
            served.add(Integer.toString(replica));
            served.addAll(client.getChildren().forPath(root + "/replicas"));
        } catch (Exception e) {
            throw failed("recording replica " + replica, e);
        }
    }

    @Override
    public Optional<RecordedStore> recordedStore() throws IOException {
        try {
            RecordedStore recorded = Records.store(read(storePath()));
            store = recorded;
            return Optional.of(recorded);
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw failed("reading where blocks are kept", e);
        }
    }

    @Override
    public boolean recordStore(Optional<RecordedStore> expected, RecordedStore next)
            throws IOException {
        byte[] record = Records.encode(next).getBytes(UTF_8);
        try {
            if (expected.isEmpty()) {
                client.create().creatingParentsIfNeeded().forPath(storePath(), record);
                store = next;
                return true;
            }
            Stat stat = new Stat();
            byte[] found = client.getData().storingStatIn(stat).forPath(storePath());
            if (!Records.store(new String(found, UTF_8)).equals(expected.get())) {
                return false;
            }
            client.setData().withVersion(stat.getVersion()).forPath(storePath(), record);
            store = next;
            return true;
        } catch (KeeperException.NodeExistsException
                | KeeperException.NoNodeException
                | KeeperException.BadVersionException e) {
            LOG.debug("another process recorded first where blocks are kept", e);
            return false;
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw failed("recording where blocks are kept", e);
        }
    }

    private String storePath() {
        return root + "/blocks";
    }

    private String replicaPath(int replica) {
        return servedPath(Integer.toString(replica));
    }

    private String servedPath(String replica) {
        return root + "/replicas/" + replica;
    }

    @Override
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    @Override
    public Epoch newest() {
        Map.Entry<Integer, Epoch> last = epochs.lastEntry();
        return last == null ? NONE : last.getValue();
    }

    @Override
    public Epoch epoch(int number) throws IOException {
        Epoch known = number == 0 ? NONE : epochs.get(number);
        if (known != null) {
            return known;
        }
        if (!client.getZookeeperClient().isConnected()) {
            // Readers do without, and have no time for attempts to reach it.
            throw new IOException(
                    "placement epoch " + number + " is not known while ZooKeeper is away");
        }
        try {
            Epoch epoch = Records.epoch(number, read(epochPath(number)));
            epochs.putIfAbsent(number, epoch);
            return epoch;
        } catch (KeeperException.NoNodeException e) {
            throw new IOException("placement epoch " + number + " does not exist", e);
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw failed("reading placement epoch " + number, e);
        }
    }

    @Override
    public void learn(Epoch epoch) {
        if (epochs.putIfAbsent(epoch.number(), epoch) == null) {
            LOG.info("told of placement epoch {} by another process", epoch.number());
        }
    }

    @Override
    public Epoch change(UnaryOperator<Epoch> change) throws IOException {
        while (true) {
            try {
                Epoch newest = newestStored();
                Epoch next = change.apply(newest);
                if (next.equals(newest)) {
                    return newest;
                }
                create(next);
                epochs.put(next.number(), next);
                return next;
            } catch (KeeperException.NodeExistsException e) {
                LOG.debug("another process published an epoch first; changing that", e);
            } catch (IOException e) {
                throw e;
            } catch (Exception e) {
                throw failed("publishing a placement epoch", e);
            }
        }
    }

    private void create(Epoch epoch) throws Exception {
        client.create()
                .creatingParentsIfNeeded()
                .withMode(CreateMode.PERSISTENT)
                .forPath(epochPath(epoch.number()), Records.encode(epoch).getBytes(UTF_8));
    }

    private void putBack() {
        synchronized (announced) {
            if (announced.isEmpty()) {
                return;
            }
        }
        try {
            putBackEpochs();
            for (String replica : served) {
                client.create().orSetData().creatingParentsIfNeeded().forPath(servedPath(replica));
            }
            putBack(store);
        } catch (Exception e) {
            LOG.warn("what ZooKeeper may have lost could not be put back: {}", e.toString());
        }
    }

    /**
     * The newest first, which whoever joins then goes on from; then those before it, which blocks
     * name that were written in them.
     */
    private void putBackEpochs() throws Exception {
        Set<Integer> stored = storedNumbers();
        int newestStored = stored.isEmpty() ? 0 : Collections.max(stored);
        for (Epoch known : epochs.descendingMap().values()) {
            if (stored.contains(known.number())) {
                continue;
            }
            try {
                create(known);
                if (known.number() > newestStored && known.equals(newest())) {
                    LOG.error(
                            "ZooKeeper has come back without placement epoch {}, which is put"
                                    + " back: has it lost its data?",
                            known.number());
                }
            } catch (KeeperException.NodeExistsException e) {
                LOG.debug("another process put it back first", e);
            }
        }
    }

    /** Unless what is recorded says as much: the order of the buckets is what blocks go by. */
    private void putBack(@Nullable RecordedStore known) throws IOException {
        if (known == null) {
            return;
        }
        Optional<RecordedStore> recorded = recordedStore();
        if (recorded.isEmpty() || known.extendsOther(recorded.get())) {
            recordStore(recorded, known);
        }
    }

    @Override
    public void close() {
        List<PersistentNode> nodes;
        synchronized (announced) {
            nodes = new ArrayList<>(announced.values());
            announced.clear();
        }
        for (PersistentNode node : nodes) {
            // The session's end removes it all the same: a ZooKeeper that is away is not waited
            // for.
            if (client.getZookeeperClient().isConnected()) {
                close(node);
            }
        }
        epochCache.close();
        memberCache.close();
        client.close();
    }

    private void changed() {
        listeners.forEach(Runnable::run);
    }

    private Epoch newestStored() throws Exception {
        Set<Integer> numbers = storedNumbers();
        if (numbers.isEmpty()) {
            return NONE;
        }
        int newest = Collections.max(numbers);
        return Records.epoch(newest, read(epochPath(newest)));
    }

    private Set<Integer> storedNumbers() throws Exception {
        try {
            return client.getChildren().forPath(root + "/placement").stream()
                    .map(Integer::valueOf)
                    .collect(Collectors.toSet());
        } catch (KeeperException.NoNodeException e) {
            return Set.of();
        }
    }

    private String read(String path) throws Exception {
        return new String(client.getData().forPath(path), UTF_8);
    }

    /** Zero-padded, so that a listing is in order. */
    private String epochPath(int number) {
        return String.format("%s/placement/%08d", root, number);
    }

    private void onMember(@Nullable ChildData before, @Nullable ChildData after) {
        if (after == null) {
            if (before != null) {
                unreadable.remove(before.getPath());
                if (seen.remove(before.getPath()) != null) {
                    changed();
                }
            }
            return;
        }
        String[] parts = after.getPath().substring(root.length()).split("/", -1);
        if (parts.length != 4 || after.getData() == null) {
            return;
        }
        try {
            Member member = Records.member(role(parts[2]), new String(after.getData(), UTF_8));
            seen.put(after.getPath(), new Seen(member, after.getStat().getCzxid()));
            if (member.role() == Role.REPLICA) {
                served.add(member.id());
            }
            unreadable.remove(after.getPath());
            changed();
        } catch (IOException | IllegalArgumentException e) {
            if (unreadable.add(after.getPath())) {
                LOG.warn("ignoring {} in ZooKeeper: {}", after.getPath(), e.getMessage());
            }
        }
    }

    private static Role role(String name) throws IOException {
        for (Role role : Role.values()) {
            if (role.name().equals(name)) {
                return role;
            }
        }
        throw new IOException(
                "this program does not know the role "
                        + name
                        + ": upgrade it when the cluster's other processes are newer");
    }

    private void onEpoch(@Nullable ChildData after) {
        if (after == null
                || after.getData() == null
                || after.getPath().equals(root + "/placement")) {
            return;
        }
        String name = after.getPath().substring(after.getPath().lastIndexOf('/') + 1);
        try {
            int number = Integer.parseInt(name);
            epochs.putIfAbsent(number, Records.epoch(number, new String(after.getData(), UTF_8)));
        } catch (IOException | NumberFormatException e) {
            LOG.warn("ignoring {} in ZooKeeper: {}", after.getPath(), e.getMessage());
        }
    }

    private static void close(PersistentNode node) {
        try {
            node.close();
        } catch (IOException e) {
            // The session's end removes the node all the same.
            LOG.info("an announcement could not be taken back: {}", e.getMessage());
        }
    }

    private static IOException failed(String doing, Exception e) {
        if (e instanceof InterruptedException interruption) {
            return interrupted(interruption);
        }
        return new IOException(doing + " in ZooKeeper failed: " + e.getMessage(), e);
    }

    private static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        IOException io = new InterruptedIOException("interrupted while waiting for ZooKeeper");
        io.initCause(e);
        return io;
    }
}
