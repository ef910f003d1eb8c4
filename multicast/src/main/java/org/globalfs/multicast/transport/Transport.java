package org.globalfs.multicast.transport;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.wire.MessageCodec;
import org.globalfs.multicast.wire.WireException;
import org.globalfs.protocol.AcceptTrouble;
import org.globalfs.protocol.BindFailure;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections to all peers, one each, shared by all rings. The process with the lower id dials, and
 * dials again, with growing pauses, whenever a connection ends. Messages to a peer without
 * connection are lost, which the rings allow for; a peer that takes too little loses its connection
 * rather than single messages unnoticed.
 *
 * <p>Used by the event loop's thread only, but for {@link #wakeup} and what says so.
 */
public final class Transport {
    private static final Logger log = LoggerFactory.getLogger(Transport.class);
    private static final long PING_AFTER_NS = 1_000_000_000L;
    private static final long DEAD_AFTER_NS = 10_000_000_000L;
    private static final long LOOKUP_MS = 10_000;
    private static final long UPKEEP_NS = 250_000_000L;

    /** Each has buffers of its own, and whoever is a peer greets at once. */
    static final int MOST_GREETING = 256;

    /** Whoever says other numbers than these is refused without a word in the log. */
    private static final int MOST_STRANGERS = 100;

    /** Up to this size a copy for each peer costs less than a piece of its own in each queue. */
    private static final int COPIED_BYTES = 8 << 10;

    /** Peers work on the first large frames while further ones are encoded. */
    private static final int FLUSHED_AT_BYTES = 256 << 10;

    private final TransportOptions options;
    private final MessageReceiver receiver;
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final SelectionKey listening;
    private final AcceptTrouble acceptTrouble;
    private final Frames frames = new Frames();
    private final Map<Integer, Peer> peers = new TreeMap<>();
    private final BufferPool pool = new BufferPool();
    private List<Connection> unflushed = new ArrayList<>();
    private List<Connection> flushed = new ArrayList<>();
    private final ConcurrentLinkedQueue<Runnable> resolved = new ConcurrentLinkedQueue<>();

    /** Unknown replicas that were refused: reported once each, they try again and again. */
    private final Set<Integer> strangers = new HashSet<>();

    private final List<Connection> greeting = new ArrayList<>();
    private final ByteBuffer scratch = BufferPool.direct(COPIED_BYTES);
    private long nextUpkeepNs;
    private long nowNs;
    private final AtomicLong overflows = new AtomicLong();
    private volatile Set<Integer> connected = Set.of();

