package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.CRC32C;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.wire.CachedRequest;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Hello;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whoever reaches a storage node or a cache may send it anything: no thread of it may end by that,
 * others are served meanwhile, what is stored stays, and nothing is taken in that a start, a scrub
 * or a repair pass cannot bear.
 */
@Timeout(120)
final class HostileRequestsTest {
    private static final int NEW_SEEDS = Integer.getInteger("globalfs.hostile.seeds", 1);

    /** A block that it made up, of chunks that do not fit, is looked for everywhere for seconds. */
    private static final Duration LONG = Duration.ofMinutes(1);

    private static final int CONNECTIONS = 150;
    private static final int BLOCK_BYTES = 200_000;
    private static final List<Opcode> OPCODES = List.copyOf(EnumSet.allOf(Opcode.class));
    private static final long[] NUMBERS = {
        0,
        1,
        -1,
        2,
        32,
        33,
        41,
        127,
        128,
        255,
        65_536,
        8 << 20,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    @TempDir Path folder;
    private final Queue<String> ended = new ConcurrentLinkedQueue<>();
    private final Thread.UncaughtExceptionHandler usual =
            Thread.getDefaultUncaughtExceptionHandler();
    private StorageCluster cluster;
    private DistributedBlockStore store;
    private CacheNode cache;

    /** One that has found something, and as many new ones as are asked for. */
    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>(List.of(1L));
        for (int i = 0; i < NEW_SEEDS; i++) {
            seeds.add(System.nanoTime() + i);
        }
        return seeds;
    }

