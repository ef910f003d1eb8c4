package org.globalfs.datastore.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection to a node that says who it is, and nothing more. */
@Timeout(60)
class StorageConnectionTest {
    private static final int TIMEOUT_MS = 200;

    private final ExecutorService threads = Executors.newSingleThreadExecutor();
    private final CountDownLatch over = new CountDownLatch(1);
    private final ServerSocket server = serverSocket();
    private Future<?> serving;

    private static ServerSocket serverSocket() {
        try {
            return new ServerSocket();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void start() throws IOException {
        server.setReceiveBufferSize(4096);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        serving = threads.submit(this::greetOnly);
    }

    @AfterEach
    void stop() throws Exception {
        over.countDown();
        serving.get(30, TimeUnit.SECONDS);
        server.close();
        threads.shutdown();
    }

    private Void greetOnly() throws IOException, InterruptedException {
        try (Socket socket = server.accept()) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            Frame.Header hello =
                    Frame.header(ByteBuffer.wrap(in.readNBytes(Frame.HEADER_BYTES)), 0);
            in.skipNBytes(hello.metaBytes());
            ByteBuffer reply = ByteBuffer.allocate(100);
            int start = Frame.begin(reply);
            reply.putInt(Frame.PROTOCOL_VERSION);
            Frame.writeString(reply, "n");
            Frame.end(reply, start, Opcode.HELLO, ChunkStatus.OK, hello.request(), 0, 0);
            socket.getOutputStream().write(reply.array(), 0, reply.position());
            over.await();
            return null;
        }
    }

    private StorageConnection connect() throws IOException {
        return new StorageConnection(
                new HostPort("127.0.0.1", server.getLocalPort()), "c", "n", TIMEOUT_MS);
    }

    @Test
    void aNodeThatTakesNothingMoreKeepsNobodyForEver() throws IOException {
        byte[] chunk = new byte[Frame.MAX_PAYLOAD_BYTES];
        try (StorageConnection connection = connect()) {
            ChunkShape shape = new ChunkShape(chunk.length, 1, 1, 2, 1);
            assertThatThrownBy(() ->
                            connection.put(
                                    new ChunkKey(1, 2, 3), shape, "", chunk, 0, chunk.length))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("takes nothing");
        }
    }

    @Test
    void aNodeThatDoesNotAnswerKeepsNobodyForEver() throws IOException {
        try (StorageConnection connection = connect()) {
            assertThatThrownBy(connection::ping)
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("does not answer");
        }
    }

    @Test
    void aNodeThatHasClosedTheConnectionIsNoticedBeforeItIsAsked() throws Exception {
        try (StorageConnection connection = connect()) {
            assertThat(connection.isOpen()).isTrue();
            over.countDown();
            serving.get(30, TimeUnit.SECONDS);
            assertThat(connection.isOpen()).isFalse();
        }
    }
}
