package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.node.StorageServer;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Long ranges, which come as the node's disk has them. */
@Timeout(120)
class PagesTest {
    private static final int PAGE = 64 << 10;
    private static final int CHUNK = 5 * PAGE + 64;

    @TempDir private Path folder;
    private StorageCluster cluster;
    private DistributedBlockStore store;
    private byte[] content;
    private BlockRef ref;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        store = cluster.client();
        content = new byte[4 * CHUNK];
        new Random(3).nextBytes(content);
        ref = store.put(StorageCluster.REGION, ByteBuffer.wrap(content));
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    /** The answer of the home of chunk 1. */
    private Exchange ask(ChunkKey key, int from, byte[] into) throws IOException {
        StorageSite home = store.homes(ref).get(1);
        Lane lane = new Lane(StorageCluster.CLUSTER, false);
        try {
            Exchange exchange =
                    Exchange.get(home.id(), 0, 1, key, from, into.length, CHUNK, false, into, 0);
            lane.send(exchange, home.address());
            while (lane.poll() == null) {
                lane.await(System.nanoTime() + TimeUnit.MINUTES.toNanos(1));
            }
            return exchange;
        } finally {
            lane.close();
        }
    }

    private ChunkKey key(int chunk) {
        return new ChunkKey(ref.getIdHigh(), ref.getIdLow(), chunk);
    }

    private void assertPages(int from, int bytes) throws IOException {
        byte[] into = new byte[bytes];
        Exchange answer = ask(key(1), from, into);
        assertThat(answer.opcode).isEqualTo(Opcode.GET_PAGES);
        assertThat(answer.status()).isEqualTo(ChunkStatus.OK);
        assertThat(into).isEqualTo(Arrays.copyOfRange(content, CHUNK + from, CHUNK + from + bytes));
    }

    @Test
    void wholePagesComeAsTheyStandAndAllElseChecked() throws IOException {
        assertPages(0, CHUNK);
        assertPages(PAGE, 2 * PAGE);
        assertPages(3 * PAGE, CHUNK - 3 * PAGE);
        for (int[] range : new int[][] {{0, PAGE}, {64, 3 * PAGE}, {0, 3 * PAGE - 64}}) {
            byte[] into = new byte[range[1]];
            Exchange answer = ask(key(1), range[0], into);
            assertThat(answer.opcode).isEqualTo(Opcode.GET);
            int at = CHUNK + range[0];
            assertThat(into).isEqualTo(Arrays.copyOfRange(content, at, at + range[1]));
        }
        Exchange none = ask(key(2), 0, new byte[CHUNK]);
        assertThat(none.status()).isEqualTo(ChunkStatus.NOT_FOUND);
        assertThat(none.mustBeChecked()).isFalse();
    }

    private interface Harm {
        void to(FileChannel segment) throws IOException;
    }

    private void harm(String node, Harm harm) throws IOException {
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(cluster.folder(node), "segment-*")) {
            for (Path file : files) {
                try (FileChannel segment =
                        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    harm.to(segment);
                }
            }
        }
    }

    private void assertMended(String node) throws IOException {
        byte[] into = new byte[CHUNK];
        assertThat(ask(key(1), 0, into).mustBeChecked()).isTrue();
        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() ->
                        !ask(key(1), 0, into).mustBeChecked()
                                && cluster.node(node).statistics().corruptChunks() == 0);
        assertPages(0, CHUNK);
    }

    @Test
    void damageIsSeenByWhoReadsAndMended() throws IOException {
        String home = store.homes(ref).get(1).id();
        harm(
                home,
                segment -> {
                    ByteBuffer one = ByteBuffer.allocate(1);
                    segment.read(one, 3 * PAGE);
                    one.put(0, (byte) ~one.get(0));
                    segment.write(one.flip(), 3 * PAGE);
                });
        assertMended(home);
    }

    @Test
    void aFileThatEndsTooSoonIsDamage() throws IOException {
        String home = store.homes(ref).get(1).id();
        harm(home, segment -> segment.truncate(4 * PAGE));
        assertMended(home);
    }

    /** A node of an earlier version does not know the request. */
    @Test
    void whoDoesNotSendPagesIsAskedForTheRange() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        String home = store.homes(ref).get(1).id();
        HostPort address = cluster.address(home);
        cluster.stop(home);
        try (StorageServer server = new StorageServer(StorageCluster.CLUSTER, home, address)) {
            server.start(() ->
                    (header, opcode, meta, payload, replies) -> {
                        ChunkKey wanted = ChunkKey.read(meta);
                        if (opcode != Opcode.GET || wanted.index() != 1) {
                            replies.send(Opcode.PING, ChunkStatus.BAD_REQUEST, header.request());
                            return;
                        }
                        asked.incrementAndGet();
                        int from = meta.getInt();
                        replies.send(
                                opcode,
                                ChunkStatus.OK,
                                header.request(),
                                to -> {},
                                ByteBuffer.wrap(content, CHUNK + from, meta.getInt()).slice());
                    });
            await().atMost(60, TimeUnit.SECONDS).until(() -> !store.isSuspect(home));
            assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
            assertThat(asked).hasPositiveValue();
            assertThat(store.fetch(ref, 1 << 1).chunks().getFirst().bytes())
                    .isEqualTo(Arrays.copyOfRange(content, CHUNK, 2 * CHUNK));
        }
    }
}
