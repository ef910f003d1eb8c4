package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.WriteOp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * However large a directory or a file is, an answer about it is not, and no more of them are asked
 * for than are being used: memory, of replicas and clients, does not grow with what is read.
 */
class BoundedAnswersTest {
    private static final int ENTRIES = 15_000;
    private static final int PAGE_ENTRIES = 500;
    private static final int PAGE_EXTENTS = 2048;

    /** What a page of a directory or of a content map holds, and one more record. */
    private static final int PAGE_BYTES = (1 << 20) + (64 << 10);

    private static final long TIB = 1L << 40;
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient client;
    private long home;
    private long sparse;

    /** Of the answers to reads since {@link #watch}. */
    private int answers;

    private int mostEntries;
    private int mostExtents;
    private int mostBytes;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        FakeBlockStore blocks = new FakeBlockStore();
        client = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        // By one that is granted nothing: nobody would take back what is planted over.
        try (TestClient maker = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH)) {
            home = maker.mkdir(FileSystem.ROOT, "home");
            Open made = maker.create(home, "sparse");
            sparse = made.ino();
            maker.close(made);
        }
        cluster.leaseMs = 60_000;
    }

    @AfterEach
    void end() {
        client.close();
        cluster.close();
    }

    private void watch() {
        answers = 0;
        mostEntries = 0;
        mostExtents = 0;
        mostBytes = 0;
        cluster.answered = this::answered;
    }

    private void answered(ReadReply reply) {
        answers++;
        mostEntries = Math.max(mostEntries, reply.getEntriesSize());
        mostExtents = Math.max(mostExtents, reply.getExtentsSize());
        mostBytes = Math.max(mostBytes, bytesOf(reply));
    }

    private static int bytesOf(ReadReply reply) {
        try {
            return new TSerializer(new TCompactProtocol.Factory()).serialize(reply).length;
        } catch (TException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aDirectoryIsListedInPagesAndNoneIsAskedForBeforeItsTurn() throws FsException {
        for (int i = 0; i < ENTRIES; ) {
            List<UpdateOp> ops = new ArrayList<>();
            for (int end = i + 5000; i < end; i++) {
                ops.add(
                        UpdateOp.create(
                                new CreateOp(
                                        home,
                                        ByteBuffer.wrap(bytes("entry-" + i)),
                                        Stat.REGULAR | 0644)));
            }
            cluster.plant(1, ops);
        }
        long handle = client.fs.openDirectory(client.caller(), home, 0).handle();
        watch();
        long cookie = 0;
        int told = 0;
        while (true) {
            ListedEntries listed = new ListedEntries(400);
            client.fs.readDirectory(client.caller(), home, handle, cookie, listed);
            if (listed.taken().isEmpty()) {
                break;
            }
            told += listed.taken().size();
            cookie = listed.next(cookie);
            assertThat(answers)
                    .as("pages for %s entries", told)
                    .isLessThan(told / PAGE_ENTRIES + 3);
        }
        assertThat(told).as("and the file").isEqualTo(ENTRIES + 1);
        assertThat(mostEntries).isEqualTo(PAGE_ENTRIES);
        assertThat(mostBytes).isLessThan(PAGE_BYTES);
        int before = answers;
        ListedEntries again = new ListedEntries(400);
        client.fs.readDirectory(client.caller(), home, handle, 0, again);
        assertThat(again.taken().get(1).name()).isEqualTo("entry-0");
        assertThat(answers).as("what was handed out is not kept").isEqualTo(before + 1);
        client.fs.releaseDirectory(home, handle);
    }

    /** Makes of the file one of a TiB with so many bytes in so many places, evenly apart. */
    private void plant(int extents, int length) {
        long apart = TIB / extents;
        for (int i = 0; i < extents; ) {
            List<Extent> written = new ArrayList<>();
            for (int end = Math.min(extents, i + 2000); i < end; i++) {
                written.add(new Extent(i * apart, length).setData(new byte[length]));
            }
            cluster.plant(1, List.of(UpdateOp.write(new WriteOp(sparse, written))));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 20_000})
    void aSparseFileIsReadSoughtAndCopiedInBoundedAnswers(int extents) throws FsException {
        plant(extents, 1);
        long ino = sparse;
        long apart = TIB / extents;
        watch();
        Open file = client.open(ino, OpenFlags.O_RDWR);
        assertThat(client.read(file, apart * (extents / 2), 1 << 20)).hasSize(1 << 20);
        assertThat(client.read(file, apart - 5, 10)).hasSize(10);
        assertThat(answers).isLessThanOrEqualTo(3);
        int before = answers;
        long at = 0;
        for (int i = 0; i < extents; i++) {
            at = seek(file, at, SEEK_DATA);
            assertThat(at).isEqualTo(i * apart);
            at = seek(file, at, SEEK_HOLE);
            assertThat(at).isEqualTo(i * apart + 1);
        }
        // Once a page, and not once a call.
        assertThat(answers - before).isLessThanOrEqualTo(extents / PAGE_EXTENTS + 2);
        assertThat(mostExtents).isLessThanOrEqualTo(PAGE_EXTENTS);
        assertThat(mostBytes).isLessThan(PAGE_BYTES);
        Open copy = client.create(home, "copy");
        int commands = cluster.executed.size();
        long size = client.stat(ino).size();
        long copied = 0;
        while (copied < size) {
            long now =
                    client.fs.copyRange(
                            client.caller(),
                            new FileSystem.Range(ino, file.handle(), copied),
                            new FileSystem.Range(copy.ino(), copy.handle(), copied),
                            size - copied,
                            0);
            assertThat(now).isPositive();
            copied += now;
        }
        assertThat(cluster.executed.size() - commands).isEqualTo(extents / 4096 + 1);
        assertThat(client.stat(copy.ino()).size()).isEqualTo(size);
        client.set(ino, SetAttributes.SIZE, 0, file.handle());
        assertThat(client.stat(ino).size()).isZero();
        assertThatThrownBy(() -> seek(file, 0, SEEK_DATA)).hasMessageContaining("ENXIO");
        assertThat(mostExtents).isLessThanOrEqualTo(PAGE_EXTENTS);
        assertThat(mostBytes).isLessThan(PAGE_BYTES);
    }

    /** Bytes, not only extents, bound what an answer holds of content that is kept with them. */
    @Test
    void contentInTheMetadataComesInBoundedAnswers() throws FsException {
        plant(1000, 4096);
        watch();
        Open file = client.open(sparse, OpenFlags.O_RDONLY);
        for (long at = 0; at < TIB; at += TIB / 16) {
            assertThat(client.read(file, at, 1)).hasSize(1);
        }
        long last = seek(file, TIB / 1000 * 999 - 1, SEEK_DATA);
        assertThat(client.read(file, last, 4096)).hasSize(4096);
        assertThat(mostBytes).isBetween(1 << 20, PAGE_BYTES);
        client.close(file);
    }

    private long seek(Open file, long offset, int whence) throws FsException {
        return client.fs.seek(client.caller(), file.ino(), file.handle(), offset, whence);
    }
}
