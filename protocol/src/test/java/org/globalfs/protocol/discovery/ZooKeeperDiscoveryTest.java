package org.globalfs.protocol.discovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ZooKeeperDiscoveryTest {
    @TempDir Path folder;
    private EmbeddedZooKeeper zookeeper;

    @BeforeEach
    void start() throws IOException {
        zookeeper = EmbeddedZooKeeper.start(folder, "127.0.0.1", 0, e -> {});
    }

    @AfterEach
    void stop() throws IOException {
        zookeeper.close();
    }

    @Test
    void membersComeGoAndAreReplaced() throws IOException {
        try (ZooKeeperDiscovery watcher = connect();
                ZooKeeperDiscovery one = connect()) {
            AtomicInteger changes = new AtomicInteger();
            watcher.onChange(changes::incrementAndGet);
            one.register(member("10", 1010));
            one.register(member("2", 1002));
            await().until(() -> watcher.members(Role.REPLICA).size() == 2);
            assertThat(watcher.members(Role.REPLICA))
                    .containsExactly(member("2", 1002), member("10", 1010));
            assertThat(watcher.members(Role.STORAGE)).isEmpty();
            assertThat(changes.get()).isPositive();

            // The same id from a restarted process, the first one's session still alive.
            try (ZooKeeperDiscovery again = connect()) {
                again.register(member("2", 2002));
                await().until(() -> watcher.members(Role.REPLICA).contains(member("2", 2002)));
                assertThat(watcher.members(Role.REPLICA)).hasSize(2);
                one.unregister(Role.REPLICA, "2");
                await().until(() -> watcher.members(Role.REPLICA).contains(member("2", 2002)));
            }
            await().until(() -> watcher.members(Role.REPLICA).equals(List.of(member("10", 1010))));
        }
    }

    @Test
    void whatAMemberTellsBecomesAnotherWhileItIsThere() throws IOException {
        try (ZooKeeperDiscovery watcher = connect();
                ZooKeeperDiscovery one = connect()) {
            AtomicInteger looks = new AtomicInteger();
            AtomicInteger absent = new AtomicInteger();
            one.register(member("1", 1001));
            await().until(() -> watcher.members(Role.REPLICA).size() == 1);
            watcher.onChange(() -> {
                looks.incrementAndGet();
                absent.addAndGet(watcher.members(Role.REPLICA).isEmpty() ? 1 : 0);
            });
            one.update(member("1", 1002));
            await().until(() -> watcher.members(Role.REPLICA).contains(member("1", 1002)));
            await().until(() -> looks.get() > 0);
            assertThat(absent).hasValue(0);
            one.update(member("2", 1003));
            one.unregister(Role.REPLICA, "1");
            await().until(() -> watcher.members(Role.REPLICA).isEmpty());
            one.update(member("1", 1004));
            one.register(member("3", 1005));
            await().until(() -> watcher.members(Role.REPLICA).contains(member("3", 1005)));
            assertThat(watcher.members(Role.REPLICA)).hasSize(1);
        }
    }

    @Test
    void theViewOutlivesZooKeeperAndMembersReturn() throws IOException {
        try (ZooKeeperDiscovery watcher = connect();
                ZooKeeperDiscovery one = connect()) {
            one.register(member("1", 1001));
            Epoch epoch = one.join(site("a", 1));
            await().until(() -> watcher.members(Role.REPLICA).size() == 1);
            await().until(() -> watcher.newest().equals(epoch));
            int port = zookeeper.address().port();
            zookeeper.close();
            assertThat(watcher.members(Role.REPLICA)).containsExactly(member("1", 1001));
            assertThat(watcher.newest()).isEqualTo(epoch);
            assertThat(watcher.epoch(1)).isEqualTo(epoch);
            zookeeper = EmbeddedZooKeeper.start(folder, "127.0.0.1", port, e -> {});
            one.register(member("3", 1003));
            await().until(() -> watcher.members(Role.REPLICA).size() == 2);
        }
    }

    /** Each announcement took 11 s. */
    @Test
    void whoEndsDoesNotWaitForAZooKeeperThatIsAway() throws IOException {
        ZooKeeperDiscovery server = connect();
        server.register(member("1", 1001));
        server.register(member("2", 1002));
        zookeeper.close();
        await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
        long beginNs = System.nanoTime();
        server.close();
        assertThat(Duration.ofNanos(System.nanoTime() - beginNs)).isLessThan(Duration.ofSeconds(8));
    }

    @Test
    void aZooKeeperWithoutItsDataIsGivenWhatServersKnow() throws IOException {
        RecordedStore store =
                new RecordedStore(
                        StoreKind.S3, List.of(new RecordedStore.Bucket("us-west", 1, "west")));
        try (ZooKeeperDiscovery mount = connect();
                ZooKeeperDiscovery server = connect()) {
            server.register(member("1", 1001));
            Epoch first = server.join(site("a", 1));
            Epoch second = server.join(site("b", 2));
            Epoch epoch = server.change(newest -> newest.drain("a"));
            try (ZooKeeperDiscovery gone = connect()) {
                gone.recordServing(2);
                gone.register(member("3", 1003));
                await().until(() -> server.members(Role.REPLICA).size() == 2);
            }
            server.recordServing(1);
            assertThat(server.recordStore(Optional.empty(), store)).isTrue();
            await().until(() -> mount.newest().equals(epoch));
            int port = zookeeper.address().port();
            zookeeper.close();
            zookeeper =
                    EmbeddedZooKeeper.start(folder.resolve("empty"), "127.0.0.1", port, e -> {});
            try (ZooKeeperDiscovery late = connect()) {
                await().atMost(Duration.ofSeconds(60)).until(() -> late.newest().equals(epoch));
                // Blocks name the epoch that they were written in.
                await().until(() -> knows(late, first) && knows(late, second));
                for (int replica = 1; replica <= 3; replica++) {
                    int id = replica;
                    await().until(() -> late.hasServed(id));
                }
                await().until(() -> late.recordedStore().equals(Optional.of(store)));
                assertThat(late.join(site("c", 3)).number()).isEqualTo(epoch.number() + 1);
            }
        }
    }

    @Test
    void concurrentJoinsLoseNoSite() throws Exception {
        int nodes = 8;
        try (ZooKeeperDiscovery watcher = connect();
                ExecutorService threads = Executors.newFixedThreadPool(nodes)) {
            List<Future<Epoch>> joins = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                StorageSite site = site("s" + i, 2000 + i);
                joins.add(threads.submit(() -> watcher.join(site)));
            }
            for (Future<Epoch> join : joins) {
                join.get();
            }
            assertThat(watcher.newest().number()).isEqualTo(nodes);
            assertThat(watcher.newest().nodes()).hasSize(nodes);
            assertThat(watcher.join(site("s3", 2003)).number()).isEqualTo(nodes);
            assertThat(watcher.join(site("s3", 9)).nodes()).hasSize(nodes).contains(site("s3", 9));
            try (ZooKeeperDiscovery late = connect()) {
                assertThat(late.newest().number()).isEqualTo(nodes + 1);
                assertThat(late.epoch(3).nodes()).hasSize(3);
                assertThatThrownBy(() -> late.epoch(99)).hasMessageContaining("does not exist");
            }
        }
    }

    @Test
    void whereBlocksAreKeptIsRecordedByOneAndSeenByAll() throws IOException {
        RecordedStore first =
                new RecordedStore(
                        StoreKind.S3, List.of(new RecordedStore.Bucket("us-west", 1, "west")));
        RecordedStore second =
                new RecordedStore(
                        StoreKind.S3,
                        List.of(
                                new RecordedStore.Bucket("us-west", 1, "west"),
                                new RecordedStore.Bucket("eu-west", 3, "europe")));
        try (ZooKeeperDiscovery one = connect();
                ZooKeeperDiscovery other = connect()) {
            assertThat(one.recordedStore()).isEmpty();
            assertThat(one.recordStore(Optional.of(first), second)).isFalse();
            assertThat(one.recordStore(Optional.empty(), first)).isTrue();
            assertThat(other.recordStore(Optional.empty(), second)).isFalse();
            assertThat(other.recordedStore()).contains(first);
            assertThat(other.recordStore(Optional.of(second), first)).isFalse();
            assertThat(other.recordStore(Optional.of(first), second)).isTrue();
            assertThat(one.recordedStore()).contains(second);
        }
    }

    @Test
    void anAbsentServerAndABusyPortAreNamed() throws IOException {
        int port = zookeeper.address().port();
        assertThatThrownBy(() ->
                        EmbeddedZooKeeper.start(folder.resolve("2"), "127.0.0.1", port, e -> {}))
                .isInstanceOf(BindException.class);
        zookeeper.close();
        assertThatThrownBy(() -> ZooKeeperDiscovery.connect("127.0.0.1:" + port, "demo", 300))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ZooKeeper at 127.0.0.1:" + port)
                .hasMessageContaining("'zookeeper'");
    }

    /** Who made nothing there would try to for ever. */
    @Test
    void aPathThatIsNotThereIsNamedAndUsedOnceItIs() throws Exception {
        String below = zookeeper.address() + "/prod";
        assertThatThrownBy(() -> ZooKeeperDiscovery.connect(below, "test", 10_000))
                .hasMessageContaining("no node /prod")
                .hasMessageContaining("create it");
        try (CuratorFramework client =
                CuratorFrameworkFactory.newClient(
                        zookeeper.address().toString(), new RetryOneTime(1))) {
            client.start();
            client.create().forPath("/prod");
            try (ZooKeeperDiscovery discovery = ZooKeeperDiscovery.connect(below, "test", 10_000)) {
                discovery.recordServing(1);
            }
            assertThat(client.checkExists().forPath("/prod/globalfs/test/replicas/1")).isNotNull();
        }
    }

    @Test
    void aHostOfZooKeeperThatNobodyKnowsIsNamed() {
        assertThatThrownBy(() ->
                        ZooKeeperDiscovery.connect("127.0.0.1:1,zk.invalid:2181/demo", "demo", 300))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no address of 'zk.invalid': correct the key 'zookeeper'");
    }

    @Test
    void anAnnouncementThatCannotBeReadIsReportedOnce() throws Exception {
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ZooKeeperDiscovery.class);
        logger.addAppender(told);
        try (ZooKeeperDiscovery watcher = connect();
                CuratorFramework other =
                        CuratorFrameworkFactory.newClient(
                                zookeeper.connectString(), new RetryOneTime(1))) {
            other.start();
            for (String path : List.of("WITNESS/1~a", "REPLICA/1~a")) {
                String at = "/globalfs/demo/members/" + path;
                other.create().creatingParentsIfNeeded().forPath(at, "x: 1".getBytes(UTF_8));
                other.setData().forPath(at, "x: 2".getBytes(UTF_8));
                other.setData().forPath(at, "x: 3".getBytes(UTF_8));
            }
            try (ZooKeeperDiscovery one = connect()) {
                one.register(member("2", 1002)); // whoever sees this one has seen all of those
                await().until(() -> watcher.members(Role.REPLICA).size() == 1);
            }
        } finally {
            logger.detachAppender(told);
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("ignoring") && line.contains("WITNESS"))
                .hasSizeBetween(1, 2) // the second one's view is another
                .allMatch(line -> line.contains("does not know the role WITNESS: upgrade it"));
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("ignoring") && line.contains("REPLICA/1~a"))
                .hasSizeBetween(1, 2);
    }

    private static boolean knows(ZooKeeperDiscovery discovery, Epoch epoch) {
        try {
            return discovery.epoch(epoch.number()).equals(epoch);
        } catch (IOException e) {
            return false;
        }
    }

    private ZooKeeperDiscovery connect() throws IOException {
        return ZooKeeperDiscovery.connect(zookeeper.connectString(), "demo", 10_000);
    }

    private static Member member(String id, int port) {
        return new Member(
                Role.REPLICA,
                id,
                "us-west",
                1,
                "a",
                new HostPort("127.0.0.1", port),
                Map.of("load", "3", "note", "a: b"));
    }

    private static StorageSite site(String id, int port) {
        return new StorageSite(id, "us-west", 1, "a", new HostPort("127.0.0.1", port), 1);
    }
}
