package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.globalfs.datastore.node.ConnectionWatch.Phase;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends the answers of one connection. */
public final class Replies {
    private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

    /** Room for an answer without its payload, and for some of nothing but a status. */
    private static final int BUFFER_BYTES = 4 << 10;

    /**
     * Written at once: whoever takes so much in time is not too slow. With less, one client gets
     * what a cache has a sixth more slowly.
     */
    private static final int STEP_BYTES = 2 << 20;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final ConnectionWatch watch;
    private final TransferBudget budget;
    private boolean background;
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);

    /** Writes the fields of an answer. */
    @FunctionalInterface
    public interface Fields {
        void write(ByteBuffer to);
    }

    /** Held by who makes an answer. */
    public interface Room extends AutoCloseable {
        @Override
        void close();
    }

    Replies(SocketChannel channel, ConnectionWatch watch, TransferBudget budget) {
        this.channel = channel;
        this.watch = watch;
        this.budget = budget;
    }

    /** Nobody waits for what the client asks for. */
    void inBackground() {
        background = true;
    }

    boolean isInBackground() {
        return background;
    }

    /** Waits until answers of so many bytes may be made; to be closed once they are sent. */
    public Room room(int bytes) throws IOException {
        return budget.take(bytes, background);
    }

    /** An answer of nothing but a status, which {@link #flush} sends. */
    void add(Opcode opcode, ChunkStatus status, long request) throws IOException {
        if (out.remaining() < Frame.HEADER_BYTES) {
            flush();
        }
        int start = Frame.begin(out);
        Frame.end(out, start, opcode, status, request, 0, 0);
    }

    /** Sends what was added. */
    void flush() throws IOException {
        watch.enter(Phase.MOVING);
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        out.clear();
        watch.enter(Phase.WORKING);
    }

    /** An answer of nothing but a status. */
    public void send(Opcode opcode, ChunkStatus status, long request) throws IOException {
        send(opcode, status, request, to -> {}, NOTHING);
    }

    /** An answer without payload. */
    public void send(Opcode opcode, ChunkStatus status, long request, Fields fields)
            throws IOException {
        send(opcode, status, request, fields, NOTHING);
    }

    /**
     * An answer of pages from the disk. Where that does not give them zeros follow, which their
     * checksums are not those of.
     */
    void send(Opcode opcode, long request, StoredPages pages) throws IOException {
        int start = Frame.begin(out);
        for (int checksum : pages.checksums()) {
            out.putInt(checksum);
        }
        Frame.end(out, start, opcode, ChunkStatus.OK, request, pages.bytes(), 0);
        flush();
        int sent = 0;
        long n = 1;
        while (n > 0 && sent < pages.bytes()) {
            watch.enter(Phase.MOVING);
            n = transfer(pages, sent);
            sent += (int) n;
        }
        ByteBuffer zeros = ByteBuffer.allocate(pages.bytes() - sent);
        while (zeros.hasRemaining()) {
            watch.enter(Phase.MOVING);
            channel.write(zeros);
        }
        watch.enter(Phase.WORKING);
    }

    private long transfer(StoredPages pages, int from) {
        try {
            return pages.transfer(from, STEP_BYTES, channel);
        } catch (IOException e) {
            // If it is the connection that has failed, so will what is written next.
            LOG.debug("pages of {} not sent: {}", pages.segment().path(), e.toString());
            return 0;
        }
    }

    /** An answer. */
    public void send(
            Opcode opcode, ChunkStatus status, long request, Fields fields, ByteBuffer payload)
            throws IOException {
        int start = Frame.begin(out);
        fields.write(out);
        Frame.end(
                out,
                start,
                opcode,
                status,
                request,
                payload.remaining(),
                payload.hasRemaining() ? Frame.crc(payload) : 0);
        if (!payload.hasRemaining()) {
            flush();
            return;
        }
        out.flip();
        int end = payload.limit();
        ByteBuffer[] both = {out, payload};
        while (payload.position() < end || out.hasRemaining()) {
            payload.limit(Math.min(end, payload.position() + STEP_BYTES));
            watch.enter(Phase.MOVING);
            channel.write(both);
        }
        out.clear();
        watch.enter(Phase.WORKING);
    }
}