    /** Listens at once; connects when the loop runs. */
    public Transport(TransportOptions options, MessageReceiver receiver) throws IOException {
        this.options = options;
        this.receiver = receiver;
        acceptTrouble = new AcceptTrouble(log, "replica " + options.self());
        options.peers()
                .forEach((id, address) -> {
                    if (id != options.self()) {
                        peers.put(id, new Peer(id, address));
                    }
                });
        selector = Selector.open();
        listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(options.bind(), 128);
            listener.configureBlocking(false);
            listening = listener.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException e) {
            listener.close();
            selector.close();
            throw new IOException(
                    "replica "
                            + options.self()
                            + " cannot listen on "
                            + new HostPort(options.bind().getHostString(), options.bind().getPort())
                            + " ("
                            + e.getMessage()
                            + ")"
                            + (e instanceof BindException bind
                                    ? ": " + BindFailure.mend(bind)
                                    : ""),
                    e);
        }
    }

    /** Where this process listens. Any thread. */
    public InetSocketAddress address() throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    /** Ends a {@link #poll} that waits. Any thread. */
    public void wakeup() {
        selector.wakeup();
    }

    /** Peers that can be reached now. Any thread. */
    public Set<Integer> connected() {
        return connected;
    }

    /** How often a connection was given up because its queue was full. Any thread. */
    public long overflows() {
        return overflows.get();
    }

    /**
     * Waits for up to this time for something to happen, then handles what did. 0: does not wait.
     */
    public void poll(long timeoutNs) throws IOException {
        long timeoutMs = Math.max(1, (timeoutNs + 999_999) / 1_000_000);
        if (timeoutNs <= 0) {
            selector.selectNow(this::ready);
        } else {
            selector.select(this::ready, timeoutMs);
        }
        for (Runnable task = resolved.poll(); task != null; task = resolved.poll()) {
            task.run();
        }
    }

    /** The time that following calls act at. */
    public void time(long now) {
        nowNs = now;
        if (nextUpkeepNs == 0) {
            nextUpkeepNs = now;
            peers.values().forEach(peer -> peer.nextDialNs = now);
        }
    }

    /** When {@link #upkeep} wants to be called next. */
    public long nextUpkeepNs() {
        long next = nextUpkeepNs;
        for (Peer peer : peers.values()) {
            if (dials(peer) && peer.nextDialNs - next < 0) {
                next = peer.nextDialNs;
            }
        }
        return next;
    }

    private boolean dials(Peer peer) {
        return options.self() < peer.id
                && peer.connection == null
                && peer.dialling == null
                && !peer.resolving;
    }

    /** Dials, pings, and gives up connections that went silent. */
    public void upkeep() {
        for (Peer peer : peers.values()) {
            if (dials(peer) && peer.nextDialNs - nowNs <= 0) {
                dial(peer);
            }
        }
        if (nextUpkeepNs - nowNs > 0) {
            return;
        }
        nextUpkeepNs = nowNs + UPKEEP_NS;
        listening.interestOps(SelectionKey.OP_ACCEPT);
        for (Peer peer : peers.values()) {
            Connection connection = peer.connection;
            if (connection != null && nowNs - connection.lastReceivedNs > DEAD_AFTER_NS) {
                drop(connection, "nothing heard for " + DEAD_AFTER_NS / 1_000_000_000 + " s");
            } else if (connection != null && nowNs - connection.lastSentNs > PING_AFTER_NS) {
                queueControl(connection, out -> out.put(Frames.PING));
            }
            if (peer.dialling != null && nowNs - peer.dialling.sinceNs > DEAD_AFTER_NS) {
                drop(peer.dialling, "no answer");
            }
        }
        for (Connection connection : List.copyOf(greeting)) {
            if (nowNs - connection.sinceNs > DEAD_AFTER_NS) {
                drop(connection, "no greeting");
            }
        }
        flush();
    }

    /** A process that the configuration does not know, or that has moved. */
    public void introduce(int id, InetSocketAddress address) {
        if (id == options.self()) {
            return;
        }
        Peer known = peers.get(id);
        if (known == null) {
            known = new Peer(id, address);
            known.nextDialNs = nowNs;
            peers.put(id, known);
        } else {
            known.address = address;
        }
    }

    /** Queues a message; {@link #flush} sends it. */
    public void send(int to, int ring, Message message) {
        send(List.of(to), ring, message);
    }

    /** Queues a message to several peers, encoding it once. */
    public void send(List<Integer> to, int ring, Message message) {
        int bound = Frames.HEADER_BYTES + 3 + MessageCodec.sizeBound(message);
        if (bound <= COPIED_BYTES) {
            encode(ring, message, scratch.clear());
            scratch.flip();
            for (int id : to) {
                Connection connection = connection(id);
                if (connection != null) {
                    queued(connection, connection.out.copy(scratch));
                }
            }
            return;
        }
        BufferPool.Lease frame = pool.take(bound);
        encode(ring, message, frame.buffer);
        for (int id : to) {
            Connection connection = connection(id);
            if (connection != null) {
                queued(connection, connection.out.share(frame));
                if (connection.out.bytes() >= FLUSHED_AT_BYTES) {
                    flush(connection);
                }
            }
        }
        frame.release();
    }

    private @Nullable Connection connection(int to) {
        Peer peer = peers.get(to);
        return peer == null ? null : peer.connection;
    }

    private void encode(int ring, Message message, ByteBuffer frame) {
        int start = Frames.begin(frame);
        frame.put(Frames.RING_MESSAGE).putShort((short) ring);
        MessageCodec.encode(message, frame);
        frames.end(frame, start);
    }

    private void queued(Connection connection, boolean taken) {
        if (taken) {
            if (!connection.unflushed) {
                connection.unflushed = true;
                unflushed.add(connection);
            }
        } else {
            overflows.incrementAndGet();
            drop(
                    connection,
                    "it takes too little: what waits for it takes more than "
                            + options.maxQueuedBytes()
                            + " bytes");
        }
    }

    private interface Content {
        void put(ByteBuffer out);
    }

    private void queueControl(Connection connection, Content content) {
        ByteBuffer frame =
                ByteBuffer.allocate(Frames.HEADER_BYTES + Frames.GREETING_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        int start = Frames.begin(frame);
        content.put(frame);
        frames.end(frame, start);
        queued(connection, connection.out.copy(frame.flip()));
    }

    /** Hands everything queued to the sockets. */
    public void flush() {
        List<Connection> all = unflushed;
        unflushed = flushed;
        flushed = all;
        for (Connection connection : all) {
            connection.unflushed = false;
            flush(connection);
        }
        all.clear();
    }

    private void flush(Connection connection) {
        if (!connection.channel.isOpen()) {
            return;
        }
        try {
            connection.flush(nowNs);
        } catch (IOException e) {
            drop(connection, e.toString());
        }
    }

    private void ready(SelectionKey key) {
        nowNs = System.nanoTime();
        if (!key.isValid()) {
            return;
        }
        if (key.isAcceptable()) {
            accept();
            return;
        }
        Connection connection = (Connection) key.attachment();
        try {
            if (key.isConnectable()) {
                connection.channel.finishConnect();
                connection.awaitFrames();
                greet(connection);
                return;
            }
            if (key.isReadable() && !connection.receive(this::frame, nowNs)) {
                drop(connection, "closed by the peer");
                return;
            }
            if (key.isValid() && key.isWritable()) {
                connection.flush(nowNs);
            }
        } catch (IOException e) {
            drop(connection, e.toString());
        } catch (WireException e) {
            log.warn(
                    "replica {} got {} from {}: connection closed",
                    options.self(),
                    e.getMessage(),
                    nameOf(connection));
            drop(connection, e.getMessage());
        }
    }

    private void accept() {
        try {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            Connection connection =
                    new Connection(channel, selector, frames, newQueue(), null, nowNs);
            if (greeting.size() == MOST_GREETING) {
                drop(greeting.getFirst(), "others came that are not greeted either");
            }
            greeting.add(connection);
            connection.awaitFrames();
        } catch (IOException e) {
            // Whoever waits keeps the listener ready: while, say, descriptors are short, no turn
            // would wait for anything.
            listening.interestOps(0);
            acceptTrouble.failed(e, nowNs);
        }
    }

    private SendQueue newQueue() {
        return new SendQueue(pool, options.maxQueuedBytes());
    }

    private void dial(Peer peer) {
        if (!peer.address.isUnresolved()) {
            connect(peer, peer.address);
            return;
        }
        peer.resolving = true;
        Thread.ofVirtual()
                .start(() -> {
                    Runnable next = resolved(peer);
                    resolved.add(() -> {
                        peer.resolving = false;
                        next.run();
                    });
                    selector.wakeup();
                });
    }

    /** What to do with what its name stands for; takes a while. */
    private Runnable resolved(Peer peer) {
        HostPort address = new HostPort(peer.address.getHostString(), peer.address.getPort());
        try {
            InetSocketAddress found = address.resolve(LOOKUP_MS);
            return () -> connect(peer, found);
        } catch (UnknownHostException e) {
            return () -> {
                complain(peer, "its host name cannot be resolved: " + e.getMessage());
                peer.dialFailed(nowNs);
            };
        }
    }

    private void connect(Peer peer, InetSocketAddress address) {
        SocketChannel channel = null;
        try {
            channel = SocketChannel.open();
            Connection connection =
                    new Connection(channel, selector, frames, newQueue(), peer, nowNs);
            peer.dialling = connection;
            connection.awaitConnect();
            if (channel.connect(address)) {
                connection.awaitFrames();
                greet(connection);
            }
        } catch (IOException e) {
            if (peer.dialling != null) {
                drop(peer.dialling, e.toString());
            } else {
                peer.dialFailed(nowNs);
                closeQuietly(channel);
            }
        }
    }

    private static void closeQuietly(@Nullable SocketChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                log.debug("closing a connection that never was: {}", e.toString());
            }
        }
    }

    private void greet(Connection connection) {
        int to = connection.dialled != null ? connection.dialled.id : peerOf(connection).id;
        queueControl(
                connection,
                out -> new Hello(Hello.VERSION, options.cluster(), options.self(), to).encode(out));
        flush(connection);
    }

    private static Peer peerOf(Connection connection) {
        Peer peer = connection.peer;
        if (peer == null) {
            throw new IllegalStateException("not greeted yet");
        }
        return peer;
    }

    private void frame(Connection connection, ByteBuffer body) throws WireException {
        byte kind = body.get();
        switch (kind) {
            case Frames.RING_MESSAGE -> {
                if (connection.peer == null || body.remaining() < 2) {
                    throw new WireException("a message before its greeting");
                }
                int ring = Short.toUnsignedInt(body.getShort());
                receiver.onMessage(connection.peer.id, ring, MessageCodec.decode(body));
            }
            case Frames.PING -> {}
            case Frames.HELLO -> hello(connection, Hello.decode(body));
            case Frames.REFUSED -> {
                Peer peer = connection.dialled;
                String reason = Hello.text(body);
                if (peer != null && connection.peer == peer) {
                    peer.contested = true;
                    complain(peer, "it gave up the connection: " + reason);
                } else if (peer != null) {
                    complain(peer, "it refused the connection: " + reason);
                }
                drop(connection, reason);
            }
            default -> throw new WireException("a frame of unknown kind " + kind);
        }
    }

    private void hello(Connection connection, Hello hello) throws WireException {
        if (connection.peer != null) {
            // Two peers would have this connection, and the first would keep it when it has ended.
            throw new WireException("a second greeting");
        }
        Peer peer = peers.get(hello.from());
        String refusal = hello.refusal(options.cluster(), options.self());
        if (refusal == null && peer == null) {
            refusal =
                    "replica "
                            + hello.from()
                            + " is not in this replica's topology, nor in its rings yet";
        }
        if (refusal == null && connection.dialled != null && connection.dialled != peer) {
            refusal =
                    "replica "
                            + hello.from()
                            + " answers where replica "
                            + connection.dialled.id
                            + " should be";
        }
        if (refusal != null || peer == null) {
            refuse(connection, hello, refusal == null ? "" : refusal);
            return;
        }
        greeting.remove(connection);
        peer.dialling = null;
        Connection before = peer.connection;
        connection.peer = peer;
        if (before != null && before != connection) {
            before.peer = null;
            giveUp(before, connection, peer);
        }
        peer.connection = connection;
        peer.greeted(nowNs);
        if (connection.dialled == null) {
            greet(connection);
        }
        if (peer.connection == connection) {
            publishConnected();
            if (peer.lost) {
                peer.lost = false;
                log.info("replica {} is connected with replica {} again", options.self(), peer.id);
            }
            receiver.onConnected(peer.id);
        }
    }

    /**
     * The peer that has dialled again hears nothing of this: its end is closed. Whoever does is
     * another process.
     */
    private void giveUp(Connection before, Connection by, Peer peer) {
        String reason =
                "another process, at "
                        + host(by)
                        + ", says that it is replica "
                        + peer.id
                        + ", too: end one of them; a server's folder may be copied, but be used by"
                        + " one server only";
        queueControl(before, out -> Hello.putText(out.put(Frames.REFUSED), reason));
        flush(before);
        drop(before, "replaced by a newer connection");
    }

    /** Without the port, which is another each time: the same complaint is told once. */
    private static String host(Connection connection) {
        try {
            return connection.channel.getRemoteAddress() instanceof InetSocketAddress remote
                    ? remote.getAddress().getHostAddress()
                    : "an unknown address";
        } catch (IOException e) {
            return "an unknown address";
        }
    }

    private void refuse(Connection connection, Hello hello, String reason) {
        Peer peer = connection.dialled != null ? connection.dialled : peers.get(hello.from());
        if (peer == null) {
            if (strangers.size() < MOST_STRANGERS && strangers.add(hello.from())) {
                log.warn("replica {} refuses {}: {}", options.self(), nameOf(connection), reason);
            }
        } else {
            complain(peer, "refused: " + reason);
        }
        queueControl(connection, out -> Hello.putText(out.put(Frames.REFUSED), reason));
        flush(connection);
        drop(connection, reason);
    }

    private void complain(Peer peer, String complaint) {
        if (!peer.complaint.equals(complaint)) {
            peer.complaint = complaint;
            log.error(
                    "replica {} cannot talk to replica {} ({}): {}",
                    options.self(),
                    peer.id,
                    peer.address,
                    complaint);
        }
    }

    private void drop(Connection connection, @Nullable String reason) {
        if (connection.channel.isOpen()) {
            log.debug(
                    "replica {} closes its connection with {}: {}",
                    options.self(),
                    nameOf(connection),
                    reason);
        }
        connection.close();
        greeting.remove(connection);
        Peer dialled = connection.dialled;
        if (dialled != null && dialled.connection == connection) {
            dialled.ended(nowNs);
        }
        if (dialled != null
                && (dialled.dialling == connection || dialled.connection == connection)) {
            dialled.dialling = null;
            dialled.dialFailed(nowNs);
        }
        Peer peer = connection.peer;
        if (peer != null && peer.connection == connection) {
            peer.connection = null;
            publishConnected();
            if (!peer.contested) {
                peer.lost = true;
                log.info(
                        "replica {} lost its connection with replica {}: {}",
                        options.self(),
                        peer.id,
                        reason);
            }
        }
    }

    private void publishConnected() {
        Set<Integer> now = new HashSet<>();
        peers.values().stream().filter(p -> p.connection != null).forEach(p -> now.add(p.id));
        connected = Set.copyOf(now);
    }

    private static String nameOf(Connection connection) {
        Peer peer = connection.peer != null ? connection.peer : connection.dialled;
        if (peer != null) {
            return "replica " + peer.id;
        }
        try {
            return String.valueOf(connection.channel.getRemoteAddress());
        } catch (IOException e) {
            return "an unknown peer";
        }
    }

    /** Closes every connection and the listener. */
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
