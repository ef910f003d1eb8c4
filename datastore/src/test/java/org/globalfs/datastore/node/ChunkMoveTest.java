package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes, real disks and sockets: whatever they hand each other, a copy is left. */
@Timeout(120)
class ChunkMoveTest {
    private static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 4, 2, 1);
    private static final int BYTES = 1_024;
    private static final int ROUNDS = 300;

    @TempDir Path folder;
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final List<SegmentStore> stores = new ArrayList<>();
    private final List<StorageServer> servers = new ArrayList<>();
    private final List<StorageConnection> connections = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        for (String node : List.of("one", "two")) {
            Path data = Files.createDirectory(folder.resolve(node));
            SegmentStore store =
                    SegmentStore.open(
                            data,
                            new SegmentStore.Options("c", node, Long.MAX_VALUE, 0, 8 << 20, true));
            stores.add(store);
            StorageServer server = new StorageServer("c", node, new HostPort("127.0.0.1", 0));
            server.start(() -> new StorageRequests(store, Upkeep.NONE, node));
            servers.add(server);
            connections.add(new StorageConnection(server.address(), "c", node, 60_000));
        }
    }

    @AfterEach
    void stop() throws IOException {
        threads.shutdownNow();
        for (StorageConnection connection : connections) {
            connection.close();
        }
        for (StorageServer server : servers) {
            server.close();
        }
        for (SegmentStore store : stores) {
            store.close();
        }
    }

    private void put(int node, ChunkKey key) throws IOException {
        ByteBuffer data = ByteBuffer.allocateDirect(BYTES);
        assertThat(stores.get(node).put(key, SHAPE, null, data).status()).isEqualTo(ChunkStatus.OK);
    }

    private int move(int from, ChunkKey key) throws IOException {
        return ChunkMove.move(stores.get(from), connections.get(1 - from), key, SHAPE, "");
    }

    @Test
    void theCopyGoesOnceTheOtherNodeHasOne() throws IOException {
        ChunkKey key = new ChunkKey(1, 2, 3);
        put(0, key);
        assertThat(move(0, key)).isEqualTo(BYTES);
        assertThat(stores.get(0).has(key)).isFalse();
        assertThat(stores.get(1).has(key)).isTrue();
        put(0, key);
        assertThat(move(0, key)).as("it is there").isZero();
        assertThat(stores.get(0).has(key)).isFalse();
    }

    /** Another node gives it here, and relies on that, because the copy here was damaged. */
    @Test
    void aCopyThatIsWrittenHereMeanwhileStays() throws IOException {
        ChunkKey key = new ChunkKey(1, 2, 3);
        put(0, key);
        long mark = stores.get(0).leaves(key);
        stores.get(0).corrupt().add(key);
        put(0, key);
        stores.get(0).left(key, mark);
        assertThat(stores.get(0).keeps(key)).isTrue();
    }

    /** Who put it relies on it, whoever begins to give it away after that. */
    @Test
    void aCopyThatCameToStayIsNotTakenByAMoveOfBeforeThoughAnotherHasBegun() throws IOException {
        ChunkKey key = new ChunkKey(1, 2, 3);
        put(0, key);
        long before = stores.get(0).leaves(key);
        put(0, key);
        long after = stores.get(0).leaves(key);
        stores.get(0).left(key, before);
        assertThat(stores.get(0).has(key)).isTrue();
        stores.get(0).stays(key, before);
        assertThat(stores.get(0).keeps(key)).isFalse();
        stores.get(0).left(key, after);
        assertThat(stores.get(0).has(key)).isFalse();
    }

    @Test
    void ofTwoMovesOfOneCopyTheOneThatFailsEndsNotTheOther() throws IOException {
        ChunkKey key = new ChunkKey(1, 2, 3);
        put(0, key);
        long one = stores.get(0).leaves(key);
        long other = stores.get(0).leaves(key);
        stores.get(0).stays(key, one);
        assertThat(stores.get(0).keeps(key)).isFalse();
        stores.get(0).left(key, other);
        assertThat(stores.get(0).has(key)).isFalse();
    }

    @Test
    void theCopyStaysWhenTheOtherNodeDoesNotAnswer() throws IOException {
        ChunkKey key = new ChunkKey(1, 2, 3);
        put(0, key);
        servers.get(1).close();
        assertThatThrownBy(() -> move(0, key)).isInstanceOf(IOException.class);
        assertThat(stores.get(0).keeps(key)).isTrue();
    }

    @Test
    void ofTwoThatHandItToEachOtherOneKeepsIt() throws Exception {
        CyclicBarrier begin = new CyclicBarrier(2);
        for (int round = 0; round < ROUNDS; round++) {
            ChunkKey key = new ChunkKey(7, round, 0);
            put(0, key);
            put(1, key);
            List<Future<Integer>> moves = new ArrayList<>();
            for (int node = 0; node < 2; node++) {
                int from = node;
                moves.add(
                        threads.submit(() -> {
                            begin.await();
                            return move(from, key);
                        }));
            }
            for (Future<Integer> move : moves) {
                move.get(60, TimeUnit.SECONDS);
            }
            assertThat(stores.get(0).keeps(key) || stores.get(1).keeps(key))
                    .as("round %s", round)
                    .isTrue();
        }
    }
}
