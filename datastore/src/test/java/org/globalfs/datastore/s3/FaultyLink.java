package org.globalfs.datastore.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What stands between a client and an S3 server, and does to requests what loaded services and bad
 * networks do. One request a connection.
 */
final class FaultyLink implements AutoCloseable {
    private static final int BUFFER = 1 << 16;

    /** What becomes of a request. */
    enum Fault {
        NONE,
        /** The service has no time for it. */
        BUSY("503 Slow Down", "SlowDown"),
        /** The service fails. */
        BROKEN("500 Internal Server Error", "InternalError"),
        /** The answer's content ends midway. */
        CUT_CONTENT,
        /** It is done, and the answer does not arrive. */
        NO_ANSWER;

        private final String status;
        private final String code;

        Fault() {
            this("", "");
        }

        Fault(String status, String code) {
            this.status = status;
            this.code = code;
        }
    }

    private final ServerSocket socket;
    private final URI server;
    private final AtomicInteger faults = new AtomicInteger();
    private final AtomicLong answered = new AtomicLong();
    private volatile Fault fault = Fault.NONE;
    private volatile Predicate<String> broken = head -> false;
    private volatile Consumer<String> delay = head -> {};
    private volatile Consumer<String> whenAnswered = head -> {};

    FaultyLink(String endpoint) throws IOException {
        server = URI.create(endpoint);
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    String endpoint() {
        return "http://127.0.0.1:" + socket.getLocalPort();
    }

    /** To as many requests from now on; to the rest none. */
    void inject(Fault kind, int requests) {
        fault = kind;
        faults.set(requests);
    }

    /** The service fails at requests with such a head from now on. */
    void breakWhere(Predicate<String> head) {
        broken = head;
    }

    /** Each request waits from now on until this returns, given its head. */
    void delay(Consumer<String> until) {
        delay = until;
    }

    /** Is told from now on of the head of each request that the server's answer was given to. */
    void whenAnswered(Consumer<String> then) {
        whenAnswered = then;
    }

    /** How many requests are still to be met by a fault. */
    int left() {
        return Math.max(0, faults.get());
    }

    /** Bytes of content in all answers so far. */
    long answeredBytes() {
        return answered.get();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            Message request = Message.read(client.getInputStream(), client.getOutputStream());
            if (request == null) {
                return;
            }
            delay.accept(request.head);
            Fault meets = faults.getAndUpdate(n -> Math.max(0, n - 1)) > 0 ? fault : Fault.NONE;
            if (broken.test(request.head)) {
                meets = Fault.BROKEN;
            }
            if (!meets.status.isEmpty()) {
                refuse(client.getOutputStream(), meets);
                return;
            }
            try (Socket to = new Socket(server.getHost(), server.getPort())) {
                request.write(to.getOutputStream(), request.content.length);
                Message answer = Message.read(to.getInputStream(), null);
                if (answer != null && meets != Fault.NO_ANSWER) {
                    int most = answer.content.length;
                    answered.addAndGet(most);
                    answer.write(
                            client.getOutputStream(), meets == Fault.CUT_CONTENT ? most / 2 : most);
                    whenAnswered.accept(request.head);
                }
            }
        } catch (IOException e) {
            // The client has given up, which closes its connection, or the server was killed.
            return;
        }
    }

    private static void refuse(OutputStream to, Fault fault) throws IOException {
        String content = "<Error><Code>" + fault.code + "</Code></Error>";
        to.write(
                ("HTTP/1.1 %s\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n"
                                + "Connection: close\r\n\r\n%s")
                        .formatted(fault.status, content.length(), content)
                        .getBytes(ISO_8859_1));
        to.flush();
    }

    /** A request or an answer, whose head tells how long its content is. */
    private record Message(String head, byte[] content) {

        /**
         * @param sender of a request, who may wait to be told to go on with the content
         */
        static @Nullable Message read(InputStream from, @Nullable OutputStream sender)
                throws IOException {
            StringBuilder head = new StringBuilder();
            int length = sender == null ? Integer.MAX_VALUE : 0; // unless it says so
            boolean waits = false;
            while (true) {
                String line = line(from);
                if (line == null) {
                    return null;
                }
                if (line.isEmpty()) {
                    break;
                }
                String lower = line.toLowerCase(Locale.ROOT);
                if (lower.startsWith("content-length:")) {
                    length = Integer.parseInt(line.substring(line.indexOf(':') + 1).strip());
                }
                if (lower.startsWith("transfer-encoding:")) {
                    length = Integer.MAX_VALUE;
                }
                waits |= lower.startsWith("expect:");
                if (!lower.startsWith("connection:") && !lower.startsWith("expect:")) {
                    head.append(line).append("\r\n");
                }
            }
            if (waits && sender != null) {
                sender.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
                sender.flush();
            }
            return new Message(head + "Connection: close\r\n\r\n", from.readNBytes(length));
        }

        private static @Nullable String line(InputStream from) throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream(200);
            for (int b = from.read(); b >= 0; b = from.read()) {
                if (b == '\n') {
                    return line.toString(ISO_8859_1).stripTrailing();
                }
                line.write(b);
            }
            return null;
        }

        void write(OutputStream to, int contentBytes) throws IOException {
            to.write(head.getBytes(ISO_8859_1));
            for (int at = 0; at < contentBytes; at += BUFFER) {
                to.write(content, at, Math.min(BUFFER, contentBytes - at));
            }
            to.flush();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
