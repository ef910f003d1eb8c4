package org.globalfs.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.oracle.policy.Rules;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An oracle of region 2 that pulls at directories of region 1, before a replica. */
@Timeout(60)
class PullerTest {
    private static final int THERE = 1;
    private static final int HERE = 2;
    private static final long WELL = 1L << 48 | 7;
    private static final long OTHER = 1L << 48 | 8;

    /** With a budget, unlike those that say no more than that. */
    private static final MoveRule EAGER =
            new MoveRule(
                    "/",
                    Optional.empty(),
                    MoveRule.Kind.EAGER,
                    false,
                    1,
                    1,
                    5_000,
                    1,
                    10_000,
                    1_000_000,
                    1L << 40);

    private final AtomicLong clockMs = new AtomicLong(1_000_000);
    private final List<Long> moved = new CopyOnWriteArrayList<>();
    private final UseMonitor monitor =
            new UseMonitor("here", HERE, Set.of("there", "here"), Rules.of(EAGER), clockMs::get);
    private final AtomicInteger pauses = new AtomicInteger();

    /** So many more updates are sent on. */
    private final AtomicInteger escalations = new AtomicInteger();

    private volatile boolean stays;
    private volatile boolean rulesFound = true;
    private volatile ReadReply ofOther = new ReadReply();
    private RpcServer server;
    private Replicas replicas;
    private Puller puller;

    @BeforeEach
    void start() throws Exception {
        server =
                RpcServer.start(
                        "replica",
                        "127.0.0.1",
                        0,
                        new RpcServer.Calls()
                                .on(MetadataCalls.READ, this::read)
                                .on(MetadataCalls.UPDATE, this::update));
        HostPort at = new HostPort("127.0.0.1", server.port());
        List<Topology.Region> regions = new ArrayList<>();
        for (int partition : new int[] {THERE, HERE}) {
            regions.add(
                    new Topology.Region(
                            partition == HERE ? "here" : "there",
                            partition,
                            List.of(new Topology.ReplicaSite(partition, "a", at, at))));
        }
        Topology topology = new Topology("test", regions);
        replicas =
                new Replicas(new NearestReplicas(topology, new InMemoryDiscovery(), "here", "a"));
        puller =
                new Puller(
                        monitor,
                        () -> rulesFound,
                        new TreeReader(replicas),
                        new MoveCommands(replicas, HERE, pauses::incrementAndGet),
                        HERE,
                        "here",
                        clockMs::get);
        clockMs.addAndGet(10_000); // nothing moves earlier
        monitor.report(
                HERE,
                List.of(
                        new DirectoryUse(1, 1, 0, 1, 0),
                        new DirectoryUse(WELL, 1, THERE, 1_000, 1_000),
                        new DirectoryUse(OTHER, 1, THERE, 5_000, 5_000)));
    }

    @AfterEach
    void stop() {
        puller.close();
        replicas.close();
        server.close();
    }

    private ReadReply read(ReadRequest request) {
        Position position = new Position(request.getPartition(), 3);
        boolean list = request.getOp().isSetReadDirectory();
        long ino =
                list
                        ? request.getOp().getReadDirectory().getIno()
                        : request.getOp().getGetAttributes().getIno();
        if (ino == OTHER) {
            return ofOther.deepCopy().setPosition(position);
        }
        if (request.getPartition() != THERE) {
            return new ReadReply(Status.ESCALATE, 0, position).setHomes(Map.of(ino, THERE));
        }
        ReadReply reply = new ReadReply(Status.DONE, 0, position);
        return list
                ? reply.setEntries(List.of()).setLast(true)
                : reply.setAttributes(new Attributes(ino, 040755, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    }

    private UpdateReply update(UpdateRequest request) {
        if (escalations.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return new UpdateReply(Status.ESCALATE, 0).setParticipants(List.of(THERE, HERE));
        }
        List<Long> inodes = request.getCommand().getOp().getMove().getInodes();
        moved.addAll(inodes);
        return new UpdateReply(Status.DONE, 0)
                .setDone(stays ? 0 : 1)
                .setRest(List.of())
                .setStayed(stays ? inodes : List.of());
    }

    @Test
    void whatIsGoneHoldsNothingElseUp() {
        ofOther = new ReadReply().setStatus(Status.DONE).setErrno(Errno.ENOENT.number());
        puller.pull();
        assertThat(moved).containsExactly(WELL);
    }

    /** Those that are known may be of another policy, or only some of them. */
    @Test
    void nothingMovesUntilTheDirectoriesOfAllRulesAreFound() {
        ofOther = new ReadReply().setStatus(Status.DONE).setErrno(Errno.ENOENT.number());
        rulesFound = false;
        puller.pull();
        assertThat(moved).isEmpty();
        rulesFound = true;
        puller.pull();
        assertThat(moved).containsExactly(WELL);
    }

    /** It lives where it did, whatever was asked for, and is not said to have moved. */
    @Test
    void aTreeThatHasToStayIsAskedForAgainAfterAMinuteAndThenMoreSeldom() {
        ofOther = new ReadReply().setStatus(Status.DONE).setErrno(Errno.ENOENT.number());
        stays = true;
        puller.pull();
        puller.pull();
        assertThat(moved).containsExactly(WELL);
        clockMs.addAndGet(60_001);
        monitor.report(HERE, List.of(new DirectoryUse(WELL, 1, THERE, 1_000, 1_000)));
        puller.pull();
        assertThat(moved).containsExactly(WELL, WELL);
        for (int minute = 0; minute < 2; minute++) {
            clockMs.addAndGet(60_001);
            monitor.report(HERE, List.of(new DirectoryUse(WELL, 1, THERE, 1_000, 1_000)));
            puller.pull();
            assertThat(moved).hasSize(2 + minute);
        }
    }

    /** Others may be in the same case, so they are not asked for at once, but before it. */
    @Test
    void whatCannotBeReachedComesAfterTheOthersTheNextTime() {
        ofOther = new ReadReply().setStatus(Status.RETRY);
        puller.pull();
        assertThat(moved).isEmpty();
        clockMs.addAndGet(10_001);
        puller.pull();
        assertThat(moved).containsExactly(WELL);
    }

    /** Where it is between two partitions what it concerns, it may take a while until it is not. */
    @Test
    void whoIsSentOnAgainWaitsInBetween() {
        ofOther = new ReadReply().setStatus(Status.DONE).setErrno(Errno.ENOENT.number());
        escalations.set(1);
        puller.pull();
        assertThat(moved).containsExactly(WELL);
        assertThat(pauses).hasValue(0);
        escalations.set(3);
        monitor.report(HERE, List.of(new DirectoryUse(WELL, 1, THERE, 1_000, 1_000)));
        clockMs.addAndGet(10_001);
        puller.pull();
        assertThat(moved).containsExactly(WELL, WELL);
        assertThat(pauses).hasValue(2);
    }

    /** Each time that a policy is changed it is by another rule. */
    @Test
    void aBudgetIsForgottenOnceNothingOfItIsMissing() {
        ofOther = new ReadReply().setStatus(Status.DONE).setErrno(Errno.ENOENT.number());
        puller.pull();
        assertThat(moved).containsExactly(WELL);
        assertThat(puller.budgets()).isEqualTo(1);
        puller.pull();
        assertThat(puller.budgets()).isEqualTo(1);
        clockMs.addAndGet(2 * 3_600_000);
        puller.pull();
        assertThat(puller.budgets()).isZero();
    }
}
