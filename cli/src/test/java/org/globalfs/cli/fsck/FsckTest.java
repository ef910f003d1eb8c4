package org.globalfs.cli.fsck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.ContentReply;
import org.globalfs.protocol.wire.ContentRequest;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.Links;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingStatus;
import org.junit.jupiter.api.Test;

class FsckTest {

    private static final long FIRST = 1L << 48 | 5;
    private static final long SECOND = 1L << 48 | 6;

    /** What partition 0 says of names of partition 1's directories, or the other way about. */
    private static CheckReply part(int partition, long ino) {
        List<Links> one = List.of(new Links(ino, 1));
        List<Links> none = List.of();
        List<Crossing> crossing = List.of(new Crossing(ino, 1).setTop(1));
        CheckReply reply =
                new CheckReply(new Position(partition, 1), 1, 2, 0, 0, 0, List.of(), none, none);
        return partition == 0
                ? reply.setForeign(one).setHanging(List.of()).setHeld(crossing)
                : reply.setUnexplained(one).setHanging(crossing).setHeld(List.of());
    }

    private static CheckReply answer(CheckRequest request) {
        int partition = request.getPartition();
        if (request.isSetId()) {
            assertThat(request.getId()).isEqualTo(77);
            assertThat(request.getOffset()).isEqualTo(2);
            return part(partition, partition == 0 ? SECOND : FIRST);
        }
        CheckReply first = part(partition, partition == 0 ? FIRST : SECOND);
        return request.isPaged() ? first.setId(77).setNextOffset(2) : first;
    }

    @Test
    void putsTogetherWhatComesInParts() throws Exception {
        RpcServer.Calls calls = new RpcServer.Calls().on(MetadataCalls.CHECK, FsckTest::answer);
        try (RpcServer server = RpcServer.start("replica", "127.0.0.1", 0, calls)) {
            HostPort address = new HostPort("127.0.0.1", server.port());
            Topology.ReplicaSite site = new Topology.ReplicaSite(1, "dc1", address, address);
            Topology.Region region = new Topology.Region("region1", 1, List.of(site));
            List<String> lines = new ArrayList<>();
            boolean clean =
                    new Fsck(new Topology("test", List.of(region)), false, lines::add).clean();
            assertThat(lines).last().isEqualTo("clean");
            assertThat(clean).isTrue();
        }
    }

    private static final CheckReply NOTHING =
            new CheckReply(new Position(0, 1), 1, 1, 0, 0, 0, List.of(), List.of(), List.of());

    /** Two replicas of one region, of which the second leads, and what fsck prints. */
    private static List<String> ofTwoReplicas(
            Function<ContentRequest, ContentReply> second, boolean expected) throws Exception {
        RpcServer.Calls follower =
                new RpcServer.Calls()
                        .on(MetadataCalls.CHECK, FsckTest::nothing)
                        .on(MetadataCalls.CONTENT, request -> new ContentReply(false, 2));
        RpcServer.Calls leader =
                new RpcServer.Calls()
                        .on(MetadataCalls.CHECK, FsckTest::nothing)
                        .on(MetadataCalls.CONTENT, second::apply);
        return ofTwoReplicas(follower, leader, true, expected);
    }

    private static List<String> ofTwoReplicas(
            RpcServer.Calls first, RpcServer.Calls second, boolean content, boolean expected)
            throws Exception {
        try (RpcServer one = RpcServer.start("replica", "127.0.0.1", 0, first);
                RpcServer two = RpcServer.start("replica", "127.0.0.1", 0, second)) {
            List<Topology.ReplicaSite> sites = new ArrayList<>();
            for (RpcServer server : List.of(one, two)) {
                HostPort address = new HostPort("127.0.0.1", server.port());
                sites.add(new Topology.ReplicaSite(sites.size() + 1, "dc1", address, address));
            }
            Topology.Region region = new Topology.Region("west", 1, sites);
            List<String> lines = new ArrayList<>();
            Fsck fsck = new Fsck(new Topology("test", List.of(region)), content, lines::add);
            assertThat(fsck.clean()).isEqualTo(expected);
            return lines;
        }
    }

    private static CheckReply nothing(CheckRequest request) {
        return new CheckReply(NOTHING).setPosition(new Position(request.getPartition(), 1));
    }

    private static ContentReply content(long blocks, long reduced, long unclear) {
        return new ContentReply(true, 2)
                .setBlocks(blocks)
                .setReduced(reduced)
                .setUnclear(unclear)
                .setLost(List.of())
                .setProblems(unclear > 0 ? List.of("node-7") : List.of());
    }

