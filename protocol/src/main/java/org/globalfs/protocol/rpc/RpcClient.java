package org.globalfs.protocol.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializable;
import org.apache.thrift.protocol.TMessageType;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.rpc.RpcException.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls one server. Each call has a connection to itself while it runs; idle ones are reused, the
 * warmest first. After a failure every idle connection is dropped, so the next call reconnects.
 * Thread-safe.
 */
public final class RpcClient implements AutoCloseable {

    public static final int DEFAULT_CONNECT_TIMEOUT_MS = 500;

    private static final Logger LOG = LoggerFactory.getLogger(RpcClient.class);
    private static final int MAX_IDLE = 16;
    private static final long IDLE_LIMIT_NS = 60_000_000_000L;

    /** A connection without a call under way takes so much whatever its server does. */
    private static final int ALWAYS_TAKEN_BYTES = 8 << 10;

    /** Ends the sending of larger requests: a socket has no time-out of its own for that. */
    private static final ScheduledExecutorService DEADLINES = deadlines();

    private final String host;
    private final int port;
    private final int connectTimeoutMs;
    private final int maxFrameBytes;
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger sequences = new AtomicInteger();
    private volatile boolean closed;

    private static final class Connection {
        final Wire wire;
        volatile long usedNs;

        Connection(Wire wire) {
            this.wire = wire;
        }
    }

