package org.globalfs.protocol.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.NoMoreFiles;
import org.globalfs.protocol.rpc.RpcException.Outcome;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(60)
class RpcTest {

    private static final String HOST = "127.0.0.1";
    private static final long TIMEOUT_MS = 20_000;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private static RpcServer serve(RpcHandler<LocateRequest, LocateReply> handler)
            throws IOException {
        return RpcServer.start(
                "test", HOST, 0, new RpcServer.Calls().on(OracleCalls.LOCATE, handler));
    }

    private static LocateReply echo(LocateRequest request) {
        return new LocateReply(0).setIno(request.getIno()).setPlacement(text(request));
    }

    private static String text(LocateRequest request) {
        return request.isSetPath()
                ? StandardCharsets.UTF_8.decode(request.bufferForPath()).toString()
                : "";
    }

    private static LocateRequest request(long ino, String path) {
        return new LocateRequest()
                .setIno(ino)
                .setPath(ByteBuffer.wrap(path.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void callBringsItsReply() throws Exception {
        try (RpcServer server = serve(RpcTest::echo);
                RpcClient client = new RpcClient(HOST, server.port())) {
            for (int size : new int[] {0, 1, 1000, 16_379, 16_384, 100_000, 5_000_000}) {
                String path = "p".repeat(size);
                LocateReply reply =
                        client.call(OracleCalls.LOCATE, request(size, path), TIMEOUT_MS);
                assertThat(reply.getIno()).isEqualTo(size);
                assertThat(reply.getPlacement()).isEqualTo(path);
            }
        }
    }

    @Test
    void manyThreadsShareAClient() throws Exception {
        try (RpcServer server = serve(RpcTest::echo);
                RpcClient client = new RpcClient(HOST, server.port());
                ExecutorService threads = Executors.newFixedThreadPool(24)) {
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < 24; t++) {
                long base = t * 1_000_000L;
                all.add(
                        threads.submit(() -> {
                            for (int i = 0; i < 300; i++) {
                                LocateReply reply =
                                        client.call(
                                                OracleCalls.LOCATE,
                                                request(base + i, "x" + i),
                                                TIMEOUT_MS);
                                assertThat(reply.getIno()).isEqualTo(base + i);
                                assertThat(reply.getPlacement()).isEqualTo("x" + i);
                            }
                            return null;
                        }));
            }
            for (Future<?> one : all) {
                one.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void failureOfTheHandlerIsRefusedAndTheConnectionStays() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (RpcServer server =
                        serve(request -> {
                            if (calls.incrementAndGet() == 1) {
                                throw new IOException("disk is gone");
                            }
                            return echo(request);
                        });
                RpcClient client = new RpcClient(HOST, server.port())) {
            assertThatThrownBy(() -> client.call(OracleCalls.LOCATE, request(1, ""), TIMEOUT_MS))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            e -> assertThat(e.outcome()).isEqualTo(Outcome.REFUSED))
                    .hasMessageContaining("disk is gone");
            assertThat(client.call(OracleCalls.LOCATE, request(2, ""), TIMEOUT_MS).getIno())
                    .isEqualTo(2);
        }
    }

    @Test
    void unknownCallIsRefusedByName() throws Exception {
        try (RpcServer server = serve(RpcTest::echo);
                RpcClient client = new RpcClient(HOST, server.port())) {
            assertThatThrownBy(() ->
                            client.call(MetadataCalls.STATUS, new StatusRequest(), TIMEOUT_MS))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("no call named status");
        }
    }

    @Test
    void replyWithoutItsRequiredFieldIsRefusedNotHung() throws Exception {
        RpcServer.Calls calls =
                new RpcServer.Calls().on(MetadataCalls.STATE_HASH, request -> new HashReply());
        try (RpcServer server = RpcServer.start("test", HOST, 0, calls);
                RpcClient client = new RpcClient(HOST, server.port())) {
            assertThatThrownBy(() ->
                            client.call(MetadataCalls.STATE_HASH, new HashRequest(1), TIMEOUT_MS))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("cannot be encoded");
        }
    }

    @Test
    void nobodyListeningMeansNotSent() throws Exception {
        int port = FreePorts.one();
        try (RpcClient client = new RpcClient(HOST, port)) {
            assertThatThrownBy(() -> client.call(OracleCalls.LOCATE, request(1, ""), TIMEOUT_MS))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            e -> assertThat(e.outcome()).isEqualTo(Outcome.NOT_SENT))
                    .hasMessageContaining(HOST + ":" + port);
        }
    }

    @Test
    void slowServerMeansUnknownAndLaterRepliesAreNotMixedUp() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (RpcServer server =
                        serve(request -> {
                            if (request.getIno() == 1) {
                                release.await();
                            }
                            return echo(request);
                        });
                RpcClient client = new RpcClient(HOST, server.port())) {
            assertThatThrownBy(() -> client.call(OracleCalls.LOCATE, request(1, ""), 100))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            e -> assertThat(e.outcome()).isEqualTo(Outcome.UNKNOWN));
            release.countDown();
            assertThat(client.call(OracleCalls.LOCATE, request(2, ""), TIMEOUT_MS).getIno())
                    .isEqualTo(2);
        }
    }

