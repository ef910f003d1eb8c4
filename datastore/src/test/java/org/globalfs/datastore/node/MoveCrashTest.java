package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.datastore.node.CrashImages.Crash;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both nodes lose their power at every step of a chunk's way from one to the other, on real disks
 * and sockets: one of the two has it, and once they go on none is left over.
 */
@Timeout(300)
class MoveCrashTest {
    private static final String FROM = "one";
    private static final String TO = "two";
    private static final int SEGMENT_BYTES = 160 << 10;

    @TempDir Path folder;
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final Map<ChunkKey, byte[]> chunks = new LinkedHashMap<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** A store that is served. */
    private record Node(SegmentStore store, StorageServer server) implements AutoCloseable {
        static Node start(String name, Path data, FaultPoints faults) throws IOException {
            SegmentStore store =
                    SegmentStore.open(
                            data,
                            new SegmentStore.Options(
                                    "c", name, Long.MAX_VALUE, 0, SEGMENT_BYTES, true),
                            Disk.of(data),
                            faults);
            StorageServer server = new StorageServer("c", name, new HostPort("127.0.0.1", 0));
            server.start(() -> new StorageRequests(store, Upkeep.NONE, name));
            return new Node(store, server);
        }

        StorageConnection connect(String name) throws IOException {
            return new StorageConnection(server.address(), "c", name, 60_000);
        }

        @Override
        public void close() throws IOException {
            server.close();
            store.close();
        }
    }

    private Path data(String name) throws IOException {
        return Files.createDirectory(folder.resolve(name));
    }

    @Test
    void oneOfTheTwoHasItAtEveryStepAndOneInTheEnd() throws IOException {
        Path from = data(FROM);
        Path to = data(TO);
        CrashImages fromDisk = new CrashImages(from, random);
        CrashImages toDisk = new CrashImages(to, random);
        try (Node source = Node.start(FROM, from, fromDisk);
                Node target = Node.start(TO, to, toDisk);
                StorageConnection connection = target.connect(TO)) {
            for (int i = 0; i < 8; i++) {
                // Long enough that eight of them never fit into one segment.
                byte[] bytes = new byte[64 * (470 + random.nextInt(470))];
                random.nextBytes(bytes);
                ChunkKey key = new ChunkKey(7, random.nextLong(), i % 6);
                chunks.put(key, bytes);
                put(source.store, key, bytes);
                if (i % 3 == 0) {
                    put(target.store, key, bytes); // made anew meanwhile, say
                }
            }
            fromDisk.watch(step -> crashBoth(fromDisk, toDisk, step));
            toDisk.watch(step -> crashBoth(fromDisk, toDisk, step));
            for (ChunkKey key : chunks.keySet()) {
                ChunkMove.move(source.store, connection, key, shape(key), "");
            }
            assertThat(source.store.count()).isZero();
        }
        assertThat(failure.get()).as("seed %s", seed).isNull();
        assertThat(fromDisk.seen())
                .contains(
                        Step.MOVE_MARKED,
                        Step.MOVE_ASKED,
                        Step.MOVE_SENT,
                        Step.MOVE_ENDED,
                        Step.RECORD_DEAD,
                        Step.HOLE_PUNCHED,
                        Step.SEGMENT_REMOVED);
        assertThat(toDisk.seen())
                .contains(Step.RECORD_BEGUN, Step.RECORD_ENTERED, Step.SYNCED, Step.SEGMENT_SEALED);
    }

    private ChunkShape shape(ChunkKey key) {
        byte[] bytes = Objects.requireNonNull(chunks.get(key));
        return new ChunkShape(4 * bytes.length, 1, 4, 2, 1);
    }

    private void put(SegmentStore store, ChunkKey key, byte[] bytes) throws IOException {
        assertThat(store.keep(key, shape(key), null, bytes)).isEqualTo(ChunkStatus.OK);
    }

    /** Of a thread of either node: what it finds is kept for the test's. */
    private void crashBoth(CrashImages fromDisk, CrashImages toDisk, Step step) {
        for (Crash crash : Crash.values()) {
            try {
                reopen(
                        fromDisk.write(folder.resolve("from-image"), crash),
                        toDisk.write(folder.resolve("to-image"), crash));
            } catch (IOException | AssertionError e) {
                failure.compareAndSet(null, new AssertionError(crash + " at " + step, e));
            }
        }
    }

    private void reopen(Path from, Path to) throws IOException {
        try (Node source = Node.start(FROM, from, FaultPoints.NONE);
                Node target = Node.start(TO, to, FaultPoints.NONE);
                StorageConnection connection = target.connect(TO)) {
            for (Map.Entry<ChunkKey, byte[]> chunk : chunks.entrySet()) {
                assertThat(
                                reads(source.store, chunk.getKey(), chunk.getValue())
                                        || reads(target.store, chunk.getKey(), chunk.getValue()))
                        .as("chunk %s has a copy", chunk.getKey())
                        .isTrue();
            }
            for (ChunkKey key : chunks.keySet()) {
                if (source.store.location(key) != null) {
                    assertThat(ChunkMove.move(source.store, connection, key, shape(key), ""))
                            .isNotEqualTo(ChunkMove.REFUSED);
                }
            }
            assertThat(source.store.count()).isZero();
            assertThat(target.store.count()).isEqualTo(chunks.size());
            for (Map.Entry<ChunkKey, byte[]> chunk : chunks.entrySet()) {
                assertThat(reads(target.store, chunk.getKey(), chunk.getValue())).isTrue();
            }
            assertThat(target.store.delete(new ArrayList<>(chunks.keySet())))
                    .isEqualTo(chunks.size());
            for (SegmentStore store : List.of(source.store, target.store)) {
                try (Compaction compaction = new Compaction(store, "n")) {
                    compaction.compact();
                }
                assertThat(store.statistics().usedBytes()).isLessThan(SEGMENT_BYTES / 4);
            }
        }
    }

    private static boolean reads(SegmentStore store, ChunkKey key, byte[] expected)
            throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(expected.length));
        return store.read(key, 0, expected.length, into) == ChunkStatus.OK
                && into.equals(ByteBuffer.wrap(expected));
    }
}
