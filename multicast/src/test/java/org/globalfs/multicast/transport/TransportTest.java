package org.globalfs.multicast.transport;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.globalfs.multicast.core.Message;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.NoMoreFiles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Transports driven by this thread in turn, over real sockets. */
@Timeout(60)
class TransportTest {
    private static final int SMALL_QUEUE = 1 << 20;

    private final List<Transport> open = new ArrayList<>();

    /** Keeps what came. */
    private static final class Received implements MessageReceiver {
        final List<String> messages = new ArrayList<>();
        int connections;

        @Override
        public void onMessage(int from, int ring, Message message) {
            String text =
                    message instanceof Message.Forward f
                            ? "Forward of "
                                    + f.value().length
                                    + " ending in "
                                    + f.value()[f.value().length - 1]
                            : message.toString();
            messages.add(from + "/" + ring + " " + text);
        }

        @Override
        public void onConnected(int peer) {
            connections++;
        }
    }

    private final Received received1 = new Received();
    private final Received received2 = new Received();

    @AfterEach
    void close() throws IOException {
        for (Transport transport : open) {
            transport.close();
        }
    }

    private Transport transport(
            int self, int port, Map<Integer, InetSocketAddress> peers, Received received)
            throws IOException {
        Transport transport =
                new Transport(
                        new TransportOptions("test", self, local(port), peers, SMALL_QUEUE),
                        received);
        open.add(transport);
        return transport;
    }

