package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.globalfs.replica.service.TestSession.ROOT;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.replica.state.store.StateException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bytes of a replica's RocksDB that are not what was written are found, and never served. */
@Timeout(180)
class DamagedStateTest {

    private static final int DAMAGED = 2;
    private static final int DAMAGED_BYTES = 64;

    @TempDir Path folder;

    private ReplicaCluster cluster;
    private Path state;

    @BeforeEach
    void oneIsDown() throws Exception {
        cluster = new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll();
        TestSession session = new TestSession(cluster, 1);
        long home = session.mkdir(ROOT, "home").getAttributes().getIno();
        for (int i = 0; i < 200; i++) {
            session.create(home, "file" + i);
        }
        cluster.awaitEqualHashes();
        cluster.stop(DAMAGED);
        state = cluster.folderOf(DAMAGED).resolve("p1");
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    private static void damage(Path file, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(DAMAGED_BYTES);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.read(bytes, at);
            for (int i = 0; i < DAMAGED_BYTES; i++) {
                bytes.put(i, (byte) ~bytes.get(i));
            }
            channel.write(bytes.rewind(), at);
        }
    }

    private static Path largest(Path folder, String names) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(names))
                    .max(Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow();
        }
    }

    private Path aside(int n) {
        return cluster.folderOf(DAMAGED).resolve("p1.damaged-" + n);
    }

    private HashReply hash(int id) throws RpcException {
        return cluster.client(id).call(MetadataCalls.STATE_HASH, new HashRequest(1), 30_000);
    }

    private void startsWithAnotherReplicasState() throws IOException {
        ReplicaServer started = cluster.start(DAMAGED);
        assertThat(started.checkpointsTakenOver()).isEqualTo(1);
        assertThat(aside(1)).isDirectory();
        cluster.awaitEqualHashes();
    }

    @Test
    void aStateThatCannotBeOpenedIsReplacedByAnotherReplicas() throws Exception {
        damage(largest(state, "MANIFEST-.*"), 8);
        startsWithAnotherReplicasState();
        cluster.stop(DAMAGED);
        assertThat(cluster.start(DAMAGED).checkpointsTakenOver()).isZero();
        assertThat(aside(2)).doesNotExist();
    }

    @Test
    void aFileThatNamesTheOthersIsDamaged() throws Exception {
        Files.writeString(state.resolve("CURRENT"), "MANIFEST-999999\n");
        startsWithAnotherReplicasState();
    }

    @Test
    void aReadThatFindsDamageStopsTheReplicaAndTheNextStartMendsIt() throws Exception {
        damage(largest(state, ".*\\.sst"), 0);
        cluster.start(DAMAGED);
        await().atMost(ReplicaCluster.LONG)
                .untilAsserted(() -> {
                    assertThatThrownBy(() -> hash(DAMAGED)).isInstanceOf(RpcException.class);
                    assertThat(cluster.fatal).isNotEmpty();
                });
        assertThat(cluster.fatal.removeFirst())
                .isInstanceOf(StateException.class)
                .hasMessageContaining(".sst")
                .hasMessageContaining("Start this process again");
        cluster.crash(DAMAGED);
        startsWithAnotherReplicasState();
    }

    /** Who takes a checkpoint does not take its source's damage, but another's. */
    @Test
    void aDamagedCheckpointIsNotTakenOver() throws Exception {
        for (int source : List.of(1, 3)) {
            cluster.stop(source);
        }
        damage(largest(cluster.folderOf(1).resolve("p1"), ".*\\.sst"), 0);
        damage(largest(state, "MANIFEST-.*"), 8);
        cluster.start(1);
        cluster.start(3);
        assertThat(cluster.start(DAMAGED).checkpointsTakenOver()).isEqualTo(1);
        await().atMost(ReplicaCluster.LONG)
                .ignoreExceptions()
                .until(() -> hash(DAMAGED).equals(hash(3)));
    }
}
