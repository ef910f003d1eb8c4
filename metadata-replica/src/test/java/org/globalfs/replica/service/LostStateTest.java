package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A replica without the tree that it had shows nobody another one. */
@Timeout(180)
class LostStateTest {

    @TempDir Path folder;

    @Test
    void replicaWithAnEmptyDiskAnswersOnceItHasAnothersState() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            assertThat(new TestSession(cluster, 1).mkdir(TestSession.ROOT, "home").getStatus())
                    .isEqualTo(Status.DONE);
            cluster.stop(1);
            cluster.stop(2);
            cluster.stop(3);
            Folders.delete(cluster.folderOf(1));

            FutureTask<ReplicaServer> started =
                    new FutureTask<>(() ->
                            ReplicaServer.start(
                                    cluster.config(1),
                                    cluster.discovery,
                                    blocks -> blocks,
                                    cluster.fatal::add));
            Thread.ofPlatform().start(started);
            await().during(Duration.ofSeconds(2))
                    .atMost(ReplicaCluster.LONG)
                    .until(() -> !answers(cluster));
            cluster.start(2);
            cluster.start(3);
            cluster.running.put(1, started.get(60, TimeUnit.SECONDS));
            cluster.awaitEqualHashes();
            assertThat(cluster.status(1, 0).isServes()).isTrue();
        }
    }

    @Test
    void missingStateOfAReplicaThatTookPartIsLostUntilTheLogHasToldAllOfIt() throws IOException {
        try (HostedPartition fresh =
                new HostedPartition(
                        folder.resolve("fresh"), 1, ReplicaOptions.defaults().state(), false)) {
            assertThat(fresh.isLost()).isFalse();
        }
        Path known = folder.resolve("known");
        Folders.create(known);
        for (int start = 0; start < 2; start++) {
            try (HostedPartition gone =
                    new HostedPartition(known, 1, ReplicaOptions.defaults().state(), true)) {
                assertThat(gone.isLost()).as("start %s", start).isTrue();
            }
        }
        try (HostedPartition gone =
                new HostedPartition(known, 1, ReplicaOptions.defaults().state(), true)) {
            gone.found();
            assertThat(gone.isLost()).isFalse();
        }
        try (HostedPartition found =
                new HostedPartition(known, 1, ReplicaOptions.defaults().state(), true)) {
            assertThat(found.isLost()).isFalse();
        }
    }

    /** A mount point without its disk, or what a file system check left. */
    @Test
    void stateFolderThatIsEmptyOrLacksItsNewestManifestIsLostToo() throws IOException {
        Path state = folder.resolve("p1");
        Folders.create(state);
        assertThat(isLost()).as("empty").isTrue();
        Files.delete(folder.resolve("p1.lost"));
        assertThat(isLost()).as("whole").isFalse();
        Files.delete(state.resolve("CURRENT"));
        assertThat(isLost()).as("without CURRENT").isTrue();
        assertThat(folder.resolve("p1.damaged-1"))
                .isDirectoryContaining("glob:**/MANIFEST-*")
                .isDirectoryContaining("glob:**/*.log");
        assertThat(folder.resolve("p1.damaged-2")).as("of the empty one").doesNotExist();
    }

    private boolean isLost() throws IOException {
        try (HostedPartition known =
                new HostedPartition(folder, 1, ReplicaOptions.defaults().state(), true)) {
            return known.isLost();
        }
    }

    private static boolean answers(ReplicaCluster cluster) {
        ReadRequest request =
                new ReadRequest(
                        7,
                        0,
                        new Credentials(0, 0),
                        Consistency.CAUSAL,
                        0,
                        0,
                        ReadOp.lookup(new LookupOp(TestSession.ROOT, TestSession.bytes("home"))));
        try {
            var reply = cluster.client(1).call(MetadataCalls.READ, request, 1_000);
            return reply.getStatus() == Status.DONE;
        } catch (RpcException e) {
            return false;
        }
    }
}
