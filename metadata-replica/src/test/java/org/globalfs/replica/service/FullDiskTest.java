package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.globalfs.replica.service.TestSession.ROOT;
import static org.globalfs.replica.service.TestSession.bytes;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.protocol.wire.WriteOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What replicas refuse, and do not, while their disk has less free than the reserve. */
class FullDiskTest {

    private static final int ENOSPC = Errno.ENOSPC.number();
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int FILE = 0100644;

    /** No disk has so much free. */
    private static final DiskReserve EVERYTHING = DiskReserve.exactly(Long.MAX_VALUE);

    @TempDir Path folder;

    @Test
    void everyUpdateIsEitherRefusedOrFreesRoom() {
        Map<UpdateOp._Fields, Boolean> refused = new EnumMap<>(UpdateOp._Fields.class);
        for (UpdateOp._Fields kind : UpdateOp._Fields.values()) {
            if (kind != UpdateOp._Fields.ALLOCATE) {
                UpdateOp op =
                        new UpdateOp() {
                            @Override
                            public _Fields getSetField() {
                                return kind;
                            }
                        };
                refused.put(kind, DiskRoom.needsRoom(op));
            }
        }
        assertThat(refused.entrySet())
                .filteredOn(Map.Entry::getValue)
                .extracting(Map.Entry::getKey)
                .containsExactlyInAnyOrder(
                        UpdateOp._Fields.CREATE,
                        UpdateOp._Fields.LINK,
                        UpdateOp._Fields.WRITE,
                        UpdateOp._Fields.COPY_RANGE,
                        UpdateOp._Fields.COMPACT,
                        UpdateOp._Fields.MOVE,
                        UpdateOp._Fields.SET_XATTR);
        assertThat(DiskRoom.needsRoom(allocate(0))).isTrue();
        assertThat(DiskRoom.needsRoom(allocate(KEEP_SIZE))).isTrue();
        assertThat(DiskRoom.needsRoom(allocate(KEEP_SIZE | PUNCH_HOLE))).isFalse();
    }

    private static UpdateOp allocate(int flags) {
        return UpdateOp.allocate(new AllocateOp(5, 0, 1, flags));
    }

    @Test
    void aSmallReserveMakesTheLogsPiecesSmall() {
        ReplicaOptions usual = ReplicaOptions.defaults();
        assertThat(usual.within(1L << 30)).isEqualTo(usual);
        ReplicaOptions small = usual.within(128L << 20);
        assertThat(small.logSegmentBytes()).isEqualTo(2 << 20);
        assertThat(small.logRetainedBytes()).isEqualTo(8 << 20);
        assertThat(small.flushBytes()).isEqualTo(2 << 20);
        assertThat(usual.within(0).logSegmentBytes()).isEqualTo(1 << 20);
    }

    @Test
    void aFullReplicaRefusesWhatNeedsRoomAndNothingElse() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            long file = session.create(home, "file").getAttributes().getIno();
            assertThat(session.update(1, write(file, 10)).getErrno()).isZero();
            Command known = session.command(create(home, "known"));
            assertThat(session.send(1, known, 10_000_000_000L).getErrno()).isZero();
            awaitFull(cluster, false);
            restart(cluster, EVERYTHING);

            awaitFull(cluster, true);
            assertThat(session.create(home, "new").getErrno()).isEqualTo(ENOSPC);
            assertThat(session.mkdir(ROOT, "new").getErrno()).isEqualTo(ENOSPC);
            assertThat(session.update(1, write(file, 10)).getErrno()).isEqualTo(ENOSPC);
            UpdateReply again = again(cluster, known);
            assertThat(again.getErrno()).as("its reply of before").isZero();
            assertThat(again.getAttributes().getNlink()).isEqualTo(1);

            SetAttributesOp cut = new SetAttributesOp(file).setSize(3);
            assertThat(session.update(1, UpdateOp.setAttributes(cut)).getErrno()).isZero();
            assertThat(session.rename(home, "file", home, "other").getErrno()).isZero();
            assertThat(session.unlink(home, "known").getErrno()).isZero();
            assertThat(session.list(home)).containsExactly("other");
            assertThat(session.lookup(home, "other").getAttributes().getSize()).isEqualTo(3);

            restart(cluster, DiskReserve.exactly(0));
            assertThat(session.create(home, "new").getErrno()).isZero();
            cluster.awaitEqualHashes();
        }
    }

    @Test
    void aMajorityOfFullReplicasIsSparedByItsCoordinator() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            int coordinator = cluster.coordinator(1);
            List<Integer> others =
                    cluster.running.keySet().stream().filter(id -> id != coordinator).toList();
            cluster.reserve = EVERYTHING;
            cluster.stop(others.get(0));
            cluster.start(others.get(0));
            assertThat(cluster.coordinator(1)).isEqualTo(coordinator);
            assertThat(session.create(home, "one-is-full").getErrno()).isZero();

            cluster.stop(others.get(1));
            AtomicInteger made = new AtomicInteger();
            await().atMost(ReplicaCluster.LONG)
                    .until(() ->
                            session.create(home, "f" + made.incrementAndGet()).getErrno()
                                    == ENOSPC);
            assertThat(session.unlink(home, "one-is-full").getErrno()).isZero();
            cluster.reserve = DiskReserve.exactly(0);
            cluster.start(others.get(1));
            await().atMost(ReplicaCluster.LONG)
                    .until(() -> session.create(home, "later").getErrno() == 0);
            assertThat(cluster.coordinator(1)).isEqualTo(coordinator);
        }
    }

    private static UpdateOp create(long parent, String name) {
        return UpdateOp.create(new CreateOp(parent, bytes(name), FILE));
    }

    private static UpdateOp write(long file, int length) {
        Extent extent = new Extent(0, length).setData(new byte[length]);
        return UpdateOp.write(new WriteOp(file, List.of(extent)));
    }

    private static void restart(ReplicaCluster cluster, DiskReserve reserve) throws Exception {
        for (int id : List.copyOf(cluster.running.keySet())) {
            cluster.stop(id);
        }
        cluster.reserve = reserve;
        cluster.startAll();
    }

    /** Connections of before the restart fail once. */
    private static void awaitFull(ReplicaCluster cluster, boolean full) {
        for (int id : cluster.running.keySet()) {
            await().atMost(ReplicaCluster.LONG)
                    .ignoreExceptions()
                    .until(
                            () ->
                                    cluster.client(id)
                                            .call(MetadataCalls.STATUS, new StatusRequest(), 5_000),
                            status -> status.isFull() == full);
        }
    }

    private static UpdateReply again(ReplicaCluster cluster, Command command) {
        UpdateRequest request = new UpdateRequest(1, command).setWaitMs(5_000).setAgain(true);
        return await().atMost(ReplicaCluster.LONG)
                .ignoreExceptions()
                .until(
                        () ->
                                cluster.client(cluster.coordinator(1))
                                        .call(MetadataCalls.UPDATE, request, 10_000),
                        reply -> reply.getStatus() == Status.DONE);
    }
}
