package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.MembershipChange.AddLearner;
import org.globalfs.multicast.MembershipChange.Outcome;
import org.globalfs.multicast.MembershipChange.Promote;
import org.globalfs.multicast.MembershipChange.Remove;
import org.globalfs.multicast.MembershipChange.Replace;
import org.globalfs.multicast.MembershipChange.Result;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rings whose members change while they serve, with real logs and sockets. */
@Timeout(180)
class MembershipTest {
    private static final int RING = 1;

    @TempDir Path folder;

    private Cluster cluster() throws IOException {
        return new Cluster(folder, Map.of(RING, List.of(1, 2, 3)));
    }

    private static Outcome ask(Cluster cluster, MembershipChange change) {
        try {
            return cluster.running
                    .get(cluster.awaitCoordinator(RING))
                    .change(RING, change)
                    .get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** As an operator does it: asks until it is done, whoever the coordinator is. */
    private static void change(Cluster cluster, MembershipChange change) {
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    Outcome outcome = ask(cluster, change);
                    assertThat(outcome.result()).as(outcome.detail()).isNotEqualTo(Result.REFUSED);
                    return outcome.result() == Result.UNCHANGED;
                });
    }

    private static void awaitDelivered(Cluster cluster, String value, int... nodes) {
        for (int node : nodes) {
            await().atMost(Cluster.LONG).until(() -> cluster.learner(node, RING).has(value));
        }
    }

