package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node and a home of chunks that it keeps, on real disks and a socket. */
@Timeout(120)
class HandoffReturnTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 4, 2, 1);
    private static final int BYTES = 1_024;
    private static final int CHUNKS = 30;

    @TempDir Path folder;
    private final BadSectors bad = new BadSectors();
    private final AtomicBoolean fails = new AtomicBoolean();

    /** The first one, once it is at home and not yet gone from the node. */
    private final AtomicBoolean comesAgain = new AtomicBoolean();

    /** What the home does not take. */
    private final Set<ChunkKey> refused = ConcurrentHashMap.newKeySet();

    private final List<ChunkKey> keys = new ArrayList<>();
    private SegmentStore store;
    private SegmentStore home;
    private StorageServer server;
    private HandoffReturn handoffs;

    private final class Faults implements FaultPoints {
        @Override
        public void reached(Step step, Path path) {
            if (step == Step.MOVE_MARKED && fails.getAndSet(false)) {
                throw new IllegalStateException("a failure that nobody foresaw");
            }
            if (step == Step.MOVE_SENT && comesAgain.getAndSet(false)) {
                put(keys.getFirst());
            }
        }

        @Override
        public void reading(Path path, long offset) throws IOException {
            bad.reading(path, offset);
        }
    }

    private final class Refusing implements Requests {
        private final Requests requests = new StorageRequests(home, Upkeep.NONE, "home");

        @Override
        public void handle(
                Frame.Header header,
                Opcode opcode,
                ByteBuffer meta,
                ByteBuffer payload,
                Replies replies)
                throws IOException {
            if (opcode == Opcode.PUT && refused.contains(ChunkKey.read(meta.duplicate()))) {
                replies.send(Opcode.PUT, ChunkStatus.NO_SPACE, header.request());
            } else {
                requests.handle(header, opcode, meta, payload, replies);
            }
        }

        @Override
        public void settle(Replies replies) throws IOException {
            requests.settle(replies);
        }
    }

    @BeforeEach
    void start() throws IOException {
        store = open("n", new Faults());
        home = open("home", FaultPoints.NONE);
        server = new StorageServer("c", "home", new HostPort("127.0.0.1", 0));
        server.start(Refusing::new);
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        discovery.register(
                new Member(Role.STORAGE, "home", "west", 1, "a", server.address(), Map.of()));
        InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
        epochs.join(new StorageSite("home", "west", 1, "a", server.address(), 1));
        handoffs = new HandoffReturn(store, "c", "n", discovery, epochs, Long.MAX_VALUE);
        for (int i = 0; i < CHUNKS; i++) {
            ChunkKey key = new ChunkKey(1, i, 0);
            put(key);
            keys.add(key);
        }
    }

    private void put(ChunkKey key) {
        try {
            ByteBuffer data = ByteBuffer.allocateDirect(BYTES);
            assertThat(store.put(key, SHAPE, "home", data).status()).isEqualTo(ChunkStatus.OK);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private SegmentStore open(String node, FaultPoints faults) throws IOException {
        Path data = Files.createDirectory(folder.resolve(node));
        return SegmentStore.open(
                data,
                new SegmentStore.Options("c", node, Long.MAX_VALUE, 0, 8 << 20, true),
                Disk.of(data),
                faults);
    }

    @AfterEach
    void stop() throws IOException {
        handoffs.close();
        server.close();
        store.close();
        home.close();
    }

    private void awaitAllHomeBut(List<ChunkKey> left) {
        await().atMost(LIMIT).until(() -> store.count() == left.size());
        for (ChunkKey key : keys) {
            boolean stays = left.contains(key);
            assertThat(store.location(key) != null).as("%s", key).isEqualTo(stays);
            assertThat(home.has(key)).as("%s", key).isEqualTo(!stays);
        }
    }

    @Test
    void whatTheDiskDoesNotGiveStaysAloneAndGoesOnceItIsWrittenAgain() throws IOException {
        ChunkKey first = keys.getFirst();
        ChunkLocation location = Objects.requireNonNull(store.location(first));
        bad.add(location.segment().path(), location.offset());
        handoffs.start();
        awaitAllHomeBut(List.of(first));
        assertThat(store.corrupt()).containsExactly(first);
        assertThat(store.keep(first, SHAPE, "home", new byte[BYTES])).isEqualTo(ChunkStatus.OK);
        awaitAllHomeBut(List.of());
    }

    /** More of them than are sent in vain in a turn. */
    @Test
    void whatTheHomeDoesNotTakeStaysAlone() {
        List<ChunkKey> first = keys.subList(0, 12);
        refused.addAll(first);
        handoffs.start();
        awaitAllHomeBut(first);
        refused.clear();
        awaitAllHomeBut(List.of());
    }

    /** It stays at first: nobody knows which of the two copies came later. */
    @Test
    void whatComesAgainOnItsWayIsReturnedOnceMore() {
        comesAgain.set(true);
        handoffs.start();
        awaitAllHomeBut(List.of());
        assertThat(comesAgain).isFalse();
    }

    @Test
    void allAreReturnedAfterAFailureThatNobodyForesaw() {
        fails.set(true);
        handoffs.start();
        awaitAllHomeBut(List.of());
        assertThat(fails).isFalse();
    }
}
