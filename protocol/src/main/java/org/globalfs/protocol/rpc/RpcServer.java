package org.globalfs.protocol.rpc;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializable;
import org.globalfs.protocol.AcceptTrouble;
import org.globalfs.protocol.BindFailure;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves Thrift calls on one port: a platform thread a connection, requests of a connection
 * answered in order. Meant for tens to hundreds of connections that stay open; where there are too
 * many, the one that has been without a call longest makes room.
 */
public final class RpcServer implements AutoCloseable {

    public static final int DEFAULT_MAX_FRAME_BYTES = 16 * 1024 * 1024;
    public static final int DEFAULT_MAX_CONNECTIONS = 1024;

    private static final Logger LOG = LoggerFactory.getLogger(RpcServer.class);
    private static final int BACKLOG = 256;
    private static final long CLOSE_WAIT_MS = 5_000;
    private static final long ACCEPT_PAUSE_MS = 100;

    private final String name;
    private final ServerSocket listener;
    private final Map<String, Binding<?, ?>> methods;
    private final int maxFrameBytes;
    private final int maxConnections;
    private final Map<Connection, Thread> connections = new ConcurrentHashMap<>();
    private final ThreadFactory threads;
    private final Thread acceptor;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean closed;

    private record Binding<Q extends TSerializable, R extends TSerializable>(
            RpcMethod<Q, R> method, RpcHandler<Q, R> handler) {}

    private static final class Connection {
        final Wire wire;
        private volatile long sinceNs = System.nanoTime();
        private volatile boolean inCall;

        Connection(Wire wire) {
            this.wire = wire;
        }

        void enter(boolean call) {
            // First: who sees it without a call must not see the old time.
            sinceNs = System.nanoTime();
            inCall = call;
        }

        /** How long it has been without a call; -1: one is under way. */
        long idleNs(long nowNs) {
            return inCall ? -1 : Math.max(0, nowNs - sinceNs);
        }
    }

    /** What a server answers to; built before it starts. */
    public static final class Calls {
        private final Map<String, Binding<?, ?>> methods = new HashMap<>();

        public <Q extends TSerializable, R extends TSerializable> Calls on(
                RpcMethod<Q, R> method, RpcHandler<Q, R> handler) {
            methods.put(method.name(), new Binding<>(method, handler));
            return this;
        }
    }

    /**
     * Listens at once.
     *
     * @param name of the service, in errors and thread names
     * @param host to bind
     * @param port to bind; 0 picks a free one
     * @throws IOException names the address when it cannot be bound
     */
    public static RpcServer start(String name, String host, int port, Calls calls)
            throws IOException {
        return start(name, host, port, calls, DEFAULT_MAX_FRAME_BYTES, DEFAULT_MAX_CONNECTIONS);
    }

    public static RpcServer start(
            String name, String host, int port, Calls calls, int maxFrameBytes, int maxConnections)
            throws IOException {
        ThreadFactory threads = Thread.ofPlatform().name(name + "-", 1).daemon().factory();
        return start(name, host, port, calls, maxFrameBytes, maxConnections, threads);
    }

    static RpcServer start(
            String name,
            String host,
            int port,
            Calls calls,
            int maxFrameBytes,
            int maxConnections,
            ThreadFactory threads)
            throws IOException {
        ServerSocket listener = new ServerSocket();
        try {
            listener.setReuseAddress(true);
            listener.bind(new InetSocketAddress(InetAddress.getByName(host), port), BACKLOG);
        } catch (BindException e) {
            listener.close();
            throw new IOException(
                    name
                            + ": cannot listen on "
                            + new HostPort(host, port)
                            + " ("
                            + e.getMessage()
                            + "): "
                            + BindFailure.mend(e),
                    e);
        } catch (IOException e) {
            listener.close();
            throw new IOException(
                    name + ": cannot listen on " + new HostPort(host, port) + ": " + e, e);
        }
        RpcServer server =
                new RpcServer(
                        name,
                        listener,
                        Map.copyOf(calls.methods),
                        maxFrameBytes,
                        maxConnections,
                        threads);
        server.acceptor.start();
        return server;
    }

