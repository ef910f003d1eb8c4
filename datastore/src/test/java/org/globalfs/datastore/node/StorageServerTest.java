package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Hello;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The storage protocol as a node speaks it, to good and bad clients. */
class StorageServerTest {
    private static final ChunkShape SHAPE = new ChunkShape(4000, 1, 4, 2, 1);

    private static final List<Opcode> OPCODES = List.copyOf(EnumSet.allOf(Opcode.class));

    @TempDir Path folder;
    private final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    private StorageNode node;

    @BeforeEach
    void start() throws IOException {
        node =
                StorageNode.start(
                        new StorageNode.Options(
                                "one",
                                "s1",
                                "west",
                                1,
                                "a",
                                new HostPort("127.0.0.1", 0),
                                folder.resolve("data"),
                                0),
                        new InMemoryDiscovery(),
                        epochs,
                        ScrubOptions.NEVER,
                        RepairOptions.NEVER,
                        ChunkSource.NONE);
    }

    @AfterEach
    void stop() throws IOException {
        node.close();
    }

    private StorageConnection connect() throws IOException {
        return new StorageConnection(node.address(), "one", "s1", 10_000);
    }

    private Socket raw() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), node.address().port());
    }

    @Test
    void putGetHasListAndStatistics() throws IOException {
        epochs.join(new StorageSite("s9", "west", 1, "a", new HostPort("127.0.0.1", 1), 1));
        try (StorageConnection connection = connect()) {
            assertThat(connection.node()).isEqualTo("s1");
            ChunkShape shape = new ChunkShape(400_000, 1, 4, 2, 1);
            byte[] data = new byte[100_032];
            new Random(5).nextBytes(data);
            ChunkKey key = new ChunkKey(7, 8, 3);
            assertThat(connection.put(key, shape, "s9", data, 0, data.length))
                    .isEqualTo(ChunkStatus.OK);
            assertThat(connection.get(key, 0, data.length).payload()).isEqualTo(data);
            assertThat(connection.get(key, 100_031, 2).status()).isEqualTo(ChunkStatus.BAD_REQUEST);
            assertThat(connection.get(key, -1, 2).status()).isEqualTo(ChunkStatus.BAD_REQUEST);
            assertThat(connection.get(new ChunkKey(7, 8, 2), 0, 1).status())
                    .isEqualTo(ChunkStatus.NOT_FOUND);
            assertThat(connection.statistics().chunks()).isEqualTo(1);
            assertThat(connection.statistics().handoffChunks()).isEqualTo(1);
            assertThat(connection.list(null, 10))
                    .containsExactly(new StorageConnection.Listed(key, shape, 100_032, "s9"));
            assertThat(connection.list(key, 10)).isEmpty();
        }
    }

    /** Whoever lists, moves or makes chunks anew would trip over it, or ask for gigabytes. */
    @Test
    void aChunkThatNoBlockHasIsRefused() throws IOException {
        try (StorageConnection connection = connect()) {
            for (ChunkShape shape :
                    List.of(
                            new ChunkShape(0, 1, 4, 2, 1),
                            new ChunkShape(-1, 1, 4, 2, 1),
                            new ChunkShape(Integer.MAX_VALUE, 1, 1, 2, 1),
                            new ChunkShape(4000, 1, 0, 8, 1),
                            new ChunkShape(4000, 1, 33, 7, 1),
                            new ChunkShape(4000, 1, 4, 0, 1),
                            new ChunkShape(4000, 1, 4, 9, 1),
                            new ChunkShape(4000, 1, 2, 1, 1),
                            new ChunkShape(5000, 1, 4, 2, 1))) {
                assertThat(
                                connection.put(
                                        new ChunkKey(7, 8, 3), shape, "", new byte[1024], 0, 1024))
                        .as("%s", shape)
                        .isEqualTo(ChunkStatus.BAD_REQUEST);
            }
            byte[] noText = new byte[255];
            java.util.Arrays.fill(noText, (byte) 0xff);
            StorageConnection.Reply reply =
                    connection.request(
                            Opcode.PUT,
                            to -> {
                                new ChunkKey(7, 8, 3).write(to);
                                SHAPE.write(to);
                                to.put((byte) noText.length).put(noText);
                            },
                            new byte[1024],
                            0,
                            1024);
            assertThat(reply.status()).isEqualTo(ChunkStatus.BAD_REQUEST);
            assertThat(connection.list(null, 10)).isEmpty();
        }
    }

    /** As when there is no room for another connection's buffers, or for a request's. */
    @Test
    void aConnectionThatThereIsNoMemoryForHarmsNoOther() throws IOException {
        AtomicInteger connections = new AtomicInteger();
        Requests scarce =
                (header, opcode, meta, payload, replies) -> {
                    if (opcode == Opcode.STATS) {
                        throw new OutOfMemoryError("of a request");
                    }
                    replies.send(opcode, ChunkStatus.NOT_FOUND, header.request());
                };
        try (StorageServer server = new StorageServer("one", "s2", new HostPort("127.0.0.1", 0))) {
            server.start(() -> {
                if (connections.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("of a connection");
                }
                return scarce;
            });
            assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
            try (StorageConnection one = connect(server);
                    StorageConnection other = connect(server)) {
                assertThatThrownBy(one::statistics).isInstanceOf(IOException.class);
                assertThat(other.get(new ChunkKey(1, 2, 3), 0, 1).status())
                        .isEqualTo(ChunkStatus.NOT_FOUND);
            }
        }
    }

    private static StorageConnection connect(StorageServer server) throws IOException {
        return new StorageConnection(server.address(), "one", "s2", 10_000);
    }

    @Test
    void passesAreBegunAndLookedAt() throws IOException {
        try (StorageConnection connection = connect()) {
            assertThat(connection.scrub().state()).isEqualTo(PassState.NONE);
            assertThat(connection.beginScrub(5).bytesPerSecond()).isEqualTo(5);
            await().until(() -> connection.scrub().state() == PassState.ENDED);
            assertThat(connection.beginRepair().state())
                    .as("it is not to repair")
                    .isEqualTo(PassState.OFF);
            for (Opcode opcode : List.of(Opcode.SCRUB, Opcode.REPAIR)) {
                StorageConnection.Reply reply =
                        connection.request(
                                opcode, to -> to.put((byte) 7).putLong(0), new byte[0], 0, 0);
                assertThat(reply.status()).isEqualTo(ChunkStatus.BAD_REQUEST);
            }
        }
    }

    @Test
    void otherClustersAndNodesAreRefused() {
        assertThatThrownBy(() -> new StorageConnection(node.address(), "two", "s1", 5_000))
                .hasMessageContaining("WRONG_CLUSTER");
        assertThatThrownBy(() -> new StorageConnection(node.address(), "one", "s2", 5_000))
                .hasMessageContaining("WRONG_NODE");
    }

    /** Whoever starts a node again at once, at its address, must not be told that it is taken. */
    @Test
    void aClosedServerHasLeftItsPort() throws IOException {
        SegmentStore.Options options =
                new SegmentStore.Options("one", "s2", Long.MAX_VALUE, 0, 1 << 20, true);
        Path other = Files.createDirectory(folder.resolve("other"));
        try (SegmentStore store = SegmentStore.open(other, options)) {
            HostPort bind = new HostPort("127.0.0.1", 0);
            for (int round = 0; round < 100; round++) {
                StorageServer server = new StorageServer("one", "s2", bind);
                bind = server.address();
                server.start(() -> new StorageRequests(store, Upkeep.NONE, "s2"));
                await().until(StorageServerTest::aConnectionIsWaitedFor);
                server.close();
            }
        }
    }

    private static boolean aConnectionIsWaitedFor() {
        return Thread.getAllStackTraces().entrySet().stream()
                .anyMatch(thread ->
                        thread.getKey().getName().equals("storage-s2-accept")
                                && thread.getValue().length > 0
                                && thread.getValue()[0].getMethodName().startsWith("poll"));
    }

    /** It would have memory set aside for anybody. */
    @Test
    void nobodySendsMuchBeforeHello() throws IOException {
        try (Socket socket = raw()) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(putOf(Frame.MAX_PAYLOAD_BYTES));
            assertThat(socket.getInputStream().read()).as("closed").isNegative();
        }
    }

    private static byte[] putOf(int bytes) {
        ByteBuffer frame = ByteBuffer.allocate(200);
        int start = Frame.begin(frame);
        new ChunkKey(1, 1, 1).write(frame);
        SHAPE.write(frame);
        Frame.writeString(frame, "");
        Frame.end(frame, start, Opcode.PUT, ChunkStatus.REQUEST, 1, bytes, 0);
        return java.util.Arrays.copyOf(frame.array(), frame.position());
    }

    private static byte[] helloTo(String node) {
        ByteBuffer frame = ByteBuffer.allocate(200);
        int start = Frame.begin(frame);
        new Hello("one", node, false).write(frame);
        Frame.end(frame, start, Opcode.HELLO, ChunkStatus.REQUEST, 0, 0, 0);
        return java.util.Arrays.copyOf(frame.array(), frame.position());
    }

    /** With half a second for who stops in the middle. */
    private static StorageServer impatient(ConnectionHandler.Budgets budgets) throws IOException {
        return new StorageServer(
                "one",
                "s2",
                new HostPort("127.0.0.1", 0),
                new StorageServer.Limits(60_000, 500),
                budgets,
                Thread::new);
    }

    /** All the memory that there is for requests is one client's, which has stopped. */
    @Test
    void whoStopsInTheMiddleOfARequestKeepsOthersWaitingForAWhileOnly() throws Exception {
        ConnectionHandler.Budgets budgets =
                new ConnectionHandler.Budgets(
                        new TransferBudget(64 << 10), new TransferBudget(1 << 20));
        try (StorageServer server = impatient(budgets)) {
            server.start(() ->
                    (header, opcode, meta, payload, replies) ->
                            replies.send(opcode, ChunkStatus.OK, header.request()));
            try (Socket stopped =
                    new Socket(InetAddress.getLoopbackAddress(), server.address().port())) {
                stopped.getOutputStream().write(helloTo("s2"));
                stopped.getOutputStream().write(putOf(4 << 20));
                await().until(() -> budgets.requests().usedBytes() == 1 << 20);
                byte[] data = new byte[200_000];
                try (StorageConnection other = connect(server)) {
                    assertThat(other.put(new ChunkKey(1, 2, 3), SHAPE, "", data, 0, data.length))
                            .isEqualTo(ChunkStatus.OK);
                    byte[] small = new byte[20_000];
                    assertThat(other.put(new ChunkKey(1, 2, 4), SHAPE, "", small, 0, small.length))
                            .isEqualTo(ChunkStatus.OK);
                    other.ping();
                    await().until(() -> budgets.requests().usedBytes() == 0);
                    await().until(() -> budgets.arriving().usedBytes() == 0);
                }
            }
        }
    }

    /** Of two nodes of one process; what is held by requests to the first is never given back. */
    @Test
    void aNodeWhoseDiskHangsHoldsUpNoOtherOfItsProcess() throws Exception {
        byte[] data = new byte[1 << 20];
        ServerBudgets process = new ServerBudgets(4L * data.length);
        CountDownLatch mended = new CountDownLatch(1);
        FaultPoints hanging =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void reading(Path path, long offset) throws IOException {
                        try {
                            mended.await();
                        } catch (InterruptedException e) {
                            throw new InterruptedIOException();
                        }
                    }
                };
        ConnectionHandler.Budgets budgets = process.ofServer();
        List<Socket> waiting = new ArrayList<>();
        try (SegmentStore hangs = store("hangs", hanging);
                SegmentStore works = store("works", FaultPoints.NONE);
                StorageServer first = impatient(budgets);
                StorageServer second = impatient(process.ofServer())) {
            ChunkKey key = new ChunkKey(7, 8, 3);
            for (SegmentStore store : List.of(hangs, works)) {
                assertThat(store.keep(key, SHAPE, null, data)).isEqualTo(ChunkStatus.OK);
            }
            first.start(() -> new StorageRequests(hangs, Upkeep.NONE, "s2"));
            second.start(() -> new StorageRequests(works, Upkeep.NONE, "s2"));
            for (int i = 0; i < 8; i++) {
                Socket socket =
                        new Socket(InetAddress.getLoopbackAddress(), first.address().port());
                waiting.add(socket);
                socket.getOutputStream().write(helloTo("s2"));
                socket.getOutputStream().write(getOf(Opcode.GET, key, data.length));
            }
            await().until(() -> budgets.requests().waiting() > 0);
            try (StorageConnection other = connect(second)) {
                assertThat(other.get(key, 0, data.length).payload()).isEqualTo(data);
            }
            mended.countDown();
        } finally {
            mended.countDown();
            for (Socket socket : waiting) {
                socket.close();
            }
        }
    }

    private SegmentStore store(String name, FaultPoints faults) throws IOException {
        Path data = Files.createDirectory(folder.resolve(name));
        SegmentStore.Options options =
                new SegmentStore.Options("one", "s2", 1L << 30, 0, 64 << 20, true);
        return SegmentStore.open(data, options, Disk.of(data), faults);
    }

    /** Who does not take the pages that it asked for holds nothing for ever, and harms no file. */
    @Test
    void whoStopsTakingPagesIsClosedAndTheFileStaysOpen() throws Exception {
        byte[] data = new byte[ChunkRecord.MAX_DATA_BYTES];
        new Random(6).nextBytes(data);
        ChunkKey key = new ChunkKey(7, 8, 3);
        ConnectionHandler.Budgets budgets =
                new ConnectionHandler.Budgets(
                        new TransferBudget(64 << 10), new TransferBudget(32 << 20));
        SegmentStore.Options options =
                new SegmentStore.Options("one", "s2", 1L << 30, 0, 64 << 20, true);
        try (SegmentStore store =
                        SegmentStore.open(Files.createDirectory(folder.resolve("store")), options);
                StorageServer server = impatient(budgets)) {
            assertThat(store.keep(key, SHAPE, null, data)).isEqualTo(ChunkStatus.OK);
            server.start(() -> new StorageRequests(store, Upkeep.NONE, "s2"));
            try (Socket stopped =
                    new Socket(InetAddress.getLoopbackAddress(), server.address().port())) {
                stopped.getOutputStream().write(helloTo("s2"));
                for (int i = 0; i < 8; i++) {
                    stopped.getOutputStream().write(getOf(Opcode.GET_PAGES, key, data.length));
                }
                await().until(() -> budgets.requests().usedBytes() > 0);
                await().until(() -> server.threads() == 0);
                assertThat(budgets.requests().usedBytes()).isZero();
            }
            try (StorageConnection other = connect(server)) {
                assertThat(other.get(key, 0, data.length).payload()).isEqualTo(data);
            }
        }
    }

    private static byte[] getOf(Opcode opcode, ChunkKey key, int bytes) {
        ByteBuffer frame = ByteBuffer.allocate(200);
        int start = Frame.begin(frame);
        key.write(frame);
        frame.putInt(0).putInt(bytes);
        Frame.end(frame, start, opcode, ChunkStatus.REQUEST, 1, 0, 0);
        return java.util.Arrays.copyOf(frame.array(), frame.position());
    }

    /** A system that lets a process have so many threads only. */
    @Test
    void aConnectionThatThereIsNoThreadForLeavesNothing() throws IOException {
        AtomicInteger connections = new AtomicInteger();
        ConnectionHandler.Budgets budgets =
                new ConnectionHandler.Budgets(
                        new TransferBudget(64 << 10), new TransferBudget(1 << 20));
        ThreadFactory scarce =
                task ->
                        new Thread(task) {
                            @Override
                            public void start() {
                                if (connections.incrementAndGet() <= 2) {
                                    throw new OutOfMemoryError("unable to create native thread");
                                }
                                super.start();
                            }
                        };
        try (StorageServer server =
                new StorageServer(
                        "one",
                        "s2",
                        new HostPort("127.0.0.1", 0),
                        StorageServer.Limits.DEFAULT,
                        budgets,
                        scarce)) {
            server.start(() ->
                    (header, opcode, meta, payload, replies) ->
                            replies.send(opcode, ChunkStatus.OK, header.request()));
            assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
            try (StorageConnection third = connect(server)) {
                third.ping();
                assertThat(server.connections()).isEqualTo(1);
                assertThat(server.threads()).isEqualTo(1);
            }
        }
    }

    private static StorageServer ofThree() throws IOException {
        StorageServer server =
                new StorageServer(
                        "one",
                        "s2",
                        new HostPort("127.0.0.1", 0),
                        new StorageServer.Limits(60_000, 60_000, 3));
        server.start(() ->
                (header, opcode, meta, payload, replies) ->
                        replies.send(opcode, ChunkStatus.OK, header.request()));
        return server;
    }

    /** As those of mounts that have written much, and now do nothing. */
    @Test
    void oneMoreConnectionTakesThePlaceOfTheOneThatIsIdleLongest() throws IOException {
        try (StorageServer server = ofThree();
                StorageConnection first = connect(server);
                StorageConnection second = connect(server);
                StorageConnection third = connect(server)) {
            first.ping();
            try (StorageConnection fourth = connect(server)) {
                fourth.ping();
                first.ping();
                third.ping();
                await().until(() -> !second.isOpen());
                assertThat(server.connections()).isEqualTo(3);
            }
        }
    }

    @Test
    void connectionsThatAreInUseAreNotClosedForOneMore() throws IOException {
        try (StorageServer server = ofThree()) {
            List<Socket> moving = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    Socket socket =
                            new Socket(InetAddress.getLoopbackAddress(), server.address().port());
                    moving.add(socket);
                    ByteBuffer both = ByteBuffer.allocate(400);
                    both.put(helloTo("s2")).put(putOf(4 << 20));
                    socket.getOutputStream().write(both.array(), 0, both.position());
                    socket.getInputStream().readNBytes(Frame.HEADER_BYTES);
                }
                assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
                assertThat(server.connections()).isEqualTo(3);
            } finally {
                for (Socket socket : moving) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void garbageEndsItsConnectionAndNothingElse() throws IOException {
        Random random = new Random(99);
        try (StorageConnection good = connect()) {
            for (int i = 0; i < 50; i++) {
                byte[] garbage = new byte[1 + random.nextInt(200)];
                random.nextBytes(garbage);
                if (i % 2 == 0) {
                    garbage = frameWith(random);
                }
                try (Socket socket = raw()) {
                    OutputStream out = socket.getOutputStream();
                    out.write(garbage);
                    out.flush();
                    socket.shutdownOutput();
                    socket.setSoTimeout(10_000);
                    while (socket.getInputStream().read() >= 0) {
                        // until the node closes
                    }
                } catch (IOException reset) {
                    assertThat(reset).hasMessageContaining("reset");
                }
                good.ping();
            }
        }
    }

    /** A well-formed frame, not greeted or with a meta that is too short. */
    private static byte[] frameWith(Random random) {
        ByteBuffer frame = ByteBuffer.allocate(200);
        int start = Frame.begin(frame);
        frame.put(new byte[random.nextInt(5)]);
        Opcode opcode = OPCODES.get(random.nextInt(OPCODES.size()));
        Frame.end(frame, start, opcode, ChunkStatus.REQUEST, random.nextLong(), 0, 0);
        return java.util.Arrays.copyOf(frame.array(), frame.position());
    }

    @Test
    void putDamagedOnTheWayIsRefused() throws IOException {
        try (Socket socket = raw()) {
            ByteBuffer frames = ByteBuffer.allocate(2000);
            int start = Frame.begin(frames);
            frames.putInt(Frame.PROTOCOL_VERSION);
            Frame.writeString(frames, "one");
            Frame.writeString(frames, "");
            Frame.end(frames, start, Opcode.HELLO, ChunkStatus.REQUEST, 0, 0, 0);
            int put = Frame.begin(frames);
            new ChunkKey(1, 1, 1).write(frames);
            SHAPE.write(frames);
            Frame.writeString(frames, "");
            Frame.end(frames, put, Opcode.PUT, ChunkStatus.REQUEST, 1, 1024, 12345);
            frames.put(new byte[1024]);
            socket.getOutputStream().write(frames.array(), 0, frames.position());
            byte[] hello = socket.getInputStream().readNBytes(Frame.HEADER_BYTES + 7);
            assertThat(Frame.header(ByteBuffer.wrap(hello), 0).chunkStatus())
                    .isEqualTo(ChunkStatus.OK);
            byte[] reply = socket.getInputStream().readNBytes(Frame.HEADER_BYTES);
            assertThat(Frame.header(ByteBuffer.wrap(reply), 0).chunkStatus())
                    .isEqualTo(ChunkStatus.CORRUPT);
        }
        try (StorageConnection connection = connect()) {
            assertThat(connection.get(new ChunkKey(1, 1, 1), 0, 1).status())
                    .isEqualTo(ChunkStatus.NOT_FOUND);
        }
    }
}