    @BeforeEach
    void start() throws IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            StackTraceElement[] stack = e.getStackTrace();
            ended.add(thread.getName() + ": " + e + (stack.length > 0 ? " at " + stack[0] : ""));
        });
        cluster = new StorageCluster(folder, 0);
        cluster.repairs = new RepairOptions(3_600_000, 1L << 30, 0);
        cluster.stop("a1");
        cluster.start("a1");
        cluster.epochs.change(epoch -> epoch.coded(new BlockCode(2, 1), epoch.global()));
        store = cluster.client();
        cache =
                CacheNode.start(
                        new CacheOptions(
                                StorageCluster.CLUSTER,
                                "c1",
                                "west",
                                1,
                                "a",
                                new HostPort("127.0.0.1", 0),
                                "127.0.0.1",
                                folder.resolve("cache"),
                                32 << 20,
                                DiskReserve.exactly(0),
                                CachePolicyKind.LRU,
                                2,
                                100,
                                1L << 30),
                        cluster.discovery,
                        store);
    }

    @AfterEach
    void stop() throws IOException {
        cache.close();
        store.close();
        cluster.close();
        Thread.setDefaultUncaughtExceptionHandler(usual);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void noneHarmsANodeOrACacheOrWhatTheyHave(long seed) throws IOException {
        Random random = new Random(seed);
        byte[] content = new byte[BLOCK_BYTES];
        random.nextBytes(content);
        List<BlockRef> blocks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            blocks.add(store.put(StorageCluster.REGION, ByteBuffer.wrap(content)));
        }
        List<Socket> open = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            boolean toCache = random.nextInt(4) == 0;
            HostPort at = toCache ? cache.address() : cluster.address("a1");
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), at.port());
            open.add(socket);
            send(socket, stream(random, blocks.getFirst()), random.nextInt(8) > 0);
            if (open.size() == 8) {
                end(open);
                check(blocks, content);
            }
            assertThat(ended).as("seed %d, connection %d", seed, i).isEmpty();
        }
        end(open);
        checkUpkeep(seed);
        check(blocks, content);
        assertThat(ended).as("seed %d", seed).isEmpty();
    }

    private static void end(List<Socket> open) throws IOException {
        for (Socket socket : open) {
            socket.close();
        }
        open.clear();
    }

    private void check(List<BlockRef> blocks, byte[] content) throws IOException {
        for (BlockRef block : blocks) {
            byte[] read = new byte[BLOCK_BYTES];
            store.get(block, 0, read, 0, BLOCK_BYTES);
            assertThat(Arrays.equals(read, content)).isTrue();
        }
        try (StorageConnection connection =
                new StorageConnection(
                        cache.address(), StorageCluster.CLUSTER, "cache/c1", 10_000)) {
            assertThat(connection.cacheStatistics().damaged()).isZero();
        }
    }

    /** The node starts again, lists what it has, and looks after it. */
    private void checkUpkeep(long seed) throws IOException {
        cluster.stop("a1");
        cluster.start("a1");
        try (StorageConnection node =
                new StorageConnection(
                        cluster.address("a1"), StorageCluster.CLUSTER, "a1", 10_000)) {
            long listed = 0;
            List<StorageConnection.Listed> page = node.list(null, 100);
            while (!page.isEmpty()) {
                listed += page.size();
                page = node.list(page.getLast().key(), 100);
            }
            assertThat(listed).as("seed %d", seed).isEqualTo(node.statistics().chunks());
            var _ = node.beginScrub(1L << 40);
            await().atMost(LONG).until(() -> node.scrub().state() == PassState.ENDED);
            assertThat(node.statistics().corruptChunks()).as("seed %d", seed).isZero();
            await().atMost(LONG).until(() -> node.repair().state() == PassState.ENDED);
            RepairProgress pass = node.repair();
            assertThat(pass.problems())
                    .as("seed %d", seed)
                    .noneMatch(
                            why -> why.contains("is not looked at") || why.contains("Exception"));
            assertThat(pass.unclear()).as("seed %d: %s", seed, pass).isZero();
        }
    }

    /** Reads until the server has answered all that it will, and hangs up. */
    private static void send(Socket socket, byte[] bytes, boolean waits) throws IOException {
        socket.setSoTimeout(20_000);
        try {
            socket.getOutputStream().write(bytes);
            if (waits) {
                socket.shutdownOutput();
                InputStream in = socket.getInputStream();
                while (in.read(new byte[64 << 10]) >= 0) {
                    // until it closes
                }
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe|aborted).*");
        }
    }

    private byte[] stream(Random random, BlockRef block) {
        ByteBuffer to = ByteBuffer.allocate(2 << 20);
        if (random.nextInt(20) == 0) {
            noise(random, to);
        }
        if (random.nextInt(20) > 0) {
            boolean background = random.nextInt(4) == 0;
            byte[] hello =
                    fields(meta -> new Hello(StorageCluster.CLUSTER, "", background).write(meta));
            frame(random, to, Opcode.HELLO.code(), hello, new byte[0], 0);
        }
        int requests = random.nextInt(8);
        for (int i = 0; i < requests; i++) {
            request(random, to, block);
        }
        if (random.nextInt(8) == 0) {
            noise(random, to);
        }
        int end = random.nextInt(8) == 0 ? random.nextInt(to.position() + 1) : to.position();
        return Arrays.copyOf(to.array(), end);
    }

    private static void noise(Random random, ByteBuffer to) {
        byte[] noise = new byte[random.nextInt(300)];
        random.nextBytes(noise);
        to.put(noise);
    }

    private interface Fields {
        void write(ByteBuffer to);
    }

    private static byte[] fields(Fields fields) {
        ByteBuffer meta = ByteBuffer.allocate(Frame.MAX_META_BYTES);
        fields.write(meta);
        return Arrays.copyOf(meta.array(), meta.position());
    }

    /** A good one, most often with something wrong. */
    private static void request(Random random, ByteBuffer to, BlockRef block) {
        ChunkKey key = new ChunkKey(7, random.nextInt(20), random.nextInt(3));
        int k = 1 + random.nextInt(2);
        ChunkShape shape = new ChunkShape(k * 64 * (1 + random.nextInt(20)), 1, k, 2, 1);
        byte[] payload = new byte[0];
        byte[] meta = payload;
        Opcode opcode = OPCODES.get(random.nextInt(OPCODES.size()));
        switch (random.nextInt(3) == 0 ? Opcode.PUT : opcode) {
            case PUT -> {
                opcode = Opcode.PUT;
                payload = new byte[shape.blockBytes() / k];
                byte[] home = new byte[random.nextInt(4) == 0 ? random.nextInt(256) : 0];
                random.nextBytes(home);
                meta =
                        fields(all -> {
                            key.write(all);
                            shape.write(all);
                            all.put((byte) home.length).put(home);
                        });
            }
            case GET, GET_PAGES ->
                    meta =
                            fields(all -> {
                                key.write(all);
                                all.putInt(0).putInt(64);
                            });
            case DELETE -> payload = new byte[16 * random.nextInt(20)];
            case HAS -> {
                payload = new byte[ChunkKey.BYTES * random.nextInt(5_000)];
                meta = new byte[] {(byte) random.nextInt(2)};
                random.nextBytes(payload);
            }
            case LIST ->
                    meta =
                            fields(all -> {
                                all.put((byte) 1);
                                key.write(all);
                                all.putInt(100);
                            });
            case SCRUB -> meta = fields(all -> all.put((byte) random.nextInt(2)).putLong(1L << 30));
            case REPAIR -> meta = new byte[] {(byte) random.nextInt(2)};
            case CACHED ->
                    meta =
                            fields(all ->
                                    new CachedRequest(
                                                    block.getIdHigh(),
                                                    block.getIdLow(),
                                                    ChunkShape.of(block),
                                                    1,
                                                    0,
                                                    100)
                                            .write(all));
            default -> {}
        }
        int code = random.nextInt(20) == 0 ? random.nextInt(256) : opcode.code();
        frame(random, to, code, mutated(random, meta), payload, random.nextInt(12));
    }

    private static byte[] mutated(Random random, byte[] meta) {
        byte[] other = meta.clone();
        switch (random.nextInt(6)) {
            case 0 -> other = Arrays.copyOf(meta, random.nextInt(meta.length + 1));
            case 1 -> other = Arrays.copyOf(meta, meta.length + random.nextInt(50));
            case 2 -> {
                if (meta.length > 0) {
                    other[random.nextInt(meta.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
            case 3, 4 -> {
                int bytes = 1 << random.nextInt(4);
                if (meta.length >= bytes) {
                    byte[] number =
                            ByteBuffer.allocate(8)
                                    .putLong(NUMBERS[random.nextInt(NUMBERS.length)])
                                    .array();
                    int at = random.nextInt(meta.length - bytes + 1);
                    System.arraycopy(number, 8 - bytes, other, at, bytes);
                }
            }
            default -> {}
        }
        return other;
    }

    /**
     * @param wrong what is wrong with it, if it is one of a few numbers
     */
    private static void frame(
            Random random, ByteBuffer to, int opcode, byte[] meta, byte[] payload, int wrong) {
        int start = Frame.begin(to);
        to.put(meta);
        CRC32C crc = new CRC32C();
        crc.update(payload);
        Frame.end(
                to,
                start,
                Opcode.PING,
                ChunkStatus.REQUEST,
                random.nextLong(),
                payload.length,
                (int) crc.getValue());
        to.put(start + 4, (byte) opcode);
        switch (wrong) {
            case 1 -> to.put(start + 5, (byte) random.nextInt(256));
            case 2 -> to.putShort(start + 6, (short) NUMBERS[random.nextInt(NUMBERS.length)]);
            case 3 -> to.putInt(start + 8, (int) NUMBERS[random.nextInt(NUMBERS.length)]);
            case 4 -> to.putInt(start + 12, random.nextInt());
            default -> {}
        }
        crc.reset();
        crc.update(to.slice(start, 28));
        crc.update(meta);
        to.putInt(start + 28, wrong == 5 ? random.nextInt() : (int) crc.getValue());
        to.put(payload);
    }
}