    /** Its process stands still, or its machine is out of reach. */
    @Test
    void whoTakesNothingIsNotSentToForLongerThanTheCallMayTake() throws Exception {
        try (ExecutorService caller = Executors.newSingleThreadExecutor();
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RpcClient client = new RpcClient(HOST, server.getLocalPort())) {
            LocateRequest large = request(1, "p".repeat(12_000_000));
            Future<?> call = caller.submit(() -> client.call(OracleCalls.LOCATE, large, 300));
            assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            e -> assertThat(e.outcome()).isEqualTo(Outcome.NOT_SENT))
                    .hasMessageContaining("not taken in time");
        }
    }

    @Test
    void clientReconnectsToARestartedServer() throws Exception {
        int port;
        RpcClient client;
        try (RpcServer server = serve(RpcTest::echo)) {
            port = server.port();
            client = new RpcClient(HOST, port);
            client.call(OracleCalls.LOCATE, request(1, ""), TIMEOUT_MS);
        }
        try (RpcServer again =
                        RpcServer.start(
                                "test",
                                HOST,
                                port,
                                new RpcServer.Calls().on(OracleCalls.LOCATE, RpcTest::echo));
                client) {
            assertThat(again.port()).isEqualTo(port);
            // The pooled connection of the old server fails once; then everything is fresh.
            assertThatThrownBy(() -> client.call(OracleCalls.LOCATE, request(2, ""), TIMEOUT_MS))
                    .isInstanceOf(RpcException.class);
            assertThat(client.call(OracleCalls.LOCATE, request(3, ""), TIMEOUT_MS).getIno())
                    .isEqualTo(3);
        }
    }

    @Test
    void closingTheServerEndsCallsInProgress() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        RpcServer server =
                serve(request -> {
                    inside.countDown();
                    new CountDownLatch(1).await();
                    return echo(request);
                });
        try (RpcClient client = new RpcClient(HOST, server.port());
                ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<LocateReply> call =
                    thread.submit(
                            () -> client.call(OracleCalls.LOCATE, request(1, ""), TIMEOUT_MS));
            inside.await();
            server.close();
            assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(RpcException.class);
        }
    }

    @Test
    void busyPortIsNamed() throws Exception {
        try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() ->
                            RpcServer.start(
                                    "metadata replica 4",
                                    HOST,
                                    holder.getLocalPort(),
                                    new RpcServer.Calls()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("metadata replica 4")
                    .hasMessageContaining(HOST + ":" + holder.getLocalPort());
        }
    }

    @Test
    void garbageAndOversizeDropTheConnectionOnly() throws Exception {
        try (RpcServer server =
                RpcServer.start(
                        "test",
                        HOST,
                        0,
                        new RpcServer.Calls().on(OracleCalls.LOCATE, RpcTest::echo),
                        10_000,
                        100)) {
            for (byte[] bytes :
                    List.of(
                            "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                            new byte[] {0, 0, 0, 0},
                            new byte[] {0, 0, 0, 5, 1, 2, 3, 4, 5},
                            new byte[] {(byte) 0xff, 0, 0, 0},
                            new byte[] {0, 1, 0, 0})) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                    OutputStream out = socket.getOutputStream();
                    out.write(bytes);
                    assertThat(socket.getInputStream().read()).isEqualTo(-1);
                } catch (IOException reset) {
                    assertThat(reset).hasMessageContaining("reset");
                }
            }
            try (RpcClient client = new RpcClient(HOST, server.port())) {
                assertThat(client.call(OracleCalls.LOCATE, request(3, ""), TIMEOUT_MS).getIno())
                        .isEqualTo(3);
                assertThatThrownBy(() ->
                                client.call(
                                        OracleCalls.LOCATE,
                                        request(3, "x".repeat(20_000)),
                                        TIMEOUT_MS))
                        .isInstanceOf(RpcException.class);
            }
        }
    }

    /** By the length alone some dozens of connections would take all of a server's heap. */
    @Test
    void whoSaysThatMuchComesIsGivenNoRoomForItBeforeItDoes() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket stranger =
                        new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
                Wire wire =
                        new Wire(
                                listener.accept(),
                                RpcServer.DEFAULT_MAX_FRAME_BYTES,
                                Wire.MOST_REQUESTED_ELEMENTS)) {
            stranger.getOutputStream()
                    .write(
                            ByteBuffer.allocate(8)
                                    .putInt(RpcServer.DEFAULT_MAX_FRAME_BYTES)
                                    .array());
            long before = threads.getCurrentThreadAllocatedBytes();
            assertThatThrownBy(() -> wire.receive(System.nanoTime() + 300_000_000))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(2 << 20);
        }
    }

    /** Empty texts, a byte each, would be a gigabyte of them: all of a server's heap. */
    @Test
    void whoSendsMillionsOfElementsIsRefusedBeforeTheyTakeMemory() throws Exception {
        NoticesOp many = new NoticesOp(1, 1, Collections.nCopies(10_000_000, EMPTY));
        Command command = new Command(1, 1, 1, new Credentials(0, 0), 0, UpdateOp.notices(many));
        AtomicLong allocated = new AtomicLong();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RpcServer server =
                        RpcServer.start(
                                "test",
                                HOST,
                                0,
                                new RpcServer.Calls()
                                        .on(MetadataCalls.UPDATE, RpcTest::update)
                                        .on(
                                                MetadataCalls.STATUS,
                                                request -> {
                                                    allocated.set(
                                                            threads
                                                                    .getCurrentThreadAllocatedBytes());
                                                    return new ReplicaStatus(1, List.of(), 0);
                                                }));
                RpcClient client = new RpcClient(HOST, server.port())) {
            assertThatThrownBy(() ->
                            client.call(
                                    MetadataCalls.UPDATE,
                                    new UpdateRequest(0, command),
                                    TIMEOUT_MS))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("malformed request");
            assertThat(client.call(MetadataCalls.STATUS, new StatusRequest(), TIMEOUT_MS).getId())
                    .isEqualTo(1);
            assertThat(allocated.get()).isLessThan(100 << 20);
        }
    }

    private static UpdateReply update(UpdateRequest request) {
        return new UpdateReply(Status.DONE, 0);
    }

    /**
     * What any other Thrift library writes: libthrift's own framed transport and compact protocol.
     */
    @Test
    void speaksStandardThrift() throws Exception {
        try (RpcServer server = serve(RpcTest::echo);
                TSocket socket = new TSocket(HOST, server.port());
                TFramedTransport framed = new TFramedTransport(socket)) {
            framed.open();
            TCompactProtocol protocol = new TCompactProtocol(framed);
            protocol.writeMessageBegin(new TMessage("locate", TMessageType.CALL, 77));
            protocol.writeStructBegin(new TStruct("locate_args"));
            protocol.writeFieldBegin(new TField("request", TType.STRUCT, (short) 1));
            request(12, "/a").write(protocol);
            protocol.writeFieldEnd();
            protocol.writeFieldStop();
            protocol.writeStructEnd();
            protocol.writeMessageEnd();
            framed.flush();

            TMessage message = protocol.readMessageBegin();
            assertThat(message.name).isEqualTo("locate");
            assertThat(message.type).isEqualTo(TMessageType.REPLY);
            assertThat(message.seqid).isEqualTo(77);
            protocol.readStructBegin();
            TField field = protocol.readFieldBegin();
            assertThat(field.id).isZero();
            LocateReply reply = new LocateReply();
            reply.read(protocol);
            assertThat(reply.getIno()).isEqualTo(12);
        }
    }

    @Test
    void whoCannotBeAcceptedForWantOfFilesIsLater() throws Exception {
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(RpcServer.class);
        logger.addAppender(told);
        try (RpcServer server = serve(RpcTest::echo);
                Socket asker = new Socket()) {
            asker.bind(null);
            assertAnswers(server);
            try (NoMoreFiles _ = new NoMoreFiles()) {
                asker.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                await().atMost(Duration.ofSeconds(20)).until(() -> !told.list.isEmpty());
            }
            assertAnswers(server);
        } finally {
            logger.detachAppender(told);
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .contains("test cannot accept", "Too many open files", "ulimit -n");
    }

    /** As those of mounts whose machines are gone, or that do nothing now. */
    @Test
    void theConnectionThatIsIdleLongestMakesRoom() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        RpcHandler<LocateRequest, LocateReply> handler =
                request -> {
                    if (request.getIno() == 7) {
                        called.countDown();
                        answer.await();
                    }
                    return echo(request);
                };
        try (RpcServer server = ofTwo(handler, Thread::new);
                RpcClient busy = new RpcClient(HOST, server.port());
                Socket idle = new Socket(InetAddress.getLoopbackAddress(), server.port());
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            idle.setSoTimeout((int) TIMEOUT_MS);
            // A frame that began counts as nothing until it is whole.
            idle.getOutputStream().write(new byte[] {0, 0, 1, 0, 1});
            Future<LocateReply> call =
                    threads.submit(
                            () -> busy.call(OracleCalls.LOCATE, request(7, "busy"), TIMEOUT_MS));
            called.await();
            assertAnswers(server);
            assertThat(idle.getInputStream().read()).isNegative();
            answer.countDown();
            assertThat(call.get().getPlacement()).isEqualTo("busy");
        }
    }

    @Test
    void whoThereIsNoThreadForIsServedLater() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        ThreadFactory scarce =
                task ->
                        new Thread(task) {
                            @Override
                            public void start() {
                                if (begun.incrementAndGet() <= 3) {
                                    throw new OutOfMemoryError("unable to create native thread");
                                }
                                super.start();
                            }
                        };
        try (RpcServer server = ofTwo(RpcTest::echo, scarce)) {
            for (int i = 0; i < 3; i++) {
                try (Socket refused = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                    refused.setSoTimeout((int) TIMEOUT_MS);
                    assertThat(refused.getInputStream().read()).isNegative();
                }
            }
            assertAnswers(server);
        }
    }

    private static RpcServer ofTwo(
            RpcHandler<LocateRequest, LocateReply> handler, ThreadFactory threads)
            throws IOException {
        return RpcServer.start(
                "test",
                HOST,
                0,
                new RpcServer.Calls().on(OracleCalls.LOCATE, handler),
                RpcServer.DEFAULT_MAX_FRAME_BYTES,
                2,
                threads);
    }

    private static void assertAnswers(RpcServer server) throws Exception {
        try (RpcClient client = new RpcClient(HOST, server.port())) {
            assertThat(client.call(OracleCalls.LOCATE, request(1, "p"), TIMEOUT_MS).getPlacement())
                    .isEqualTo("p");
        }
    }
}
