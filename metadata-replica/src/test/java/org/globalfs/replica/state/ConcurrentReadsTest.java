package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers beside the delivering thread see whole instances, in order. */
final class ConcurrentReadsTest {

    @TempDir Path folder;

    private Rings rings;

    @BeforeEach
    void open() {
        rings = new Rings(folder, 0);
    }

    @AfterEach
    void close() {
        rings.close();
    }

    private static ByteBuffer name(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private void run(UpdateOp op) {
        assertThat(rings.run(0, rings.command(3, 0, 0, op)).getErrno()).isZero();
    }

    private static ReadReply read(PartitionState state, ReadOp op) {
        return state.read(
                new ReadRequest(1, 0, new Credentials(0, 0), Consistency.CAUSAL, 0, 0, op));
    }

    @Test
    void aRenamedFileHasOneNameAtEveryMoment() throws Exception {
        run(UpdateOp.create(new CreateOp(1, name("a"), Mode.REGULAR | 0644)));
        PartitionState state = rings.state(0);
        AtomicBoolean stop = new AtomicBoolean();
        Callable<Long> lister =
                () -> {
                    long reads = 0;
                    long position = 0;
                    while (!stop.get()) {
                        ReadReply reply =
                                read(state, ReadOp.readDirectory(new ReadDirectoryOp(1, 0, 10)));
                        assertThat(reply.getEntriesSize()).isEqualTo(1);
                        String expected = reply.getPosition().getInstance() % 2 == 1 ? "a" : "b";
                        assertThat(new String(reply.getEntries().getFirst().getName(), UTF_8))
                                .isEqualTo(expected);
                        assertThat(reply.getPosition().getInstance())
                                .isGreaterThanOrEqualTo(position);
                        position = reply.getPosition().getInstance();
                        reads++;
                    }
                    return reads;
                };
        Callable<Long> seeker =
                () -> {
                    long reads = 0;
                    while (!stop.get()) {
                        ReadReply reply = read(state, ReadOp.lookup(new LookupOp(1, name("a"))));
                        boolean odd = reply.getPosition().getInstance() % 2 == 1;
                        assertThat(reply.getErrno() == 0).isEqualTo(odd);
                        reads++;
                    }
                    return reads;
                };
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            List<Future<Long>> readers = List.of(pool.submit(lister), pool.submit(seeker));
            for (int i = 0; i < 4000; i++) {
                boolean there = i % 2 == 0;
                run(
                        UpdateOp.rename(
                                new RenameOp(
                                        1,
                                        name(there ? "a" : "b"),
                                        1,
                                        name(there ? "b" : "a"),
                                        0)));
            }
            stop.set(true);
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).isPositive();
            }
        }
    }

    @Test
    void aListingInPagesSurvivesChanges() {
        for (int i = 0; i < 100; i++) {
            run(UpdateOp.create(new CreateOp(1, name("old" + i), Mode.REGULAR | 0644)));
        }
        List<String> listed = new ArrayList<>();
        long cookie = 0;
        for (int page = 0; ; page++) {
            ReadReply reply =
                    read(rings.state(0), ReadOp.readDirectory(new ReadDirectoryOp(1, cookie, 10)));
            for (DirectoryEntry entry : reply.getEntries()) {
                listed.add(new String(entry.getName(), UTF_8));
                cookie = entry.getCookie();
            }
            if (reply.isLast()) {
                break;
            }
            run(UpdateOp.unlink(new UnlinkOp(1, name("old" + page), false)));
            if (page < 5) {
                run(UpdateOp.create(new CreateOp(1, name("new" + page), Mode.REGULAR | 0644)));
            }
        }
        assertThat(listed).doesNotHaveDuplicates().hasSize(105);
    }

    @Test
    void aLongContentMapComesInPages() {
        run(UpdateOp.create(new CreateOp(1, name("f"), Mode.REGULAR | 0644)));
        long ino = Objects.requireNonNull(rings.state(0).child(1, "f".getBytes(UTF_8))).ino();
        int pieces = 5000;
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < pieces; i++) {
            extents.add(new Extent(i * 10L, 5).setData(new byte[5]));
        }
        run(UpdateOp.write(new WriteOp(ino, extents)));
        List<Long> offsets = new ArrayList<>();
        long at = 0;
        long size = pieces * 10L - 5;
        while (at < size) {
            ReadReply reply =
                    read(rings.state(0), ReadOp.content(new ContentOp(ino, at, Long.MAX_VALUE)));
            reply.getExtents().forEach(extent -> offsets.add(extent.getOffset()));
            assertThat(reply.getContentEnd()).isGreaterThan(at);
            at = reply.getContentEnd();
        }
        assertThat(offsets).hasSize(pieces).isSorted();
        assertThat(Partitions.ofBirth(ino)).isZero();
    }

    @Test
    void aCheckpointStandsAtItsInstanceAndContinues() {
        for (int i = 0; i < 50; i++) {
            run(UpdateOp.create(new CreateOp(1, name("f" + i), Mode.REGULAR | 0644)));
        }
        long at = rings.state(0).checkpoint(folder.resolve("copy"));
        run(UpdateOp.create(new CreateOp(1, name("later"), Mode.REGULAR | 0644)));
        try (PartitionState copy = PartitionState.open(folder.resolve("copy"), 0, Rings.SMALL)) {
            assertThat(copy.applied()).isEqualTo(at);
            Rings.Instance last = rings.log(0).getLast();
            copy.deliver(last.number(), last.entries(), null, (session, sequence, reply) -> {});
            assertThat(copy.hash().digest()).isEqualTo(rings.state(0).hash().digest());
        }
    }
}