    private static InetSocketAddress local(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private void turnUntil(BooleanSupplier done) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as("gave up waiting").isLessThan(end);
            for (Transport transport : open) {
                transport.time(System.nanoTime());
                transport.poll(1_000_000);
                transport.time(System.nanoTime());
                transport.upkeep();
                transport.flush();
            }
        }
    }

    private Transport[] pair() throws IOException {
        int port1 = FreePorts.one();
        int port2 = FreePorts.one();
        // One address is looked up by name, off the loop.
        Map<Integer, InetSocketAddress> peers =
                Map.of(1, local(port1), 2, InetSocketAddress.createUnresolved("localhost", port2));
        return new Transport[] {
            transport(1, port1, peers, received1), transport(2, port2, peers, received2)
        };
    }

    @Test
    void messagesArriveInOrderBothWays() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received1.connections == 1 && received2.connections == 1);
        for (int i = 0; i < 100; i++) {
            pair[0].send(2, 7, new Message.CatchUpRequest(i));
            pair[1].send(List.of(1), 8, new Message.CatchUpRequest(i));
        }
        turnUntil(() -> received1.messages.size() == 100 && received2.messages.size() == 100);
        assertThat(received2.messages.get(0)).isEqualTo("1/7 CatchUpRequest[from=0]");
        assertThat(received1.messages.get(99)).isEqualTo("2/8 CatchUpRequest[from=99]");
    }

    @Test
    void messageLargerThanEveryBufferArrives() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received1.connections == 1 && received2.connections == 1);
        byte[] value = new byte[SMALL_QUEUE - 1000];
        value[value.length - 1] = 42;
        pair[0].send(2, 1, new Message.Forward(value, new int[] {1}));
        pair[0].send(2, 1, new Message.CatchUpRequest(1));
        turnUntil(() -> received2.messages.size() == 2);
        assertThat(received2.messages.get(0))
                .isEqualTo("1/1 Forward of " + value.length + " ending in 42");
    }

    @Test
    void peerThatTakesTooLittleLosesItsConnection() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received1.connections == 1 && received2.connections == 1);
        byte[] value = new byte[100_000];
        for (int i = 0; i < 200 && pair[0].overflows() == 0; i++) {
            pair[0].send(2, 1, new Message.Forward(value, new int[0]));
            pair[0].flush();
        }
        assertThat(pair[0].overflows()).isEqualTo(1);
        assertThat(pair[0].connected()).isEmpty();
        turnUntil(() -> received1.connections == 2 && received2.connections == 2);
    }

    @Test
    void restartedPeerIsFoundAgain() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received1.connections == 1 && received2.connections == 1);
        int port = pair[1].address().getPort();
        pair[1].close();
        open.remove(pair[1]);
        turnUntil(() -> pair[0].connected().isEmpty());
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Transport.class);
        logger.setLevel(Level.INFO);
        logger.addAppender(told);
        transport(2, port, Map.of(1, pair[0].address()), received2);
        turnUntil(() -> received1.connections == 2 && received2.connections == 2);
        logger.detachAppender(told);
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("replica 1 is connected with replica 2 again");
    }

    /** As where a server's folder was copied and both are started. */
    @Test
    void twoProcessesOfOneIdTakeTheConnectionFromEachOtherLessAndLessOften() throws IOException {
        Transport second = transport(2, 0, Map.of(1, local(1)), received2);
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Transport.class);
        logger.addAppender(told);
        Map<Integer, InetSocketAddress> peers = Map.of(2, second.address());
        Transport one = transport(1, 0, peers, received1);
        Transport copy = transport(1, 0, peers, received1);
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
        turnUntil(() -> System.nanoTime() - endNs > 0);
        // Pauses of 20, 40, ... 2,560 ms make 8 each.
        assertThat(received2.connections).isBetween(2, 20);

        copy.close();
        open.remove(copy);
        turnUntil(() -> one.connected().contains(2));
        logger.detachAppender(told);
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("says that it is replica 1, too: end one"))
                .hasSize(2);
        assertThat(told.list).hasSizeLessThan(8);
    }

    @Test
    void whoCannotBeAcceptedForWantOfFilesIsTriedAgainAfterAPause() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received1.connections == 1 && received2.connections == 1);
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Transport.class);
        logger.addAppender(told);
        try (Socket socket = new Socket()) {
            socket.connect(pair[1].address());
            socket.getOutputStream().write(new byte[] {1, 0, 0, 0, 9, 9, 9, 9, 3});
            InputStream in = socket.getInputStream();
            socket.setSoTimeout(1);
            try (NoMoreFiles _ = new NoMoreFiles()) {
                for (int i = 0; i < 10; i++) {
                    pair[1].poll(0);
                }
            }
            for (int i = 0; i < 10; i++) {
                pair[1].poll(0);
            }
            assertThat(ended(in)).isFalse();
            turnUntil(() -> ended(in));
        } finally {
            logger.detachAppender(told);
        }
        assertThat(told.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("cannot accept"))
                .singleElement()
                .asString()
                .contains("replica 2", "Too many open files", "ulimit -n");
    }

    @Test
    void damagedAndForeignBytesCloseTheConnection() throws IOException {
        Transport[] pair = pair();
        turnUntil(() -> received2.connections == 1);
        for (byte[] bytes :
                List.of(
                        "GET / HTTP/1.1\r\n\r\n"
                                .getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                        new byte[] {1, 0, 0, 0, 9, 9, 9, 9, 3},
                        frame(out -> out.put(Frames.RING_MESSAGE).putShort((short) 1)),
                        frame(out -> out.put(Frames.REFUSED)),
                        frame(out -> new Hello(99, "test", 1, 2).encode(out)),
                        frame(out -> unreadable(new Hello(Hello.VERSION, "", 1, 2), out)),
                        frame(out -> new Hello(Hello.VERSION, "test", 5, 2).encode(out)))) {
            try (Socket socket = new Socket()) {
                socket.connect(pair[1].address());
                socket.getOutputStream().write(bytes);
                InputStream in = socket.getInputStream();
                socket.setSoTimeout(1);
                turnUntil(() -> ended(in));
            }
        }
        assertThat(pair[1].connected()).containsExactly(1);
        assertThat(received2.connections).isEqualTo(1);
    }

    /** Of two replicas that somebody says he is, the first would stay connected with nobody. */
    @Test
    void whoGreetsAsAnotherOnceMoreLosesTheConnection() throws IOException {
        InetSocketAddress nowhere = local(FreePorts.one());
        Transport transport = transport(1, 0, Map.of(2, nowhere, 3, nowhere), received1);
        try (Socket socket = new Socket()) {
            socket.connect(transport.address());
            for (int from : List.of(2, 3)) {
                Hello hello = new Hello(Hello.VERSION, "test", from, 1);
                socket.getOutputStream().write(frame(hello::encode));
            }
            turnUntil(() -> received1.connections > 0 && transport.connected().isEmpty());
        }
        assertThat(received1.connections).isEqualTo(1);
    }

    /**
     * As a scanner's that speaks TLS, whose first bytes read as 32 MiB: a few would be all memory.
     */
    @Test
    void whoIsNotGreetedIsGivenNoRoomForALargeFrame() throws IOException {
        Transport transport = transport(2, 0, Map.of(), received2);
        try (Socket socket = new Socket()) {
            socket.connect(transport.address());
            socket.getOutputStream().write(new byte[] {0x16, 3, 1, 2, 0, 1, 0, 1, 0});
            socket.setSoTimeout(1_000);
            transport.time(System.nanoTime());
            transport.poll(1_000_000_000);
            transport.poll(1_000_000_000);
            assertThat(ended(socket.getInputStream())).isTrue();
        }
    }

    @Test
    void whoComesAndDoesNotGreetMakesRoomForOthers() throws IOException {
        Transport transport = transport(2, 0, Map.of(), received2);
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i <= Transport.MOST_GREETING; i++) {
                Socket socket = new Socket();
                silent.add(socket);
                socket.setSoTimeout(1);
                socket.connect(transport.address());
                transport.time(System.nanoTime());
                transport.poll(1_000_000_000);
            }
            InputStream oldest = silent.getFirst().getInputStream();
            turnUntil(() -> ended(oldest));
            assertThat(ended(silent.get(1).getInputStream())).isFalse();
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void whoSendsAByteNowAndThenAndDoesNotGreetIsGivenUp() throws IOException {
        Transport transport = transport(2, 0, Map.of(), received2);
        try (Socket socket = new Socket()) {
            socket.connect(transport.address());
            socket.setSoTimeout(1);
            InputStream in = socket.getInputStream();
            transport.time(System.nanoTime());
            transport.poll(1_000_000_000);
            long acceptedNs = System.nanoTime();
            turnUntil(() -> System.nanoTime() - acceptedNs > 500_000_000);
            socket.getOutputStream().write(1);
            transport.poll(1_000_000_000);
            transport.time(acceptedNs + TimeUnit.SECONDS.toNanos(9));
            transport.upkeep();
            assertThat(ended(in)).isFalse();
            transport.time(acceptedNs + TimeUnit.MILLISECONDS.toNanos(10_250));
            transport.upkeep();
            assertThat(ended(in)).isTrue();
        }
    }

    private static boolean ended(InputStream in) {
        try {
            return in.read(new byte[20_000]) < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * With a cluster's name of bytes that are no text: told in an answer they are three times as
     * many.
     */
    private static void unreadable(Hello hello, ByteBuffer out) {
        hello.encode(out);
        byte[] name = new byte[65_000];
        Arrays.fill(name, (byte) 0xff);
        out.position(out.position() - 2).putShort((short) name.length).put(name);
    }

    private interface Body {
        void put(ByteBuffer out);
    }

    private static byte[] frame(Body body) {
        ByteBuffer out = ByteBuffer.allocate(80_000).order(ByteOrder.LITTLE_ENDIAN);
        int start = Frames.begin(out);
        body.put(out);
        new Frames().end(out, start);
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }
}
