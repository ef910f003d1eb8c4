package org.globalfs.client.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class SessionLeaseTest {

    private static final List<Integer> SECOND_REGION = List.of(4, 5, 6);

    @TempDir Path folder;

    private FakeCluster cluster;
    private MetadataClient client;

    @BeforeEach
    void begin() {
        cluster = new FakeCluster(folder, 2);
        client = new MetadataClient(Session.begin(), cluster.calls(), cluster, 1, "region1", "dc1");
    }

    @AfterEach
    void end() {
        cluster.close();
    }

    private static Patience seconds(int seconds) {
        return Patience.of(Duration.ofSeconds(seconds));
    }

    @Test
    void leasesElsewhereRunWhileOnePartitionIsSilent() {
        Duration length = Duration.ofSeconds(3);
        SessionLease lease = new SessionLease(client, length);
        AtomicBoolean over = new AtomicBoolean();
        try (SessionKeeper _ = new SessionKeeper(lease)) {
            assertThat(lease.ensure(1, seconds(10))).isTrue();
            assertThat(lease.ensure(2, seconds(10))).isTrue();
            cluster.dead.addAll(SECOND_REGION);
            Patience stubborn =
                    Patience.until(System.nanoTime() + TimeUnit.MINUTES.toNanos(1), over::get);
            CompletableFuture<Boolean> renewed =
                    CompletableFuture.supplyAsync(
                            () -> lease.renew(2, List.of(7L), stubborn),
                            Thread::startVirtualThread);
            await().during(length.multipliedBy(2))
                    .atMost(length.multipliedBy(4))
                    .until(() -> lease.runs(1));
            assertThat(lease.runs(2)).isFalse();
            cluster.dead.clear();
            await().until(() -> lease.runs(2) && renewed.isDone());
            assertThat(renewed.join()).isTrue();
        } finally {
            over.set(true);
        }
    }

    @Test
    void whoWaitsForAnothersRenewalDoesSoForAsLongAsHeWants() throws Exception {
        SessionLease lease = new SessionLease(client, Duration.ofMinutes(1));
        AtomicBoolean over = new AtomicBoolean();
        AtomicBoolean killed = new AtomicBoolean();
        try {
            cluster.dead.addAll(SECOND_REGION);
            Patience first =
                    Patience.until(System.nanoTime() + TimeUnit.MINUTES.toNanos(1), over::get);
            Thread.startVirtualThread(() -> lease.renew(2, List.of(7L), first));
            await().until(() -> cluster.asked.stream().anyMatch(SECOND_REGION::contains));
            CompletableFuture<Boolean> impatient =
                    CompletableFuture.supplyAsync(
                            () -> lease.ensure(2, Patience.of(Duration.ofMillis(100))),
                            Thread::startVirtualThread);
            assertThat(impatient.get(10, TimeUnit.SECONDS)).isFalse();
            Patience second =
                    Patience.until(System.nanoTime() + TimeUnit.MINUTES.toNanos(1), killed::get);
            CompletableFuture<Boolean> waiting =
                    CompletableFuture.supplyAsync(
                            () -> lease.ensure(2, second), Thread::startVirtualThread);
            killed.set(true);
            assertThat(waiting.get(10, TimeUnit.SECONDS)).isFalse();
        } finally {
            over.set(true);
        }
    }

    /** Whoever waited for the renewal before needs none of his own. */
    @Test
    void oneRenewalServesAllWhoWaitForIt() throws Exception {
        SessionLease lease = new SessionLease(client, Duration.ofMinutes(1));
        cluster.dead.addAll(SECOND_REGION);
        List<CompletableFuture<Boolean>> waiting =
                IntStream.range(0, 8)
                        .mapToObj(i ->
                                CompletableFuture.supplyAsync(
                                        () -> lease.ensure(2, seconds(30)),
                                        Thread::startVirtualThread))
                        .toList();
        await().until(() -> cluster.asked.size() > 3);
        cluster.dead.clear();
        for (CompletableFuture<Boolean> each : waiting) {
            assertThat(each.get(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(cluster.executed.stream().filter(command -> command.getOp().isSetRenewSession()))
                .hasSize(1);
    }

    /** What it is unlinked in would collect it otherwise. */
    @Test
    void whatHasLeftASilentPartitionIsClaimedWhereItIs() {
        UpdateOp create =
                UpdateOp.create(new CreateOp(1, ByteBuffer.wrap(new byte[] {'d'}), 0040755));
        Credentials root = new Credentials(0, 0);
        long ino = client.update(0, root, create, seconds(20)).reply().getAttributes().getIno();
        MetadataClient other =
                new MetadataClient(Session.begin(), cluster.calls(), cluster, 2, "region2", "dc1");
        UpdateOp move = UpdateOp.move(new MoveOp(List.of(ino), 2).setLimit(10));
        assertThat(other.update(0, root, move, seconds(20)).reply().getErrno()).isZero();
        SessionLease lease = new SessionLease(client, Duration.ofMillis(600));
        lease.claims(() -> Set.of(ino));
        assertThat(client.homes().of(ino)).as("an old hint").isEqualTo(1);
        cluster.dead.addAll(List.of(1, 2, 3));
        assertThat(lease.renew(1, List.of(), Patience.of(Duration.ofMillis(200)))).isFalse();
        assertThat(lease.due()).containsExactly(2);
        assertThat(lease.renew(2, List.of(), seconds(20))).isTrue();
        assertThat(cluster.executed.getLast().getOp().getRenewSession().getOpenInodes())
                .containsExactly(ino);
    }

    /** A replica collects what it has not heard to be open for a minute after the unlink. */
    @Test
    void claimsAreToldInTimeHoweverLongTheLeaseIs() {
        assertThat(new SessionLease(client, Duration.ofMinutes(10)).interval())
                .isEqualTo(Duration.ofSeconds(20));
        assertThat(new SessionLease(client, Duration.ofSeconds(3)).interval())
                .isEqualTo(Duration.ofSeconds(1));
    }

    /** Not what was open when somebody began to ask. */
    @Test
    void aRenewalSaysWhatIsOpenWhenItIsSent() {
        SessionLease lease = new SessionLease(client, Duration.ofMillis(600));
        Set<Long> open = ConcurrentHashMap.newKeySet();
        lease.claims(() -> open);
        cluster.dead.addAll(SECOND_REGION);
        CompletableFuture<Boolean> renewed =
                CompletableFuture.supplyAsync(
                        () -> lease.renew(2, List.of(), seconds(30)), Thread::startVirtualThread);
        await().until(() -> cluster.asked.size() > 3);
        long file = (2L << 48) + 9;
        open.add(file);
        await().pollDelay(Duration.ofMillis(500)).until(() -> true);
        cluster.dead.clear();
        assertThat(renewed.join()).isTrue();
        Command command = cluster.executed.getLast();
        assertThat(command.getOp().getRenewSession().getOpenInodes()).containsExactly(file);
    }
}
