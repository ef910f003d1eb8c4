package org.globalfs.datastore.wire;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Epoch;
import org.jspecify.annotations.Nullable;

/**
 * A plain blocking connection to a storage node, one request at a time: for repair, probes and
 * status. Not thread-safe.
 */
public final class StorageConnection implements Closeable {
    private final HostPort address;
    private final PatientChannel channel;
    private final ByteBuffer out = ByteBuffer.allocate(Frame.HEADER_BYTES + Frame.MAX_META_BYTES);
    private final String node;
    private long requests;

    /** An answer; `payload` is empty unless the request has one. */
    public record Reply(ChunkStatus status, ByteBuffer meta, byte[] payload) {}

    /** Writes a request's fields. */
    @FunctionalInterface
    public interface Fields {
        void write(ByteBuffer to);
    }

    /**
     * @param node the node expected there; empty: any
     * @param timeoutMs how long the node may take to accept or send something
     */
    public StorageConnection(HostPort address, String cluster, String node, int timeoutMs)
            throws IOException {
        this(address, new Hello(cluster, node, false), timeoutMs);
    }

    private StorageConnection(HostPort address, Hello greeting, int timeoutMs) throws IOException {
        this.address = address;
        channel = new PatientChannel(address.resolve(timeoutMs), timeoutMs);
        try {
            Reply hello = request(Opcode.HELLO, greeting::write, new byte[0], 0, 0);
            if (hello.status != ChunkStatus.OK) {
                throw new IOException("storage node at " + address + " refuses: " + hello.status);
            }
            hello.meta.getInt();
            this.node = Frame.readString(hello.meta);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** For work that nobody waits for: the node does it when others' does not wait for room. */
    public static StorageConnection inBackground(
            HostPort address, String cluster, String node, int timeoutMs) throws IOException {
        return new StorageConnection(address, new Hello(cluster, node, true), timeoutMs);
    }

    /** False: the node has closed it, as it does when nothing was asked for minutes. */
    public boolean isOpen() {
        return channel.isQuiet();
    }

    /** The id of the node that answered. */
    public String node() {
        return node;
    }

    public Reply request(Opcode opcode, Fields fields, byte[] payload, int at, int length)
            throws IOException {
        long request = ++requests;
        out.clear();
        int start = Frame.begin(out);
        fields.write(out);
        Frame.end(
                out,
                start,
                opcode,
                ChunkStatus.REQUEST,
                request,
                length,
                Frame.crc(payload, at, length));
        channel.write(out.array(), 0, out.position());
        channel.write(payload, at, length);
        byte[] head = new byte[Frame.HEADER_BYTES];
        channel.read(head, 0, head.length);
        Frame.Header header = Frame.header(ByteBuffer.wrap(head), 0);
        byte[] whole = new byte[Frame.HEADER_BYTES + header.metaBytes()];
        System.arraycopy(head, 0, whole, 0, head.length);
        channel.read(whole, head.length, header.metaBytes());
        Frame.check(ByteBuffer.wrap(whole), 0, header);
        byte[] body = new byte[header.payloadBytes()];
        channel.read(body, 0, body.length);
        if (header.request() != request || Frame.crc(body, 0, body.length) != header.payloadCrc()) {
            throw new IOException("storage node at " + address + ": damaged reply " + header);
        }
        return new Reply(
                header.chunkStatus(),
                ByteBuffer.wrap(whole, head.length, header.metaBytes()).slice(),
                body);
    }

    public void ping() throws IOException {
        request(Opcode.PING, to -> {}, new byte[0], 0, 0);
    }

    public NodeStatistics statistics() throws IOException {
        return NodeStatistics.read(stats().meta);
    }

    /** How the chunks are coded that the node holds; a node of an earlier version says nothing. */
    public List<HeldCode> codes() throws IOException {
        return HeldCode.read(ByteBuffer.wrap(stats().payload));
    }

    /** What a cache says of itself. */
    public CacheStatistics cacheStatistics() throws IOException {
        return CacheStatistics.read(stats().meta);
    }

    private Reply stats() throws IOException {
        Reply reply = request(Opcode.STATS, to -> {}, new byte[0], 0, 0);
        if (reply.status != ChunkStatus.OK) {
            throw new IOException(node + " gives no statistics: " + reply.status);
        }
        return reply;
    }

    /**
     * Has the node read all of its chunks and mend them, at once; a pass that runs is joined.
     *
     * @param bytesPerSecond reads at most; 0: what its configuration says
     */
    public ScrubProgress beginScrub(long bytesPerSecond) throws IOException {
        return scrub(Opcode.BEGIN, bytesPerSecond);
    }

    /** How far it is with that. */
    public ScrubProgress scrub() throws IOException {
        return scrub(Opcode.LOOK, 0);
    }

    private ScrubProgress scrub(byte wish, long bytesPerSecond) throws IOException {
        Reply reply =
                pass(Opcode.SCRUB, to -> to.put(wish).putLong(bytesPerSecond), "does not scrub");
        return ScrubProgress.read(reply.meta, ByteBuffer.wrap(reply.payload));
    }

    /**
     * Has the node's next repair pass begin at once. That is the one after the pass that the answer
     * is about, whether or not that one still runs.
     */
    public RepairProgress beginRepair() throws IOException {
        return repair(Opcode.BEGIN);
    }

    /** How far it is with the pass that runs, or how the last one ended. */
    public RepairProgress repair() throws IOException {
        return repair(Opcode.LOOK);
    }

    private RepairProgress repair(byte wish) throws IOException {
        Reply reply = pass(Opcode.REPAIR, to -> to.put(wish), "does not repair");
        return RepairProgress.read(reply.meta, ByteBuffer.wrap(reply.payload));
    }

    private Reply pass(Opcode opcode, Fields fields, String refusal) throws IOException {
        Reply reply = request(opcode, fields, new byte[0], 0, 0);
        if (reply.status == ChunkStatus.BAD_REQUEST) {
            throw new OlderNodeException(
                    "storage node " + node + " is of an older version: upgrade it");
        }
        if (reply.status != ChunkStatus.OK) {
            throw new IOException("storage node " + node + " " + refusal + ": " + reply.status);
        }
        return reply;
    }

    /** Writes a chunk and returns once it is on disk there. */
    public ChunkStatus put(
            ChunkKey key, ChunkShape shape, String home, byte[] data, int at, int length)
            throws IOException {
        return request(
                        Opcode.PUT,
                        to -> {
                            key.write(to);
                            shape.write(to);
                            Frame.writeString(to, home);
                        },
                        data,
                        at,
                        length)
                .status;
    }

    /** As {@link #has(List)}, of one. */
    public boolean has(ChunkKey key) throws IOException {
        return has(List.of(key))[0] == 1;
    }

    /**
     * Which of the chunks the node holds and keeps: a byte each, 1 for one that is on disk, not
     * known to be damaged and not about to go to another node.
     *
     * @throws IOException also when the node refuses
     */
    public byte[] has(List<ChunkKey> keys) throws IOException {
        ByteBuffer asked = ByteBuffer.allocate(keys.size() * ChunkKey.BYTES);
        keys.forEach(key -> key.write(asked));
        Reply reply =
                request(Opcode.HAS, to -> to.put((byte) 1), asked.array(), 0, asked.capacity());
        if (reply.status != ChunkStatus.OK || reply.payload.length != keys.size()) {
            throw new IOException(
                    "storage node " + node + " does not say what it holds: " + reply.status);
        }
        return reply.payload;
    }

    /**
     * A chunk that a node holds.
     *
     * @param home the node that it is kept for; empty: the node itself
     */
    public record Listed(ChunkKey key, ChunkShape shape, int bytes, String home) {}

    /**
     * The chunks that the node holds, in order.
     *
     * @param after null: from the first one
     * @param limit at most so many, and at most 10,000
     */
    public List<Listed> list(@Nullable ChunkKey after, int limit) throws IOException {
        Reply reply =
                request(
                        Opcode.LIST,
                        to -> {
                            to.put((byte) (after == null ? 0 : 1));
                            if (after != null) {
                                after.write(to);
                            }
                            to.putInt(limit);
                        },
                        new byte[0],
                        0,
                        0);
        if (reply.status != ChunkStatus.OK) {
            throw new IOException(
                    "storage node " + node + " does not list its chunks: " + reply.status);
        }
        ByteBuffer listing = ByteBuffer.wrap(reply.payload);
        List<Listed> chunks = new ArrayList<>();
        while (listing.hasRemaining()) {
            chunks.add(
                    new Listed(
                            ChunkKey.read(listing),
                            ChunkShape.read(listing),
                            listing.getInt(),
                            Frame.readString(listing)));
        }
        return chunks;
    }

    /**
     * The newest placement epoch that the node knows; null when that is not newer than this one, or
     * the node is of an earlier version.
     */
    public @Nullable Epoch epochAfter(int known) throws IOException {
        Reply reply = request(Opcode.EPOCH, to -> to.putInt(known), new byte[0], 0, 0);
        if (reply.status != ChunkStatus.OK || reply.payload.length == 0) {
            return null;
        }
        return Epoch.parse(reply.meta.getInt(), new String(reply.payload, StandardCharsets.UTF_8));
    }

    /** Reads a range of a chunk. */
    public Reply get(ChunkKey key, int offset, int length) throws IOException {
        return request(
                Opcode.GET,
                to -> {
                    key.write(to);
                    to.putInt(offset).putInt(length);
                },
                new byte[0],
                0,
                0);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
