package org.globalfs.client.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.StatFsOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataClientTest {

    private static final Credentials ROOT = new Credentials(0, 0);
    private static final int DIRECTORY = 0040755;
    private static final int FILE = 0100644;

    @TempDir Path folder;

    private FakeCluster cluster;
    private MetadataClient client;

    @BeforeEach
    void begin() {
        cluster = new FakeCluster(folder, 2);
        client = client(1, "dc1");
    }

    @AfterEach
    void end() {
        cluster.close();
    }

    private MetadataClient client(int region, String datacenter) {
        return new MetadataClient(
                Session.begin(), cluster.calls(), cluster, region, "region" + region, datacenter);
    }

    private static UpdateOp create(long parent, String name, int mode) {
        return UpdateOp.create(new CreateOp(parent, bytes(name), mode));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private UpdateReply update(int partition, UpdateOp op) {
        return client.update(partition, ROOT, op, Patience.of(Duration.ofSeconds(20))).reply();
    }

    private int errno(int partition, ReadOp op) {
        return read(partition, op, Duration.ofSeconds(20)).getErrno();
    }

    private ReadReply read(int partition, ReadOp op, Duration patience) {
        return client.read(partition, ROOT, op, Patience.of(patience)).reply();
    }

    private long homeDirectory() {
        return update(0, create(1, "home", DIRECTORY)).getAttributes().getIno();
    }

    /** Meanwhile whoever follows grants things that nobody would give back. */
    @Test
    void aPollDoesNotStayWithACoordinatorThatIsSilent() {
        homeDirectory();
        AtomicLong waitedMs = new AtomicLong();
        ReplicaCalls calls =
                new PassedOn(cluster.calls()) {
                    @Override
                    public RecallReply recalls(Replica replica, RecallRequest request, long ms)
                            throws NoReplyException {
                        if (cluster.silent.contains(replica.id())) {
                            waitedMs.addAndGet(ms);
                        }
                        return super.recalls(replica, request, ms);
                    }
                };
        client = new MetadataClient(Session.begin(), calls, cluster, 1, "region1", "dc1");
        homeOf(client);
        cluster.silent.add(1);
        cluster.coordinator(1, 2);
        Patience patience = Patience.of(Duration.ofSeconds(20));
        Answer<RecallReply> answer = client.recalls(1, 1, 0, client.session().settled(), patience);
        assertThat(answer).isNotNull();
        assertThat(answer.replica()).isEqualTo(2);
        assertThat(waitedMs.get()).isBetween(1L, 3_000L);
    }

    /** Its time was over when it could go on. */
    @Test
    void anUpdateOfAProcessThatWasStoppedIsNotGivenUp() {
        AtomicInteger tries = new AtomicInteger();
        ReplicaCalls calls =
                new PassedOn(cluster.calls()) {
                    @Override
                    public UpdateReply update(Replica replica, UpdateRequest request, long ms)
                            throws NoReplyException {
                        if (tries.incrementAndGet() == 1) {
                            LockSupport.parkNanos((ms + 4_200) * 1_000_000);
                            throw new NoReplyException(NoReplyException.Kind.SILENT, "stopped");
                        }
                        return super.update(replica, request, ms);
                    }
                };
        client = new MetadataClient(Session.begin(), calls, cluster, 1, "region1", "dc1");
        Patience patience = Patience.of(Duration.ofSeconds(4));
        Answer<UpdateReply> answer = client.update(0, ROOT, create(1, "home", DIRECTORY), patience);
        assertThat(answer.answered()).isTrue();
        assertThat(answer.reply().getErrno()).isZero();
        assertThat(patience.over()).isTrue();
    }

    private static class PassedOn implements ReplicaCalls {
        private final ReplicaCalls to;

        PassedOn(ReplicaCalls to) {
            this.to = to;
        }

        @Override
        public UpdateReply update(Replica replica, UpdateRequest request, long ms)
                throws NoReplyException {
            return to.update(replica, request, ms);
        }

        @Override
        public ReadReply read(Replica replica, ReadRequest request, long ms)
                throws NoReplyException {
            return to.read(replica, request, ms);
        }

        @Override
        public RecallReply recalls(Replica replica, RecallRequest request, long ms)
                throws NoReplyException {
            return to.recalls(replica, request, ms);
        }

        @Override
        public void close() {
            to.close();
        }
    }

    /** Its calls find the coordinator. */
    private static void homeOf(MetadataClient client) {
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp((1L << 48) + 1));
        client.read(1, ROOT, op, Patience.of(Duration.ofSeconds(20)));
    }

    @Test
    void aDirectoryInTheRootGoesToTheCreatorsRegionAndItsFilesToTheCoordinatorThere() {
        long home = homeDirectory();
        assertThat(Homes.birth(home)).isEqualTo(1);
        cluster.coordinator(1, 3);

        UpdateReply file = update(1, create(home, "file", FILE));

        assertThat(file.getErrno()).isZero();
        assertThat(Homes.birth(file.getAttributes().getIno())).isEqualTo(1);
        cluster.asked.clear();
        assertThat(errno(1, ReadOp.getAttributes(new GetAttributesOp(home)))).isZero();
        assertThat(cluster.asked).as("the coordinator is remembered").containsExactly(3);
    }

    @Test
    void anUpdateWhoseReplyIsLostTakesEffectOnce() {
        long home = homeDirectory();
        cluster.lostReplies.set(3);

        UpdateReply reply = update(1, create(home, "once", FILE));

        assertThat(reply.getErrno()).as("not EEXIST").isZero();
        assertThat(cluster.executed.stream().map(Command::getSequence).filter(s -> s == 2))
                .hasSize(4);
        assertThat(errno(1, ReadOp.lookup(new LookupOp(home, bytes("once"))))).isZero();
        assertThat(cluster.again)
                .as("whether it says that it was sent before")
                .startsWith(false, false, true)
                .filteredOn(again -> !again)
                .hasSize(2);
    }

    @Test
    void retriesUntilTheReplicaIsReady() {
        cluster.retries.set(20);
        assertThat(update(0, create(1, "later", DIRECTORY)).getErrno()).isZero();
    }

    @Test
    void aDeadCoordinatorIsReplacedWithoutAnError() {
        long home = homeDirectory();
        update(1, create(home, "before", FILE));
        cluster.dead.add(1);
        Thread election =
                Thread.ofVirtual()
                        .start(() -> {
                            while (cluster.updates.get() < 8) {
                                Thread.onSpinWait();
                            }
                            cluster.coordinator(1, 2);
                        });

        long startNs = System.nanoTime();
        assertThat(update(1, create(home, "after", FILE)).getErrno()).isZero();

        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(2));
        assertThat(election.isAlive()).isFalse();
    }

    @Test
    void aSilentReplicaIsReplacedByTheNextNearest() {
        client = client(1, "dc2");
        update(0, create(1, "warm", DIRECTORY));
        cluster.asked.clear();
        cluster.silent.add(2);

        assertThat(update(0, create(1, "d", DIRECTORY)).getErrno()).isZero();

        assertThat(cluster.asked).containsExactly(2, 1);
        cluster.asked.clear();
        assertThat(errno(0, ReadOp.getAttributes(new GetAttributesOp(1)))).isZero();
        assertThat(cluster.asked).as("the silent one is left alone for a while").containsExactly(1);
    }

    @Test
    void aReplicaThatIsCutOffIsAskedOnlyWhenAllAre() {
        cluster.cutOff.add(1);
        assertThat(update(0, create(1, "d", DIRECTORY)).getErrno()).isZero();
        assertThat(cluster.asked).containsExactly(1, 2);
        cluster.asked.clear();
        assertThat(errno(0, ReadOp.getAttributes(new GetAttributesOp(1)))).isZero();
        assertThat(cluster.asked).as("left alone for a while").containsExactly(2);
        cluster.cutOff.addAll(List.of(2, 3));
        cluster.asked.clear();
        for (int i = 0; i < 8; i++) {
            assertThat(errno(0, ReadOp.getAttributes(new GetAttributesOp(1)))).isZero();
        }
        assertThat(cluster.asked).as("no other region is asked").isSubsetOf(1, 2, 3);
    }

    @Test
    void theGlobalPartitionIsServedByOtherRegionsWhenTheOwnIsDown() {
        cluster.dead.addAll(List.of(1, 2, 3));
        assertThat(update(0, create(1, "far", DIRECTORY)).getErrno()).isZero();
        assertThat(errno(0, ReadOp.getAttributes(new GetAttributesOp(1)))).isZero();
    }

    @Test
    void givesUpWithEioWhenNobodyAnswers() {
        for (int id = 1; id <= 6; id++) {
            cluster.dead.add(id);
        }
        Answer<UpdateReply> answer =
                client.update(
                        0,
                        ROOT,
                        create(1, "never", DIRECTORY),
                        Patience.of(Duration.ofMillis(300)));
        assertThat(answer.answered()).isFalse();
        assertThat(answer.reply().getErrno()).isEqualTo(Errno.EIO.number());
    }

    @Test
    void anOperationOnSeveralPartitionsIsCoordinatedUnderItsSequence() {
        long home = homeDirectory();
        update(1, create(home, "file", FILE));

        RenameOp move = new RenameOp(home, bytes("file"), 1, bytes("moved"), 0);
        UpdateReply reply = update(1, UpdateOp.rename(move));

        assertThat(reply.getErrno()).isZero();
        assertThat(cluster.executed.getLast().isCoordinated()).isTrue();
        assertThat(cluster.executed.getLast().isSetParticipants())
                .as("partition 0 knows whose votes it takes")
                .isFalse();
        assertThat(cluster.again).endsWith(false, true);
        assertThat(errno(0, ReadOp.lookup(new LookupOp(1, bytes("moved"))))).isZero();
        assertThat(errno(1, ReadOp.lookup(new LookupOp(home, bytes("file")))))
                .isEqualTo(Errno.ENOENT.number());
    }

    private void moveEast(long ino) {
        UpdateOp move = UpdateOp.move(new MoveOp(List.of(ino), 2).setLimit(10));
        UpdateReply reply =
                client(2, "dc1").update(0, ROOT, move, Patience.of(Duration.ofSeconds(20))).reply();
        assertThat(reply.getErrno()).isZero();
    }

    @Test
    void whatHasLeftARegionThatIsOutOfReachIsFoundWhereItIs() {
        long home = homeDirectory();
        moveEast(home);
        assertThat(client.homes().of(home)).as("an old hint").isEqualTo(1);
        IntStream.rangeClosed(1, 3).forEach(cluster.dead::add);

        assertThat(errno(1, ReadOp.getAttributes(new GetAttributesOp(home)))).isZero();

        assertThat(client.homes().of(home)).isEqualTo(2);
        assertThat(update(client.homes().of(home), create(home, "file", FILE)).getErrno()).isZero();
    }

    /** The first one may have been executed before the directory left. */
    @Test
    void updatesAfterOneThatNobodyAnsweredGoWhereTheInodeIs() {
        long home = homeDirectory();
        moveEast(home);
        assertThat(client.homes().of(home)).as("an old hint").isEqualTo(1);
        IntStream.rangeClosed(1, 3).forEach(cluster.dead::add);

        Patience brief = Patience.of(Duration.ofSeconds(2));
        assertThat(client.update(1, ROOT, create(home, "a", FILE), brief).answered()).isFalse();
        assertThat(cluster.executed).noneMatch(command -> isOf(command, "a"));

        assertThat(client.homes().of(home)).isEqualTo(2);
        assertThat(update(client.homes().of(home), create(home, "b", FILE)).getErrno()).isZero();
    }

    @Test
    void whereAnInodeIsThatNobodyAnswersForIsAskedWithinTheUpdatesTime() {
        long home = homeDirectory();
        AtomicLong longestMs = new AtomicLong();
        ReplicaCalls calls =
                new PassedOn(cluster.calls()) {
                    @Override
                    public ReadReply read(Replica replica, ReadRequest request, long ms)
                            throws NoReplyException {
                        longestMs.accumulateAndGet(ms, Math::max);
                        throw new NoReplyException(NoReplyException.Kind.SILENT, "away");
                    }
                };
        IntStream.rangeClosed(1, 3).forEach(cluster.dead::add);
        client = new MetadataClient(Session.begin(), calls, cluster, 1, "region1", "dc1");

        Patience brief = Patience.of(Duration.ofSeconds(2));
        assertThat(client.update(1, ROOT, create(home, "a", FILE), brief).answered()).isFalse();

        // None, where the machine stood still for what was left.
        assertThat(longestMs.get()).isBetween(0L, 500L);
    }

    private static boolean isOf(Command command, String name) {
        return command.getOp().isSetCreate()
                && command.getOp().getCreate().bufferForName().equals(bytes(name));
    }

    @Test
    void whatIsStillInARegionThatIsOutOfReachIsWaitedFor() {
        long home = homeDirectory();
        IntStream.rangeClosed(1, 3).forEach(cluster.dead::add);
        Thread restart =
                Thread.ofVirtual()
                        .start(() -> {
                            while (cluster.reads.get() < 2) {
                                Thread.onSpinWait();
                            }
                            cluster.dead.clear();
                        });

        assertThat(errno(1, ReadOp.getAttributes(new GetAttributesOp(home)))).isZero();

        assertThat(restart.isAlive()).isFalse();
        assertThat(client.homes().of(home)).isEqualTo(1);
    }

    /** The global partition has quotas and inodes too, and knows nothing of the region's. */
    @Test
    void noOtherPartitionAnswersForOneThatIsOutOfReach() {
        long home = homeDirectory();
        update(1, UpdateOp.setQuota(new SetQuotaOp(home).setBytes(1 << 20)));
        update(1, create(home, "file", FILE));
        List<ReadOp> ofThePartition =
                List.of(ReadOp.quota(new QuotaOp()), ReadOp.statFs(new StatFsOp()));
        List<ReadReply> replies =
                ofThePartition.stream().map(op -> read(1, op, Duration.ofSeconds(20))).toList();
        assertThat(replies.getFirst().getQuotas()).hasSize(1);
        IntStream.rangeClosed(1, 3).forEach(cluster.dead::add);

        for (ReadOp op : ofThePartition) {
            assertThat(read(1, op, Duration.ofMillis(1_500)).getErrno())
                    .isEqualTo(Errno.EIO.number());
        }

        cluster.dead.clear();
        for (int i = 0; i < ofThePartition.size(); i++) {
            ReadReply again = read(1, ofThePartition.get(i), Duration.ofSeconds(20));
            assertThat(again.getQuotas()).isEqualTo(replies.get(i).getQuotas());
            assertThat(again.getStatistics()).isEqualTo(replies.get(i).getStatistics());
        }
    }

    @Test
    void theGlobalPartitionIsWaitedForWhenAllAreDown() {
        homeDirectory();
        IntStream.rangeClosed(1, 6).forEach(cluster.dead::add);
        Thread restart =
                Thread.ofVirtual()
                        .start(() -> {
                            long untilNs = System.nanoTime() + 1_500_000_000L;
                            while (System.nanoTime() - untilNs < 0) {
                                Thread.onSpinWait();
                            }
                            cluster.dead.clear();
                        });

        assertThat(errno(0, ReadOp.lookup(new LookupOp(1, bytes("home"))))).isZero();
        assertThat(restart.isAlive()).isFalse();
    }

    @Test
    void theVectorGrowsWithWhatIsSeenAndPassesToOthers() {
        long home = homeDirectory();
        update(1, create(home, "file", FILE));
        Map<Integer, Long> seen = client.session().vector().snapshot();
        assertThat(seen.keySet()).containsExactly(0, 1);

        Session other = new Session(7);
        other.vector().merge(seen);
        other.vector().merge(Map.of(0, 0L));
        assertThat(other.vector().snapshot()).isEqualTo(seen);
    }

    @Test
    void manyThreadsShareASession() {
        long home = homeDirectory();
        cluster.lostReplies.set(5);
        List<Integer> errnos =
                IntStream.range(0, 64)
                        .parallel()
                        .mapToObj(i -> update(1, create(home, "f" + i, FILE)).getErrno())
                        .toList();
        assertThat(errnos).containsOnly(0);
        assertThat(client.session().answeredBelow()).isEqualTo(66);
    }

    @Test
    void renewalTellsEachPartitionAndSoDoesTheEnd() {
        long home = homeDirectory();
        long file = update(1, create(home, "file", FILE)).getAttributes().getIno();
        SessionLease lease = new SessionLease(client, Duration.ofHours(1));
        lease.claims(() -> java.util.Set.of(file));
        SessionKeeper keeper = new SessionKeeper(lease);
        keeper.renew();
        await().until(() -> renewals(false) == 2);
        keeper.close();
        assertThat(renewals(true)).isEqualTo(2);
        assertThat(renewals(false)).isEqualTo(2);
    }

    private long renewals(boolean ended) {
        FakeCluster watched = cluster;
        synchronized (watched) {
            return watched.executed.stream()
                    .map(Command::getOp)
                    .filter(UpdateOp::isSetRenewSession)
                    .filter(op -> op.getRenewSession().isEnded() == ended)
                    .count();
        }
    }
}
