package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.replica.state.store.StateOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replica 1 of a region, and what the other two say of who its ring's replicas are. */
class RingClaimTest {

    private static final List<Integer> RIGHT = List.of(1, 2, 3);
    private static final List<Integer> WRONG = List.of(2, 3, 4);

    @TempDir Path folder;

    private final Map<Integer, List<Integer>> said = new ConcurrentHashMap<>();

    /** They hold no state that their ring keeps up to date. */
    private final Set<Integer> behind = ConcurrentHashMap.newKeySet();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private RingClaim claim;

    @BeforeEach
    void open() throws IOException {
        List<Topology.ReplicaSite> sites = new ArrayList<>();
        for (int id : RIGHT) {
            RpcServer.Calls calls =
                    new RpcServer.Calls().on(MetadataCalls.STATUS, request -> status(id));
            RpcServer server = RpcServer.start("replica " + id, "127.0.0.1", 0, calls);
            opened.add(server);
            HostPort address = new HostPort("127.0.0.1", server.port());
            sites.add(new Topology.ReplicaSite(id, "dc" + id, address, address));
        }
        Topology topology = new Topology("test", List.of(new Topology.Region("region1", 1, sites)));
        HostedPartition partition = new HostedPartition(folder, 1, StateOptions.defaults(), false);
        opened.add(partition);
        Map<Integer, List<Integer>> first = Map.of(1, RIGHT);
        Map<Integer, HostedPartition> partitions = Map.of(1, partition);
        RingPeers peers = new RingPeers(1, topology, new InMemoryDiscovery(), first, partitions);
        opened.add(peers);
        claim = new RingClaim(1, 1, first, peers, partitions);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
    }

    private ReplicaStatus status(int id) {
        List<Integer> acceptors = said.get(id);
        if (acceptors == null) {
            throw new IllegalStateException("not yet");
        }
        RingStatus ring =
                new RingStatus(1, 2, 0, 0, 0, 0)
                        .setGeneration(0)
                        .setAcceptors(acceptors)
                        .setServes(!behind.contains(id));
        return new ReplicaStatus(id, List.of(ring), 0);
    }

    @Test
    void stopsWhereNobodyAgrees() {
        assertThatCode(claim::tick).doesNotThrowAnyException();
        said.put(2, WRONG);
        assertThatThrownBy(claim::tick)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("replica 1 is none of the replicas of ring 1");
    }

    @Test
    void goesOnWhereOneAgrees() {
        said.put(2, WRONG);
        said.put(3, RIGHT);
        assertThatCode(claim::tick).doesNotThrowAnyException();
    }

    @Test
    void goesOnWhereOneAgreedBefore() {
        said.put(3, RIGHT);
        assertThatCode(claim::tick).doesNotThrowAnyException();
        said.remove(3);
        said.put(2, WRONG);
        assertThatCode(claim::tick).doesNotThrowAnyException();
    }

    @Test
    void stopsWhereOnlyOneAgreesWhoServesNothing() {
        said.put(3, RIGHT);
        behind.add(3);
        assertThatCode(claim::tick).doesNotThrowAnyException();
        said.put(2, WRONG);
        assertThatThrownBy(claim::tick).isInstanceOf(IOException.class);
    }

    /** Nothing was served or stored yet: what is wrong can be mended first, whoever has it. */
    @Test
    void doesNotBeginWhereOneSaysOtherwise() {
        said.put(2, WRONG);
        said.put(3, RIGHT);
        assertThatThrownBy(claim::checkAtFirst)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("[2, 3, 4]");
    }
}