    private static ScheduledExecutorService deadlines() {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        1, Thread.ofPlatform().name("rpc-deadlines").daemon().factory());
        executor.setRemoveOnCancelPolicy(true);
        return executor;
    }

    public RpcClient(String host, int port) {
        this(host, port, DEFAULT_CONNECT_TIMEOUT_MS, RpcServer.DEFAULT_MAX_FRAME_BYTES);
    }

    public RpcClient(String host, int port, int connectTimeoutMs, int maxFrameBytes) {
        this.host = host;
        this.port = port;
        this.connectTimeoutMs = connectTimeoutMs;
        this.maxFrameBytes = maxFrameBytes;
    }

    public String address() {
        return new HostPort(host, port).toString();
    }

    /**
     * One call.
     *
     * @param timeoutMs bounds the whole call, connecting included
     */
    public <Q extends TSerializable, R extends TSerializable> R call(
            RpcMethod<Q, R> method, Q request, long timeoutMs) throws RpcException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000;
        Connection connection = take(deadlineNs);
        boolean healthy = false;
        try {
            int sequence = sequences.incrementAndGet();
            send(connection, method, sequence, request, deadlineNs);
            R reply = receive(connection, method, sequence, deadlineNs);
            healthy = true;
            return reply;
        } catch (RpcException e) {
            healthy = e.outcome() == Outcome.REFUSED;
            throw e;
        } finally {
            if (healthy) {
                giveBack(connection);
            } else {
                discard(connection);
                dropIdle();
            }
        }
    }

    private void send(
            Connection connection,
            RpcMethod<?, ?> method,
            int sequence,
            TSerializable request,
            long deadlineNs)
            throws RpcException {
        try {
            connection.wire.encodeCall(method.name(), sequence, request);
        } catch (TException e) {
            throw new RpcException(
                    Outcome.NOT_SENT,
                    method.name() + ": request cannot be encoded: " + e.getMessage(),
                    e);
        }
        Future<?> deadline = closingAt(deadlineNs, connection.wire);
        try {
            connection.wire.send();
        } catch (IOException e) {
            boolean late = System.nanoTime() - deadlineNs >= 0;
            // The server acts on whole frames only, and this one did not leave whole.
            throw new RpcException(
                    Outcome.NOT_SENT,
                    method.name()
                            + " to "
                            + address()
                            + ": "
                            + (late ? "not taken in time" : e.getMessage()),
                    e);
        } finally {
            deadline.cancel(false);
        }
    }

    private static Future<?> closingAt(long deadlineNs, Wire wire) {
        return wire.encodedBytes() <= ALWAYS_TAKEN_BYTES
                ? CompletableFuture.completedFuture(null)
                : DEADLINES.schedule(
                        () -> closeQuietly(wire),
                        deadlineNs - System.nanoTime(),
                        TimeUnit.NANOSECONDS);
    }

    private <R extends TSerializable> R receive(
            Connection connection, RpcMethod<?, R> method, int sequence, long deadlineNs)
            throws RpcException {
        try {
            Wire.Incoming incoming = connection.wire.receive(deadlineNs);
            if (incoming == null) {
                throw unknown(method, "the server closed the connection before it replied", null);
            }
            if (incoming.message().seqid != sequence) {
                throw unknown(method, "reply out of sequence", null);
            }
            if (incoming.message().type == TMessageType.EXCEPTION) {
                TApplicationException failure = TApplicationException.readFrom(incoming.body());
                throw new RpcException(
                        Outcome.REFUSED,
                        method.name() + " refused by " + address() + ": " + failure.getMessage(),
                        failure);
            }
            R reply = method.newReply().get();
            if (!Wire.readReply(incoming.body(), reply)) {
                throw unknown(method, "empty reply", null);
            }
            return reply;
        } catch (SocketTimeoutException e) {
            throw unknown(method, "no reply in time", e);
        } catch (IOException | TException e) {
            throw unknown(method, String.valueOf(e.getMessage()), e);
        }
    }

    private RpcException unknown(RpcMethod<?, ?> method, String why, @Nullable Exception cause) {
        String message = method.name() + " to " + address() + ": " + why;
        return cause == null
                ? new RpcException(Outcome.UNKNOWN, message)
                : new RpcException(Outcome.UNKNOWN, message, cause);
    }

    private Connection take(long deadlineNs) throws RpcException {
        Connection warm = idle.pollFirst();
        if (warm != null) {
            return warm;
        }
        if (closed) {
            throw new RpcException(Outcome.NOT_SENT, "client of " + address() + " is closed");
        }
        long leftMs = Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000);
        Socket socket = new Socket();
        try {
            InetSocketAddress address = new HostPort(host, port).resolve(leftMs);
            leftMs = Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000);
            socket.connect(address, (int) Math.min(leftMs, connectTimeoutMs));
            Connection connection =
                    new Connection(new Wire(socket, maxFrameBytes, Wire.ANY_ELEMENTS));
            open.add(connection);
            if (closed) {
                discard(connection);
                throw new RpcException(Outcome.NOT_SENT, "client of " + address() + " is closed");
            }
            return connection;
        } catch (IOException e) {
            closeQuietly(socket);
            throw new RpcException(
                    Outcome.NOT_SENT, "cannot connect to " + address() + ": " + e.getMessage(), e);
        }
    }

    private void giveBack(Connection connection) {
        connection.usedNs = System.nanoTime();
        idle.addFirst(connection);
        Connection coldest = idle.peekLast();
        if (coldest != null
                && (idle.size() > MAX_IDLE || connection.usedNs - coldest.usedNs > IDLE_LIMIT_NS)
                && idle.removeLastOccurrence(coldest)) {
            discard(coldest);
        }
        if (closed) {
            dropIdle();
        }
    }

    /** Connections in use are closed too: their calls end with {@link Outcome#UNKNOWN}. */
    @Override
    public void close() {
        closed = true;
        idle.clear();
        for (Connection connection : Set.copyOf(open)) {
            discard(connection);
        }
    }

    private void dropIdle() {
        for (Connection connection = idle.pollFirst();
                connection != null;
                connection = idle.pollFirst()) {
            discard(connection);
        }
    }

    private void discard(Connection connection) {
        open.remove(connection);
        closeQuietly(connection.wire);
    }

    /** A connection that is given up has nothing left to lose. */
    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            LOG.debug("closing a connection: {}", e.toString());
        }
    }
}
