package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;

/** Sends the answers of one connection. */
public final class Replies {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);

    /** Writes the fields of an answer. */
    @FunctionalInterface
    public interface Fields {
        void write(ByteBuffer to);
    }

    Replies(SocketChannel channel) {
        this.channel = channel;
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
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        out.clear();
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
        ByteBuffer[] both = {out, payload};
        while (payload.hasRemaining() || out.hasRemaining()) {
            channel.write(both);
        }
        out.clear();
    }
}