    @Test
    void namesTheFilesWhoseContentIsLost() throws Exception {
        BlockRef first = new BlockRef(1, 1, 10, 1, (byte) 4, (byte) 2, 1);
        BlockRef second = new BlockRef(1, 2, 10, 1, (byte) 4, (byte) 2, 1);
        List<String> lines =
                ofTwoReplicas(
                        request -> {
                            if (request.isSetOf()) {
                                assertThat(request.getOf()).containsExactly(second);
                                return new ContentReply(true, 2)
                                        .setFiles(
                                                request.getPartition() == 1
                                                        ? List.of("inode 7 /a")
                                                        : List.of());
                            }
                            if (request.getPartition() == 0) {
                                return content(0, 0, 0);
                            }
                            return request.isSetAfter()
                                    ? content(2, 1, 0).setLost(List.of(second))
                                    : content(3, 0, 0).setLast(first);
                        },
                        false);
        assertThat(lines)
                .contains(
                        "partition 0 global: looked for 0 blocks in the datastore: all there",
                        "partition 1 west: looked for 5 blocks in the datastore: 1 are lost, 1 have fewer chunks than they should",
                        "  partition 1: inode 7 /a")
                .last()
                .isEqualTo("1 faults");
    }

    @Test
    void whatNobodyCanTellIsNotClean() throws Exception {
        List<String> lines = ofTwoReplicas(request -> content(5, 0, request.getPartition()), false);
        assertThat(lines).anyMatch(line -> line.contains("node-7"));
        assertThat(lines).last().asString().startsWith("no faults found, but 1 blocks could not");
        assertThat(ofTwoReplicas(request -> content(5, 1, 0), true)).last().isEqualTo("clean");
    }

    /** One region that says of moved inodes and lent blocks what partition 0 does not. */
    private static List<String> ofSums(AtomicLong sum, long step, boolean expected)
            throws Exception {
        RpcServer.Calls calls =
                new RpcServer.Calls()
                        .on(
                                MetadataCalls.CHECK,
                                request -> {
                                    CheckReply reply = nothing(request);
                                    return request.getPartition() == 0
                                            ? reply
                                            : reply.setHomes(Map.of(1, sum.addAndGet(step)))
                                                    .setLent(Map.of(0, -sum.get()));
                                });
        return ofTwoReplicas(calls, calls, false, expected);
    }

    @Test
    void whatIsJustOnItsWayIsNoFault() throws Exception {
        assertThat(ofSums(new AtomicLong(2), -1, true)).last().isEqualTo("clean");
        assertThat(ofSums(new AtomicLong(7), 0, false))
                .anyMatch(line -> line.contains("partition 1 has other inodes of others'"))
                .anyMatch(line -> line.contains("partition 1 has lent partition 0 other blocks"))
                .last()
                .isEqualTo("2 faults");
    }

    /** Behind what moves all the while there may be a fault. */
    @Test
    void whatDiffersInAnotherWayEachTimeIsNotClean() throws Exception {
        assertThat(ofSums(new AtomicLong(7), 1, false))
                .contains(
                        "  partition 1 has other inodes of others' than partition 0 says: could not be compared, something moves: try again later")
                .last()
                .isEqualTo("no faults found, but 2 comparisons could not be made: try again later");
    }

    private static ReplicaStatus executed(int id, long instance) {
        List<RingStatus> rings =
                Stream.of(0, 1)
                        .map(ring ->
                                new RingStatus(ring, 2, instance, instance, 0, 0).setServes(true))
                        .toList();
        return new ReplicaStatus(id, rings, 0);
    }

    /** A replica with the name in partition 0, or without it still. */
    private static RpcServer.Calls replica(int id, long instance, boolean named) {
        return new RpcServer.Calls()
                .on(MetadataCalls.STATUS, request -> executed(id, instance))
                .on(
                        MetadataCalls.CHECK,
                        request -> {
                            int partition = request.getPartition();
                            CheckReply reply =
                                    named || partition == 1
                                            ? part(partition, FIRST)
                                            : nothing(request);
                            return reply.setPosition(new Position(partition, instance));
                        });
    }

    /** As a replica answers that knows the minimum, and does not get there in time. */
    private static CheckReply refused(CheckRequest request) {
        assertThat(request.getMinimum()).isEqualTo(5);
        throw new IllegalStateException("instance 5 is not reached in 30 s");
    }

    @Test
    void asksNoReplicaThatIsBehindAnother() throws Exception {
        assertThat(ofTwoReplicas(replica(1, 1, false), replica(2, 5, true), false, true))
                .contains("partition 0 global at 5: 1 inodes, 2 names, 0 extents, 0 blocks: agree")
                .last()
                .isEqualTo("clean");
        RpcServer.Calls waits =
                new RpcServer.Calls()
                        .on(MetadataCalls.STATUS, request -> executed(1, 1))
                        .on(MetadataCalls.CHECK, FsckTest::refused);
        assertThat(ofTwoReplicas(waits, replica(2, 5, true), false, true))
                .last()
                .isEqualTo("clean");
    }

    @Test
    void saysThatTheOnlyReplicaThatAnswersIsBehind() {
        RpcServer.Calls dumb =
                new RpcServer.Calls().on(MetadataCalls.STATUS, request -> executed(2, 5));
        assertThatThrownBy(() -> ofTwoReplicas(replica(1, 1, false), dumb, false, true))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("partition 0 global")
                .hasMessageContaining("replica 1 is behind");
    }
}