    private static void propose(Cluster cluster, String value, int... deliverTo) {
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(300))
                .until(() -> {
                    cluster.running
                            .get(cluster.awaitCoordinator(RING))
                            .propose(RING, value.getBytes(UTF_8), new int[0]);
                    return cluster.learner(deliverTo[0], RING).has(value);
                });
        awaitDelivered(cluster, value, deliverTo);
    }

    /** Proposes unless it is there; then what the coordinator executed is acknowledged. */
    private static boolean acknowledged(Cluster cluster, String value) {
        int coordinator = cluster.awaitCoordinator(RING);
        if (cluster.learner(coordinator, RING).has(value)) {
            return true;
        }
        MulticastNode node = cluster.running.get(coordinator);
        if (node != null) {
            node.propose(RING, value.getBytes(UTF_8), new int[0]);
        }
        return false;
    }

    @Test
    void aRingMovesToOtherProcessesWhileItServes() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            AtomicBoolean done = new AtomicBoolean();
            AtomicInteger proposed = new AtomicInteger();
            List<String> acknowledged = new ArrayList<>();
            Thread client =
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!done.get()) {
                                    String value = "value" + proposed.incrementAndGet();
                                    await().atMost(Cluster.LONG)
                                            .pollInterval(Duration.ofMillis(20))
                                            .until(() -> acknowledged(cluster, value));
                                    acknowledged.add(value);
                                }
                            });
            int next = 4;
            for (int old = 1; old <= 3; old++) {
                String address = cluster.spare(next, RING);
                cluster.start(next);
                change(cluster, new AddLearner(next, address));
                change(cluster, new Replace(old, next));
                cluster.running.remove(old).close();
                next++;
            }
            int before = proposed.get();
            await().atMost(Cluster.LONG).until(() -> proposed.get() > before + 20);
            done.set(true);
            client.join();
            assertThat(cluster.running.keySet()).containsExactlyInAnyOrder(4, 5, 6);
            List<Integer> moved = List.of(4, 5, 6);
            for (MulticastNode node : cluster.running.values()) {
                await().atMost(Cluster.LONG)
                        .until(() -> node.membership(RING).acceptors(), moved::equals);
            }
            propose(cluster, "last", 4, 5, 6);
            List<String> order = cluster.learner(4, RING).values();
            assertThat(order).containsAll(acknowledged);
            assertThat(cluster.learner(5, RING).values()).isEqualTo(order);
            assertThat(cluster.learner(6, RING).values()).isEqualTo(order);
            // What the log says of members and addresses is all that a restart has.
            for (int node = 4; node <= 6; node++) {
                cluster.crash(node);
            }
            for (int node = 4; node <= 6; node++) {
                cluster.start(node);
            }
            propose(cluster, "after restart", 4, 5, 6);
            cluster.crash(5);
            propose(cluster, "with two of three", 4, 6);
        }
    }

    /** With 24 MB, which those that run checkpoint. */
    private static void fillLogs(Cluster cluster) {
        byte[] large = new byte[600_000];
        for (int i = 0; i < 40; i++) {
            int coordinator = cluster.awaitCoordinator(RING);
            long before = cluster.learner(coordinator, RING).applied();
            cluster.running.get(coordinator).propose(RING, large, new int[0]);
            await().atMost(Cluster.LONG)
                    .until(() -> cluster.learner(coordinator, RING).applied() > before);
            checkpoint(cluster);
        }
    }

    private static void checkpoint(Cluster cluster) {
        cluster.running.forEach((node, running) ->
                running.checkpointed(RING, cluster.learner(node, RING).applied()));
    }

    @Test
    void aRemovedMemberThatRunsOnKeepsItsLogShort() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.retainedBytes = 0;
            cluster.startAll();
            propose(cluster, "a", 1, 2, 3);
            change(cluster, new Remove(3));
            fillLogs(cluster);
            await().atMost(Cluster.LONG)
                    .until(() -> {
                        checkpoint(cluster);
                        return cluster.running.get(3).status(RING).firstAvailable() > 10;
                    });
        }
    }

    @Test
    void aNewcomerThatIsTooFarBehindTakesACheckpointWithTheMembership() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.retainedBytes = 0;
            cluster.startAll();
            change(cluster, new AddLearner(9, "127.0.0.1:1"));
            fillLogs(cluster);
            await().atMost(Cluster.LONG)
                    .until(() ->
                            cluster.running.values().stream()
                                    .allMatch(n -> n.status(RING).firstAvailable() > 10));
            String address = cluster.spare(4, RING);
            RecordingLearner newcomer = cluster.learner(4, RING);
            newcomer.onBehind = first -> newcomer.takeOver(cluster.learner(2, RING));
            cluster.start(4);
            change(cluster, new AddLearner(4, address));
            change(cluster, new Promote(4));
            change(cluster, new Remove(3));
            cluster.running.remove(3).close();
            propose(cluster, "with 4", 1, 2, 4);
            assertThat(newcomer.values()).isEqualTo(cluster.learner(1, RING).values());
            cluster.crash(2);
            propose(cluster, "4 decides", 1, 4);
        }
    }

    /** As one is that was started once, emptied, and started again; nobody can be spared. */
    @Test
    void aNewcomerThatLostItsLogCanDecideWhenItIsPromoted() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, "a", 1, 2, 3);
            cluster.crash(3);
            String address = cluster.spare(4, RING);
            cluster.start(4);
            cluster.crash(4);
            Folders.delete(cluster.logOf(4));
            cluster.start(4);
            assertThat(cluster.running.get(4).status(RING).rejoining()).isTrue();
            change(cluster, new AddLearner(4, address));
            change(cluster, new Promote(4));
            propose(cluster, "4 decides", 1, 2, 4);
        }
    }

    @Test
    void aRemovedMemberCanReturnWithAnEmptyDisk() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, "a", 1, 2, 3);
            change(cluster, new Remove(3));
            cluster.crash(3);
            Folders.delete(cluster.logOf(3));
            RecordingLearner fetched = new RecordingLearner();
            fetched.takeOver(cluster.learner(1, RING));
            cluster.learners.get(3).put(RING, fetched);
            cluster.start(3);
            propose(cluster, "b", 1, 2);
            change(cluster, new AddLearner(3, "127.0.0.1:" + cluster.addresses.get(3).getPort()));
            change(cluster, new Promote(3));
            cluster.crash(2);
            propose(cluster, "c", 1, 3);
        }
    }

    @Test
    void whatWouldStopTheRingOrMakesNoSenseIsRefused() throws Exception {
        try (Cluster cluster = cluster()) {
            cluster.startAll();
            propose(cluster, "a", 1, 2, 3);
            change(cluster, new AddLearner(9, "127.0.0.1:1"));
            assertThat(ask(cluster, new Promote(4)).detail()).contains("add it as a learner");
            assertThat(ask(cluster, new Replace(7, 8)).result()).isEqualTo(Result.REFUSED);
            MembershipChange.Outcome bothDecide = ask(cluster, new Replace(1, 2));
            assertThat(bothDecide.result()).isEqualTo(Result.REFUSED);
            assertThat(bothDecide.detail()).contains("replica 2 is a member already");
            assertThat(ask(cluster, new AddLearner(2, "127.0.0.1:1")).detail())
                    .contains("is an acceptor");
            assertThat(ask(cluster, new Remove(8)).result()).isEqualTo(Result.UNCHANGED);
            int coordinator = cluster.awaitCoordinator(RING);
            int follower = coordinator % 3 + 1;
            assertThat(
                            cluster.running
                                    .get(follower)
                                    .change(RING, new Remove(follower))
                                    .get(10, TimeUnit.SECONDS)
                                    .result())
                    .isEqualTo(Result.NOT_COORDINATOR);
            cluster.crash(follower);
            int other = 6 - coordinator - follower;
            // Before the coordinator can have noticed, it would take the change on.
            await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
            assertThat(ask(cluster, new Promote(9)).detail()).contains("does not answer");
            assertThat(ask(cluster, new Remove(other)).detail()).contains("stand still");
            change(cluster, new Remove(follower));
            propose(cluster, "b", coordinator, other);
        }
    }
}
