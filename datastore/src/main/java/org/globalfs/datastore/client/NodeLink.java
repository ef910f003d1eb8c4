package org.globalfs.datastore.client;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Hello;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;

/**
 * A lane's connection to one storage node; never blocks. Requests are sent in order and answered in
 * order. HELLO goes out with the first request, without waiting for its answer.
 */
final class NodeLink {
    /**
     * The lane's other nodes wait meanwhile, at each attempt as long as it was never known what the
     * name stands for.
     */
    private static final long LOOKUP_MS = 500;

    private final String node;
    private final HostPort address;
    private final Deque<Exchange> finished;
    private final ByteBuffer transfer;
    private final SocketChannel channel;
    private final SelectionKey key;

    /** Sent or to be sent, not yet answered. */
    private final Deque<Exchange> unanswered = new ArrayDeque<>();

    /** Not wholly written yet; the last ones of `unanswered`. */
    private final Deque<Exchange> unwritten = new ArrayDeque<>();

    private final ByteBuffer head = ByteBuffer.allocate(Frame.HEADER_BYTES + Frame.MAX_META_BYTES);
    private Frame.@Nullable Header reply;
    private int payloadLeft;
    private boolean connected;
    private boolean open = true;
    private boolean used;

    /**
     * @param transfer a buffer of the lane's, free whenever no method of a link runs
     */
    NodeLink(
            String node,
            HostPort address,
            Hello greeting,
            Selector selector,
            ByteBuffer transfer,
            Deque<Exchange> finished)
            throws IOException {
        this.node = node;
        this.address = address;
        this.transfer = transfer;
        this.finished = finished;
        channel = SocketChannel.open();
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            connected = channel.connect(address.resolve(LOOKUP_MS));
            key =
                    channel.register(
                            selector,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            this);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        head.limit(Frame.HEADER_BYTES);
        Exchange hello =
                new Exchange(Opcode.HELLO, node, -1, 0, greeting::write, new byte[0], 0, 0);
        hello.sentNs = System.nanoTime(); // who never answers it is stuck
        unanswered.add(hello);
        unwritten.add(hello);
    }

    boolean isOpen() {
        return open;
    }

    /**
     * Before another request: finds out whether the node has closed it, as it does with those that
     * are not used for minutes.
     */
    void lookIfClosed() {
        Exchange last = unanswered.peekLast();
        if (open && connected && (last == null || last.abandoned())) {
            try {
                receive(true); // what nobody wants any more may lie before the end
            } catch (IOException e) {
                fail(e);
            }
        }
    }

    HostPort address() {
        return address;
    }

    /** The exchange that has waited longest, null when all are answered. */
    @Nullable Exchange oldest() {
        return unanswered.peekFirst();
    }

    void send(Exchange exchange) {
        exchange.sentNs = System.nanoTime();
        exchange.onReusedLink = used;
        unanswered.add(exchange);
        unwritten.add(exchange);
        if (connected) {
            flush();
        }
    }

    private void flush() {
        try {
            while (!unwritten.isEmpty()) {
                transfer.clear();
                for (Exchange exchange : unwritten) {
                    exchange.fill(transfer);
                    if (!transfer.hasRemaining()) {
                        break;
                    }
                }
                transfer.flip();
                int n = channel.write(transfer);
                boolean blocked = transfer.hasRemaining();
                while (n > 0 || !unwritten.isEmpty() && unwritten.getFirst().wholeWritten()) {
                    n = unwritten.getFirst().wrote(n);
                    if (unwritten.getFirst().wholeWritten()) {
                        unwritten.removeFirst();
                    }
                }
                if (blocked) {
                    key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                    return;
                }
            }
            key.interestOps(SelectionKey.OP_READ);
        } catch (IOException e) {
            fail(e);
        }
    }

    /** The selector says that the channel is ready. */
    void onReady() {
        try {
            if (!key.isValid()) {
                return;
            }
            if (key.isConnectable() && channel.finishConnect()) {
                connected = true;
                flush();
            }
            if (open && key.isValid() && key.isWritable()) {
                flush();
            }
            if (open && key.isValid() && key.isReadable()) {
                receive(false);
            }
        } catch (IOException e) {
            fail(e);
        }
    }

    /**
     * @param all until nothing is there; else a short read is taken for the last one
     */
    private void receive(boolean all) throws IOException {
        while (open) {
            transfer.clear();
            int n = channel.read(transfer);
            if (n < 0) {
                throw new EOFException("storage node " + node + " closed the connection");
            }
            transfer.flip();
            consume();
            if (n == 0 || !all && n < transfer.capacity()) {
                return;
            }
        }
    }

    private void consume() throws IOException {
        while (transfer.hasRemaining()) {
            Frame.Header header = reply;
            if (header == null) {
                int n = Math.min(head.remaining(), transfer.remaining());
                head.put(transfer.slice(transfer.position(), n));
                transfer.position(transfer.position() + n);
                if (head.hasRemaining() || !headComplete()) {
                    continue;
                }
                header = reply;
            }
            Exchange exchange = unanswered.getFirst();
            int n = Math.min(payloadLeft, transfer.remaining());
            if (n > 0 && !exchange.receive(transfer, n)) {
                throw new IOException("storage node " + node + " sends more than was asked");
            }
            payloadLeft -= n;
            if (payloadLeft == 0 && header != null) {
                answered(header);
            }
        }
    }

    /** Parses what of the head is there; false if its meta is still to come. */
    private boolean headComplete() throws IOException {
        Frame.Header header = Frame.header(head, 0);
        int bytes = Frame.HEADER_BYTES + header.metaBytes();
        if (head.position() < bytes) {
            head.limit(bytes);
            return false;
        }
        Frame.check(head, 0, header);
        reply = header;
        payloadLeft = header.payloadBytes();
        if (unanswered.isEmpty()) {
            throw new IOException("storage node " + node + " answers what was not asked");
        }
        return true;
    }

    private void answered(Frame.Header header) throws IOException {
        Exchange exchange = unanswered.removeFirst();
        if (header.metaBytes() > 0) {
            ByteBuffer meta = ByteBuffer.allocate(header.metaBytes());
            exchange.receiveMeta(meta.put(head.slice(Frame.HEADER_BYTES, meta.capacity())).flip());
        }
        reply = null;
        head.clear().limit(Frame.HEADER_BYTES);
        if (exchange.opcode == Opcode.HELLO) {
            if (header.chunkStatus() != ChunkStatus.OK) {
                throw new IOException(
                        "storage node "
                                + node
                                + " at "
                                + address
                                + " refuses: "
                                + header.chunkStatus());
            }
            return;
        }
        used = true;
        exchange.complete(header.chunkStatus(), header.payloadCrc());
        if (!exchange.abandoned()) {
            finished.add(exchange);
        }
    }

    /** Closes the link; what is unanswered fails. */
    void fail(IOException cause) {
        if (!open) {
            return;
        }
        open = false;
        key.cancel();
        try {
            channel.close();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        for (Exchange exchange : unanswered) {
            exchange.fail(cause);
            if (!exchange.abandoned() && exchange.opcode != Opcode.HELLO) {
                finished.add(exchange);
            }
        }
        unanswered.clear();
        unwritten.clear();
    }

    /**
     * The operation ends. Replies still to come are dropped when they come; a request that is only
     * half written cannot be taken back, so its link is closed.
     */
    void endOperation() {
        if (!unwritten.isEmpty()) {
            unanswered.forEach(Exchange::abandon);
            fail(new IOException("given up"));
            return;
        }
        unanswered.forEach(Exchange::abandon);
    }
}
