package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.globalfs.replica.service.TestSession.ROOT;
import static org.globalfs.replica.service.TestSession.partitionOf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Rings;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ReplicaClusterTest {

    @TempDir Path folder;

    private ReplicaCluster cluster(int regions) throws IOException {
        return new ReplicaCluster(folder, regions, ReplicaOptions.defaults()).startAll();
    }

    @Test
    void everyRegionMakesADirectoryAtTheRootAndWorksInIt() throws Exception {
        try (ReplicaCluster cluster = cluster(3)) {
            List<TestSession> sessions = new ArrayList<>();
            for (int region = 1; region <= 3; region++) {
                TestSession session = new TestSession(cluster, region);
                sessions.add(session);
                UpdateReply made = session.mkdir(ROOT, "home" + region);
                assertThat(made.getErrno()).isZero();
                long home = made.getAttributes().getIno();
                assertThat(partitionOf(home)).isEqualTo(region);
                for (int i = 0; i < 20; i++) {
                    UpdateReply created = session.create(home, "file" + i);
                    assertThat(created.getErrno()).isZero();
                    assertThat(partitionOf(created.getAttributes().getIno())).isEqualTo(region);
                }
                assertThat(session.rename(home, "file0", home, "moved").getErrno()).isZero();
                assertThat(session.lookup(home, "file0").getErrno())
                        .isEqualTo(Errno.ENOENT.number());
                assertThat(session.lookup(home, "moved").getErrno()).isZero();
                assertThat(session.list(home))
                        .hasSize(20)
                        .contains("moved", "file19")
                        .doesNotContain("file0");
            }
            TestSession last = sessions.get(2);
            assertThat(last.list(ROOT)).containsExactly("home1", "home2", "home3");
            // A session that learned of another's work never misses any of it.
            TestSession reader = new TestSession(cluster, 3);
            reader.learnFrom(sessions.get(0));
            long home1 = reader.lookup(ROOT, "home1").getIno();
            assertThat(reader.list(home1)).hasSize(20);
            cluster.awaitEqualHashes();
        }
    }

    @Test
    void coordinatorDiesDuringWorkAndReturns() throws Exception {
        try (ReplicaCluster cluster = cluster(1)) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            int died = cluster.coordinator(1);
            AtomicBoolean killed = new AtomicBoolean();
            try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
                Future<List<String>> work = worker.submit(() -> createUntil(session, home, killed));
                await().until(() -> session.created > 50);
                cluster.crash(died);
                killed.set(true);
                List<String> acknowledged = work.get(120, TimeUnit.SECONDS);
                assertThat(session.list(home)).containsExactlyInAnyOrderElementsOf(acknowledged);
                cluster.start(died);
                cluster.awaitEqualHashes();
            }
        }
    }

    /** Creates files; a name that exists already would mean that one was executed twice. */
    private static List<String> createUntil(TestSession session, long home, AtomicBoolean killed)
            throws InterruptedException {
        List<String> names = new ArrayList<>();
        int after = 0;
        for (int i = 0; after < 50; i++) {
            String name = "f" + i;
            assertThat(session.create(home, name).getErrno()).as(name).isZero();
            names.add(name);
            session.created = i + 1;
            if (killed.get()) {
                after++;
            }
        }
        return names;
    }

    @Test
    void sameCommandSentAgainHasTheSameAnswer() throws Exception {
        try (ReplicaCluster cluster = cluster(1)) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            Command command =
                    session.command(
                            UpdateOp.create(new CreateOp(home, TestSession.bytes("x"), 0100644)));
            command.setAnsweredBelow(command.getSequence());
            UpdateReply first = session.send(1, command, 60_000_000_000L);
            cluster.crash(cluster.coordinator(1));
            UpdateReply again = session.send(1, command, 60_000_000_000L);
            assertThat(again.getErrno()).isZero();
            assertThat(again.getAttributes().getIno()).isEqualTo(first.getAttributes().getIno());
            assertThat(session.list(home)).containsExactly("x");
        }
    }

    @Test
    void commandOfAPartitionThatNobodyHoldsIsRefused() throws Exception {
        try (ReplicaCluster cluster = cluster(1)) {
            TestSession session = new TestSession(cluster, 1);
            UpdateOp op = UpdateOp.create(new CreateOp(ROOT, TestSession.bytes("x"), 0040755));
            Command placed = session.command(op).setOrigin(99);
            assertThat(session.send(0, placed, 10_000_000_000L).getErrno())
                    .isEqualTo(Errno.EINVAL.number());
            Command agreed = session.command(op).setCoordinated(true).setParticipants(List.of(77));
            assertThat(session.send(0, agreed, 10_000_000_000L).getErrno())
                    .isEqualTo(Errno.EINVAL.number());
            UpdateOp link =
                    UpdateOp.link(new LinkOp(Partitions.ino(77, 5), ROOT, TestSession.bytes("x")));
            Command linked = session.command(link).setCoordinated(true);
            assertThat(session.send(0, linked, 10_000_000_000L).getErrno())
                    .isEqualTo(Errno.EINVAL.number());
            assertThat(session.list(ROOT)).isEmpty();
        }
    }

    @Test
    void coordinatedRenameAndRmdirBetweenTheGlobalAndARegionalPartition() throws Exception {
        try (ReplicaCluster cluster = cluster(2)) {
            TestSession west = new TestSession(cluster, 1);
            long home = west.mkdir(ROOT, "home").getAttributes().getIno();
            long inner = west.mkdir(home, "inner").getAttributes().getIno();
            west.create(inner, "file");
            // out of the regional partition, into the root
            assertThat(west.rename(home, "inner", ROOT, "outer").getErrno()).isZero();
            assertThat(west.list(home)).isEmpty();
            assertThat(west.list(ROOT)).containsExactly("home", "outer");
            assertThat(west.list(inner)).containsExactly("file");

            TestSession east = new TestSession(cluster, 2);
            east.learnFrom(west);
            assertThat(east.rmdir(ROOT, "outer").getErrno()).isEqualTo(Errno.ENOTEMPTY.number());
            assertThat(east.unlink(inner, "file").getErrno()).isZero();
            assertThat(east.rmdir(ROOT, "outer").getErrno()).isZero();
            assertThat(east.list(ROOT)).containsExactly("home");
            // and back in
            long other = west.mkdir(ROOT, "other").getAttributes().getIno();
            east.learnFrom(west);
            assertThat(east.rename(ROOT, "other", home, "there").getErrno()).isZero();
            west.learnFrom(east);
            assertThat(west.list(home)).containsExactly("there");
            assertThat(west.lookup(home, "there").getIno()).isEqualTo(other);
            cluster.awaitEqualHashes();
        }
    }

    @Test
    void coordinatedRenameOutlivesTheReplicaThatBeganIt() throws Exception {
        try (ReplicaCluster cluster = cluster(2)) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            for (int round = 0; round < 4; round++) {
                String name = "d" + round;
                session.mkdir(home, name);
                int victim = 1 + round % 3;
                try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
                    Future<UpdateReply> rename =
                            worker.submit(() -> session.rename(home, name, ROOT, name));
                    cluster.crash(victim);
                    assertThat(rename.get(90, TimeUnit.SECONDS).getErrno()).isZero();
                }
                assertThat(session.list(ROOT)).contains(name);
                assertThat(session.list(home)).doesNotContain(name);
                cluster.start(victim);
            }
            cluster.awaitEqualHashes();
        }
    }

    @Test
    void wholeClusterRestartsWithEverythingAcknowledged() throws Exception {
        List<String> names = new ArrayList<>();
        long home;
        ReplicaCluster first = cluster(1);
        try (first) {
            TestSession session = new TestSession(first, 1);
            home = session.mkdir(ROOT, "home").getAttributes().getIno();
            for (int i = 0; i < 100; i++) {
                names.add("f" + i);
                session.create(home, "f" + i);
            }
            for (int id : List.copyOf(first.running.keySet())) {
                first.crash(id);
            }
            first.startAll();
            TestSession again = new TestSession(first, 1);
            assertThat(again.list(home)).containsExactlyInAnyOrderElementsOf(names);
            first.awaitEqualHashes();
        }
    }

    private static boolean logsWereTrimmed(ReplicaCluster cluster) {
        return cluster.running.keySet().stream()
                .noneMatch(id ->
                        Files.exists(
                                cluster.folderOf(id)
                                        .resolve("log")
                                        .resolve("segment-000000000001.log")));
    }

    @Test
    void replicaThatLostItsStateFetchesAPeersCheckpoint() throws Exception {
        ReplicaOptions small =
                new ReplicaOptions(
                        ReplicaOptions.defaults().state(),
                        64 << 10,
                        0,
                        32 << 10,
                        300,
                        10_000,
                        0,
                        0,
                        0,
                        8,
                        256 << 20);
        try (ReplicaCluster cluster = new ReplicaCluster(folder, 1, small).startAll()) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            int wiped = cluster.coordinator(1) % 3 + 1;
            cluster.stop(wiped);
            // The others keep their logs until they take it for dead.
            for (int i = 0; !logsWereTrimmed(cluster); i++) {
                assertThat(i).isLessThan(100_000);
                session.create(home, "a-file-with-a-rather-long-name-to-fill-the-log-" + i);
            }
            Folders.delete(cluster.folderOf(wiped).resolve("p0"));
            Folders.delete(cluster.folderOf(wiped).resolve("p1"));
            cluster.start(wiped);
            cluster.awaitEqualHashes();
            assertThat(cluster.running.get(wiped).checkpointsTakenOver()).isPositive();
        }
    }

    @Test
    void folderOfAnotherReplicaOrClusterIsRefused() throws Exception {
        ReplicaCluster cluster = new ReplicaCluster(folder, 1, ReplicaOptions.defaults());
        try (cluster) {
            cluster.start(1);
            cluster.stop(1);
            ReplicaConfig own = cluster.config(1);
            ReplicaConfig other =
                    new ReplicaConfig(
                            own.topology(),
                            2,
                            own.folder(),
                            own.bind(),
                            Durability.DISK,
                            Rings.DEFAULTS,
                            own.reserve(),
                            own.options());
            assertThatThrownBy(() -> ReplicaServer.start(other, cluster.discovery, b -> b, e -> {}))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(own.folder().toString())
                    .hasMessageContaining("replica 1")
                    .hasMessageContaining("replica 2");
            Files.delete(own.folder().resolve("identity"));
            assertThatThrownBy(() -> ReplicaServer.start(own, cluster.discovery, b -> b, e -> {}))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("identity");
        }
    }

    /** A fourth replica of the region, by a topology that only it has. */
    private static ReplicaConfig stranger(ReplicaCluster cluster, boolean added)
            throws IOException {
        ReplicaConfig like = cluster.config(1);
        Topology.Region region = like.topology().regions().getFirst();
        List<Topology.ReplicaSite> sites = new ArrayList<>(region.replicas());
        HostPort ring = new HostPort("127.0.0.1", FreePorts.one());
        HostPort rpc = new HostPort("127.0.0.1", FreePorts.one());
        sites.add(new Topology.ReplicaSite(4, "dc1", ring, rpc, added));
        Topology.Region wider = new Topology.Region(region.name(), region.partition(), sites);
        return new ReplicaConfig(
                new Topology(like.topology().cluster(), List.of(wider)),
                4,
                cluster.folderOf(4),
                like.bind(),
                like.durability(),
                like.rings(),
                like.reserve(),
                like.options());
    }

    @Test
    void replicaThatOnlyItsOwnTopologyHasIsRefused() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            ReplicaConfig wrong = stranger(cluster, false);
            assertThatThrownBy(() -> ReplicaServer.start(wrong, cluster.discovery, b -> b, e -> {}))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("replica 4 is none of the replicas of ring 0")
                    .hasMessageContaining("[1, 2, 3]")
                    .hasMessageContaining("'added: true'")
                    .hasMessageContaining("globalfs ring add 4");
            // The same folder does, once the topology is right.
            ReplicaConfig right = stranger(cluster, true);
            ReplicaServer.start(right, cluster.discovery, b -> b, cluster.fatal::add).close();
        }
    }

    @Test
    void replicaThatOnlyItsOwnTopologyHasStopsOnceItHearsOfTheOthers() throws Exception {
        try (ReplicaCluster cluster = new ReplicaCluster(folder, 1, ReplicaOptions.defaults())) {
            List<Throwable> fatal = new CopyOnWriteArrayList<>();
            ReplicaServer server =
                    ReplicaServer.start(
                            stranger(cluster, false), cluster.discovery, b -> b, fatal::add);
            try (server) {
                cluster.startAll();
                await().atMost(ReplicaCluster.LONG).until(() -> !fatal.isEmpty());
                assertThat(fatal.getFirst())
                        .hasMessageContaining("replica 4 is none of the replicas of ring 0")
                        .hasMessageContaining("empty its data folder");
            }
        }
    }
}
