package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.globalfs.replica.service.TestSession.ROOT;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class GrantsTest {

    private static final long PATIENCE_NS = 20_000_000_000L;

    @TempDir Path folder;
    private ReplicaCluster cluster;
    private TestSession holder;
    private TestSession writer;
    private long home;
    private long file;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void start() throws Exception {
        cluster = new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll();
        holder = new TestSession(cluster, 1);
        writer = new TestSession(cluster, 1);
        home = writer.mkdir(ROOT, "home").getAttributes().getIno();
        file = writer.create(home, "file").getAttributes().getIno();
        // A live session: it polls.
        recalls(writer, 0);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
        cluster.close();
    }

    private RecallReply recalls(TestSession session, long acknowledged) throws RpcException {
        RecallRequest request = new RecallRequest(session.id, 1, acknowledged);
        return cluster.client(cluster.coordinator(1)).call(MetadataCalls.RECALLS, request, 10_000);
    }

    /**
     * The writer's own grants from the set-up are not in the holder's way once it keeps polling;
     * here they run out.
     */
    private ReadReply granted(TestSession session, ReadOp op) {
        ReadReply[] reply = new ReadReply[1];
        await().atMost(Duration.ofSeconds(20))
                .until(() -> {
                    reply[0] = session.read(1, op);
                    return reply[0].getLeaseMs() > 0;
                });
        return reply[0];
    }

    private UpdateReply chmod(TestSession session, int mode) throws InterruptedException {
        return session.update(1, UpdateOp.setAttributes(new SetAttributesOp(file).setMode(mode)));
    }

    @Test
    void updateIsAcknowledgedOnlyAfterTheHolderGaveItsGrantBack() throws Exception {
        ReadReply seen = granted(holder, ReadOp.getAttributes(new GetAttributesOp(file)));
        assertThat(seen.getLeaseMs()).isBetween(1, 1_000);
        Future<RecallReply> poll =
                threads.submit(() -> {
                    RecallReply reply = recalls(holder, 0);
                    while (!reply.isSetNumber()) {
                        reply = recalls(holder, 0);
                    }
                    return reply;
                });
        Future<UpdateReply> update = threads.submit(() -> chmod(writer, 0100600));
        RecallReply recall = poll.get(20, TimeUnit.SECONDS);
        assertThat(recall.getInodes()).containsExactly(file);
        boolean early = true;
        try {
            update.get(50, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            early = false;
        }
        assertThat(early).as("acknowledged before the recall was").isFalse();
        RecallReply next = recalls(holder, recall.getNumber());
        assertThat(next.getStatus()).isEqualTo(Status.DONE);
        assertThat(update.get(20, TimeUnit.SECONDS).getErrno()).isZero();
        assertThat(
                        holder.read(1, ReadOp.getAttributes(new GetAttributesOp(file)))
                                .getAttributes()
                                .getMode())
                .isEqualTo(0100600);
    }

    @Test
    void aNameComesFromAnotherPartitionOnlyOnceItsAbsenceWasGivenBack() throws Exception {
        assertThat(writer.create(ROOT, "top").getErrno()).isZero();
        byte[] name = "moved".getBytes(StandardCharsets.UTF_8);
        ReadOp lookup = ReadOp.lookup(new LookupOp(home, ByteBuffer.wrap(name)));
        assertThat(granted(holder, lookup).getErrno()).isEqualTo(Errno.ENOENT.number());
        Future<UpdateReply> rename =
                threads.submit(() -> writer.rename(ROOT, "top", home, "moved"));
        RecallReply recall = recalls(holder, 0);
        while (!recall.isSetNumber()) {
            recall = recalls(holder, 0);
        }
        assertThat(recall.getInodes()).containsExactly(home);
        Future<ReadReply> read = threads.submit(() -> holder.read(1, lookup));
        long untilNs = System.nanoTime() + 150_000_000L;
        while (System.nanoTime() - untilNs < 0) {
            recalls(holder, 0);
            assertThat(rename.isDone()).as("done before the recall was").isFalse();
            assertThat(read.isDone()).as("answered before the decision").isFalse();
        }
        recalls(holder, recall.getNumber());
        assertThat(rename.get(20, TimeUnit.SECONDS).getErrno()).isZero();
        assertThat(read.get(20, TimeUnit.SECONDS).getErrno()).isZero();
        assertThat(granted(holder, lookup).getErrno()).isZero();
    }

    @Test
    void deadHolderDelaysOneUpdateByItsLeaseAtMost() throws Exception {
        int leaseMs = granted(holder, ReadOp.getAttributes(new GetAttributesOp(file))).getLeaseMs();
        long startNs = System.nanoTime();
        chmod(writer, 0100600);
        long firstMs = (System.nanoTime() - startNs) / 1_000_000;
        assertThat(firstMs).isLessThan(leaseMs + 2_000);
        // The dead session would take no part any more, whatever it reads.
        for (int i = 0; i < 20; i++) {
            assertThat(holder.read(1, ReadOp.getAttributes(new GetAttributesOp(file))).getLeaseMs())
                    .isZero();
            chmod(writer, 0100600 + i);
        }
    }

    @Test
    void sessionsThatWorkAloneKeepTheirGrants() throws Exception {
        List<String> names = List.of("a", "b", "c");
        for (String name : names) {
            UpdateReply reply = writer.create(home, name);
            assertThat(reply.getLeaseMs()).as(name).isPositive();
            assertThat(reply.getParent().getIno()).isEqualTo(home);
        }
        RecallReply poll = recalls(writer, 0);
        assertThat(poll.isSetNumber()).isFalse();
        assertThat(poll.getLeaseMs()).isPositive();
    }

    /**
     * Whoever reads through the holder still sees the old mode, until the answer to the change has
     * reached it.
     */
    @Test
    void aChangeIsShownToOthersOnlyOnceItsOwnSessionBelievesNothingOlder() throws Exception {
        ReadOp stat = ReadOp.getAttributes(new GetAttributesOp(file));
        granted(holder, stat);
        UpdateReply changed = chmod(holder, 0100640);
        assertThat(changed.getErrno()).isZero();
        Future<ReadReply> read = threads.submit(() -> writer.read(1, stat));
        RecallReply recall = recalls(holder, 0);
        while (!recall.isSetNumber()) {
            recall = recalls(holder, 0);
        }
        assertThat(recall.getInodes()).containsExactly(file);
        assertThat(read.isDone()).as("shown before the old mode was given back").isFalse();
        recalls(holder, recall.getNumber());
        assertThat(read.get(20, TimeUnit.SECONDS).getAttributes().getMode()).isEqualTo(0100640);
    }

    @Test
    void aSettledChangeIsShownAtOnce() throws Exception {
        ReadOp stat = ReadOp.getAttributes(new GetAttributesOp(file));
        granted(holder, stat);
        Command command =
                holder.command(UpdateOp.setAttributes(new SetAttributesOp(file).setMode(0100640)));
        holder.send(1, command, PATIENCE_NS);
        RecallRequest request =
                new RecallRequest(holder.id, 1, 0).setSettledBelow(command.getSequence() + 1);
        cluster.client(cluster.coordinator(1)).call(MetadataCalls.RECALLS, request, 10_000);
        assertThat(writer.read(1, stat).getAttributes().getMode()).isEqualTo(0100640);
        assertThat(recalls(holder, 0).isSetNumber()).as("taken back").isFalse();
    }

    /** What it says is of when it was executed, and others may have changed the file since. */
    @Test
    void theAnswerToARepeatedUpdateGrantsNothing() throws Exception {
        Command command =
                writer.command(UpdateOp.setAttributes(new SetAttributesOp(file).setMode(0100600)));
        UpdateReply first = writer.send(1, command, PATIENCE_NS);
        assertThat(first.getLeaseMs()).isPositive();
        recalls(writer, 0);
        assertThat(chmod(holder, 0100640).getErrno()).isZero();
        recalls(writer, 0);
        UpdateReply again = writer.send(1, command, PATIENCE_NS);
        assertThat(again.getAttributes().getMode()).isEqualTo(0100600);
        assertThat(again.getLeaseMs()).isZero();
        assertThat(chmod(writer, 0100644).getLeaseMs()).as("of a new one").isPositive();
    }

    @Test
    void namesAndCoordinatorsAreCovered() throws Exception {
        granted(holder, ReadOp.getAttributes(new GetAttributesOp(file)));
        Future<Long> poll =
                threads.submit(() -> {
                    RecallReply reply = recalls(holder, 0);
                    while (!reply.isSetNumber()) {
                        reply = recalls(holder, 0);
                    }
                    recalls(holder, reply.getNumber());
                    return reply.getInodes().getFirst();
                });
        assertThat(writer.unlink(home, "file").getErrno()).isZero();
        assertThat(poll.get(20, TimeUnit.SECONDS)).isEqualTo(file);
        RecallRequest request = new RecallRequest(holder.id, 1, 0);
        int coordinator = cluster.coordinator(1);
        RecallReply elsewhere =
                cluster.client(coordinator % 3 + 1).call(MetadataCalls.RECALLS, request, 10_000);
        assertThat(elsewhere.getStatus()).isEqualTo(Status.REDIRECT);
        assertThat(elsewhere.getCoordinator()).isEqualTo(coordinator);
    }
}
