package org.globalfs.datastore.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.jspecify.annotations.Nullable;

/** One request on a link and, in time, its reply. */
final class Exchange {
    private static final byte[] NONE = new byte[0];

    /** What is shorter is sent sooner than its checksums are looked up. */
    private static final int LONG_BYTES = 128 << 10;

    final Opcode opcode;
    final String node;

    /** Which chunk the operation asked for, or whatever number it knows this exchange by. */
    final int tag;

    private final byte[] head;
    private final int headBytes;
    private byte[] payload = NONE;
    private int payloadAt;
    private int payloadBytes;
    private int written;

    private byte @Nullable [] into;
    private int intoAt;
    private int intoBytes;

    long sentNs;

    /** When its reply was there. */
    long answeredNs;

    boolean onReusedLink;
    private boolean abandoned;
    private boolean done;
    private @Nullable ChunkStatus status;
    private @Nullable IOException failure;
    private int replyBytes;
    private ByteBuffer replyMeta = ByteBuffer.allocate(0);

    interface Fields {
        void write(ByteBuffer to);
    }

    Exchange(
            Opcode opcode,
            String node,
            int tag,
            long request,
            Fields fields,
            byte[] payload,
            int payloadAt,
            int payloadBytes) {
        this.opcode = opcode;
        this.node = node;
        this.tag = tag;
        this.payload = payload;
        this.payloadAt = payloadAt;
        this.payloadBytes = payloadBytes;
        ByteBuffer buffer = ByteBuffer.allocate(Frame.HEADER_BYTES + 640);
        int start = Frame.begin(buffer);
        fields.write(buffer);
        int crc = payloadBytes == 0 ? 0 : Frame.crc(payload, payloadAt, payloadBytes);
        Frame.end(buffer, start, opcode, ChunkStatus.REQUEST, request, payloadBytes, crc);
        head = buffer.array();
        headBytes = buffer.position();
    }

    /**
     * For a range of a chunk, which it puts into an array. What is long comes as the node's disk
     * has it, and is checked here.
     *
     * @param chunkBytes of the whole chunk
     * @param checked the node is to look at it whatever its length
     */
    static Exchange get(
            String node,
            int tag,
            long request,
            ChunkKey key,
            int from,
            int bytes,
            int chunkBytes,
            boolean checked,
            byte[] target,
            int at) {
        boolean pages =
                !checked && bytes >= LONG_BYTES && ChunkPages.areWhole(from, bytes, chunkBytes);
        return new Exchange(
                        pages ? Opcode.GET_PAGES : Opcode.GET,
                        node,
                        tag,
                        request,
                        to -> {
                            key.write(to);
                            to.putInt(from).putInt(bytes);
                        },
                        NONE,
                        0,
                        0)
                .into(target, at, bytes);
    }

    /** Where the reply's payload goes; a longer one is a failure. */
    Exchange into(byte[] array, int at, int bytes) {
        into = array;
        intoAt = at;
        intoBytes = bytes;
        return this;
    }

    /** Copies what is not yet written to `to`, as far as it fits; nothing counts as written yet. */
    void fill(ByteBuffer to) {
        int from = written;
        if (from < headBytes) {
            int n = Math.min(headBytes - from, to.remaining());
            to.put(head, from, n);
            from += n;
        }
        int inPayload = from - headBytes;
        if (inPayload >= 0 && inPayload < payloadBytes) {
            to.put(
                    payload,
                    payloadAt + inPayload,
                    Math.min(payloadBytes - inPayload, to.remaining()));
        }
    }

    /** Notes that up to `bytes` more were written; returns how many of them were not this one's. */
    int wrote(int bytes) {
        int own = Math.min(bytes, headBytes + payloadBytes - written);
        written += own;
        return bytes - own;
    }

    boolean wholeWritten() {
        return written == headBytes + payloadBytes;
    }

    /** Takes `bytes` of the reply's payload; false if there are more than expected. */
    boolean receive(ByteBuffer from, int bytes) {
        byte[] target = into;
        if (abandoned || target == null) {
            from.position(from.position() + bytes);
        } else if (replyBytes + bytes > intoBytes) {
            return false;
        } else {
            from.get(target, intoAt + replyBytes, bytes);
        }
        replyBytes += bytes;
        return true;
    }

    /** Ends the exchange with the reply whose payload was received. */
    void complete(ChunkStatus replyStatus, int payloadCrc) {
        done = true;
        answeredNs = System.nanoTime();
        byte[] target = into;
        status = replyStatus;
        if (abandoned || target == null || replyBytes == 0) {
            return;
        }
        if (opcode == Opcode.GET_PAGES) {
            if (!ChunkPages.match(target, intoAt, replyBytes, replyMeta)) {
                status = ChunkStatus.BAD_REQUEST;
            }
        } else if (Frame.crc(target, intoAt, replyBytes) != payloadCrc) {
            status = null;
            failure = new IOException("reply of " + node + " arrived damaged");
        }
    }

    /** How much may come. */
    int mostBytes() {
        return intoBytes;
    }

    /** Whether all that was asked for came. */
    boolean brought(int bytes) {
        return status == ChunkStatus.OK && replyBytes == bytes;
    }

    /** The node is to look at what it has, and to be asked for that by GET. */
    boolean mustBeChecked() {
        return opcode == Opcode.GET_PAGES && status == ChunkStatus.BAD_REQUEST;
    }

    /** The fields of the reply. */
    ByteBuffer replyMeta() {
        return replyMeta;
    }

    void receiveMeta(ByteBuffer meta) {
        replyMeta = meta;
    }

    void fail(IOException cause) {
        done = true;
        failure = cause;
    }

    /** The operation has ended: what still arrives is thrown away. */
    void abandon() {
        abandoned = true;
        into = null;
    }

    boolean abandoned() {
        return abandoned;
    }

    boolean done() {
        return done;
    }

    /** Null when no reply came. */
    @Nullable ChunkStatus status() {
        return status;
    }

    @Nullable IOException failure() {
        return failure;
    }

    /**
     * Whether it failed on a connection kept from earlier, other than by silence: the node may have
     * restarted since, so a new connection is worth one more try.
     */
    boolean failedOnStaleLink() {
        return failure != null && onReusedLink && !(failure instanceof SocketTimeoutException);
    }

    int replyBytes() {
        return replyBytes;
    }
}