    private RpcServer(
            String name,
            ServerSocket listener,
            Map<String, Binding<?, ?>> methods,
            int maxFrameBytes,
            int maxConnections,
            ThreadFactory threads) {
        this.threads = threads;
        this.name = name;
        this.listener = listener;
        this.methods = methods;
        this.maxFrameBytes = maxFrameBytes;
        this.maxConnections = maxConnections;
        this.acceptor = Thread.ofPlatform().name(name + "-accept").daemon().unstarted(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        AcceptTrouble trouble = new AcceptTrouble(LOG, name);
        while (!closed) {
            try {
                admit(listener.accept(), trouble);
            } catch (IOException | OutOfMemoryError e) {
                if (!closed) {
                    // Out of descriptors, threads or memory: connections that end make room.
                    trouble.failed(e, System.nanoTime());
                    pauseAfterFailure();
                }
            }
        }
    }

    private void pauseAfterFailure() {
        try {
            stopped.await(ACCEPT_PAUSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void admit(Socket socket, AcceptTrouble trouble) throws IOException {
        if (connections.size() >= maxConnections && !closeIdle()) {
            trouble.refused(maxConnections, System.nanoTime());
            socket.close();
            return;
        }
        try {
            serve(socket);
        } catch (IOException e) {
            socket.close();
            LOG.debug("{}: connection lost while it was accepted: {}", name, e.toString());
        } catch (OutOfMemoryError e) {
            socket.close();
            throw e;
        }
    }

    /** Closes the connection that has been without a call longest; false: all are in one. */
    private boolean closeIdle() {
        long nowNs = System.nanoTime();
        Connection idlest = null;
        long longestNs = -1;
        for (Connection connection : connections.keySet()) {
            long forNs = connection.idleNs(nowNs);
            if (forNs > longestNs) {
                longestNs = forNs;
                idlest = connection;
            }
        }
        if (idlest == null) {
            return false;
        }
        connections.remove(idlest);
        close(idlest);
        return true;
    }

    private void serve(Socket socket) throws IOException {
        Wire wire = new Wire(socket, maxFrameBytes, Wire.MOST_REQUESTED_ELEMENTS);
        Connection connection = new Connection(wire);
        Thread thread = threads.newThread(() -> serve(connection));
        connections.put(connection, thread);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            connections.remove(connection);
            throw e;
        }
        if (closed) {
            close(connection);
        }
    }

    private void serve(Connection connection) {
        try (Wire wire = connection.wire) {
            for (Wire.Incoming call = wire.receive(0); call != null; call = wire.receive(0)) {
                connection.enter(true);
                answer(wire, call);
                connection.enter(false);
            }
        } catch (SocketException e) {
            LOG.debug("{}: connection ended: {}", name, e.toString());
        } catch (IOException | TException e) {
            if (!closed) {
                LOG.warn("{}: connection dropped: {}", name, e.toString());
            }
        } finally {
            connections.remove(connection);
        }
    }

    private void close(Connection connection) {
        try {
            connection.wire.close();
        } catch (IOException e) {
            LOG.debug("{}: closing a connection: {}", name, e.toString());
        }
    }

    private void answer(Wire wire, Wire.Incoming call) throws IOException, TException {
        String method = call.message().name;
        int sequence = call.message().seqid;
        Binding<?, ?> binding = methods.get(method);
        if (binding == null) {
            refuse(
                    wire,
                    call,
                    TApplicationException.UNKNOWN_METHOD,
                    "no call named " + method + " here");
            return;
        }
        TSerializable reply = invoke(binding, wire, call);
        if (reply == null) {
            return;
        }
        try {
            wire.encodeReply(method, sequence, reply);
        } catch (TException e) {
            LOG.error("{}: the reply of {} cannot be sent", name, method, e);
            refuse(
                    wire,
                    call,
                    TApplicationException.INTERNAL_ERROR,
                    "reply cannot be encoded: " + e.getMessage());
            return;
        }
        wire.send();
    }

    private <Q extends TSerializable, R extends TSerializable> @Nullable R invoke(
            Binding<Q, R> binding, Wire wire, Wire.Incoming call) throws IOException, TException {
        Q request = binding.method().newRequest().get();
        try {
            if (!Wire.readRequest(call.body(), request)) {
                refuse(wire, call, TApplicationException.PROTOCOL_ERROR, "the call has no request");
                return null;
            }
        } catch (TException e) {
            refuse(
                    wire,
                    call,
                    TApplicationException.PROTOCOL_ERROR,
                    "malformed request: " + e.getMessage());
            return null;
        }
        try {
            return binding.handler().handle(request);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(wire, call, TApplicationException.INTERNAL_ERROR, "the server is stopping");
            return null;
        } catch (Exception e) {
            LOG.error("{}: {} failed", name, binding.method().name(), e);
            refuse(wire, call, TApplicationException.INTERNAL_ERROR, e.toString());
            return null;
        }
    }

    private static void refuse(Wire wire, Wire.Incoming call, int type, String why)
            throws IOException, TException {
        wire.encodeFailure(
                call.message().name, call.message().seqid, new TApplicationException(type, why));
        wire.send();
    }

    /**
     * Stops listening, drops every connection and waits (bounded) until the calls in progress have
     * ended.
     */
    @Override
    public void close() {
        closed = true;
        stopped.countDown();
        try {
            listener.close();
        } catch (IOException e) {
            LOG.warn("{}: closing the port: {}", name, e.toString());
        }
        Map<Connection, Thread> open = Map.copyOf(connections);
        open.forEach((connection, thread) -> {
            close(connection);
            thread.interrupt();
        });
        long deadline = System.nanoTime() + CLOSE_WAIT_MS * 1_000_000;
        try {
            join(acceptor, deadline);
            for (Thread thread : open.values()) {
                join(thread, deadline);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void join(Thread thread, long deadlineNs) throws InterruptedException {
        if (thread.equals(Thread.currentThread())) {
            return;
        }
        long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
        if (leftMs <= 0 || !thread.join(Duration.ofMillis(leftMs))) {
            LOG.warn("{}: {} still runs", name, thread.getName());
        }
    }
}
