package org.globalfs.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.placement.PlacementPolicy;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.ExplainRequest;
import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The oracle before two replicas that answer from a small tree: /west (partition 1) /west/src/a,
 * and /notes in partition 0.
 */
class OracleServerTest {

    private static final int DIRECTORY = 0040000;
    private static final int FILE = 0100000;
    private static final long WEST = 1L << 48 | 7;
    private static final long SRC = 1L << 48 | 8;
    private static final long A = 1L << 48 | 9;
    private static final long NOTES = 5;

    private final Map<String, Long> names = new HashMap<>();
    private final Map<Long, Integer> types = new HashMap<>();
    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private final List<RpcServer> replicas = new ArrayList<>();
    private Topology topology;
    private OracleServer oracle;
    private RpcClient client;

    @BeforeEach
    void start() throws Exception {
        put(1, "west", WEST, DIRECTORY);
        put(WEST, "src", SRC, DIRECTORY);
        put(SRC, "a", A, FILE);
        put(1, "notes", NOTES, FILE);
        types.put(1L, DIRECTORY);
        for (int i = 0; i < 2; i++) {
            replicas.add(
                    RpcServer.start(
                            "replica",
                            "127.0.0.1",
                            0,
                            new RpcServer.Calls().on(MetadataCalls.READ, this::read)));
        }
        List<Topology.Region> regions = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            HostPort rpc = new HostPort("127.0.0.1", replicas.get(i).port());
            HostPort unused = new HostPort("127.0.0.1", 1);
            String name = i == 0 ? "us-west" : "us-east";
            regions.add(
                    new Topology.Region(
                            name,
                            i + 1,
                            List.of(new Topology.ReplicaSite(i + 1, "dc1", unused, rpc))));
            discovery.register(
                    new Member(
                            Role.REPLICA,
                            Integer.toString(i + 1),
                            name,
                            i + 1,
                            "dc1",
                            rpc,
                            Map.of()));
        }
        topology = new Topology("test", regions);
        start(Optional.empty());
    }

    private void start(Optional<Path> policy) throws Exception {
        oracle =
                OracleServer.start(
                        new OracleConfig(
                                topology,
                                "us-east",
                                "dc1",
                                "127.0.0.1",
                                "127.0.0.1",
                                0,
                                PlacementPolicy.standard(),
                                policy,
                                1_000),
                        discovery);
        client = new RpcClient("127.0.0.1", oracle.port());
    }

    @AfterEach
    void stop() {
        client.close();
        oracle.close();
        replicas.forEach(RpcServer::close);
    }

    private void put(long parent, String name, long ino, int type) {
        names.put(parent + "/" + name, ino);
        types.put(ino, type);
    }

    private ReadReply read(ReadRequest request) {
        ReadReply reply = new ReadReply(Status.DONE, 0, new Position(request.getPartition(), 3));
        Long ino;
        if (request.getOp().isSetLookup()) {
            String name =
                    StandardCharsets.UTF_8
                            .decode(request.getOp().getLookup().bufferForName())
                            .toString();
            ino = names.get(request.getOp().getLookup().getParent() + "/" + name);
        } else {
            ino = request.getOp().getGetAttributes().getIno();
        }
        Integer type = ino == null ? null : types.get(ino);
        if (ino == null || type == null) {
            return reply.setErrno(Errno.ENOENT.number());
        }
        if (ino >>> 48 == request.getPartition()) {
            reply.setAttributes(new Attributes(ino, type | 0644, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
        }
        return reply.setIno(ino).setType(type);
    }

    private LocateReply locate(String path) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(path.getBytes(StandardCharsets.UTF_8));
        return client.call(OracleCalls.LOCATE, new LocateRequest().setPath(bytes), 10_000);
    }

    @Test
    void pathIsFoundThroughTheFringe() throws Exception {
        LocateReply reply = locate("/west/src/a");
        assertThat(reply.getErrno()).isZero();
        assertThat(reply.getIno()).isEqualTo(A);
        assertThat(reply.getPartition()).isEqualTo(1);
        assertThat(reply.getUpdates()).containsExactly(1);
        assertThat(reply.getReplica()).isEqualTo(1);
        assertThat(reply.getPlacement()).isEqualTo("inherit");
    }

    @Test
    void updatesOfAFringeNodeTouchBothPartitions() throws Exception {
        LocateReply reply = locate("/west");
        assertThat(reply.getPartition()).isEqualTo(1);
        assertThat(reply.getUpdates()).containsExactly(0, 1);
        assertThat(reply.getPlacement()).isEqualTo("/: creator");
        assertThat(locate("//west/./src/../").getIno()).isEqualTo(WEST);
    }

    @Test
    void globalNodesAreServedNearby() throws Exception {
        LocateReply root = locate("/");
        assertThat(root.getIno()).isEqualTo(1);
        assertThat(root.getPartition()).isZero();
        assertThat(root.getReplica()).isEqualTo(2);
        assertThat(root.getPlacement()).isEqualTo("/: creator");
        assertThat(locate("/notes").getUpdates()).containsExactly(0);
    }

    @Test
    void inodesAreFoundByNumber() throws Exception {
        LocateReply reply =
                client.call(OracleCalls.LOCATE, new LocateRequest().setIno(SRC), 10_000);
        assertThat(reply.getPartition()).isEqualTo(1);
        assertThat(
                        client.call(OracleCalls.LOCATE, new LocateRequest().setIno(99), 10_000)
                                .getErrno())
                .isEqualTo(Errno.ENOENT.number());
        assertThat(
                        client.call(
                                        OracleCalls.LOCATE,
                                        new LocateRequest().setIno(77L << 48 | 1),
                                        10_000)
                                .getErrno())
                .isEqualTo(Errno.ENOENT.number());
    }

    @Test
    void wrongQuestionsGetTheirErrno() throws Exception {
        assertThat(locate("/nowhere").getErrno()).isEqualTo(Errno.ENOENT.number());
        assertThat(locate("/notes/x").getErrno()).isEqualTo(Errno.ENOTDIR.number());
        assertThat(locate("west").getErrno()).isEqualTo(Errno.EINVAL.number());
        assertThat(client.call(OracleCalls.LOCATE, new LocateRequest(), 10_000).getErrno())
                .isEqualTo(Errno.EINVAL.number());
        replicas.get(0).close();
        assertThat(locate("/west/src").getErrno()).isEqualTo(Errno.EAGAIN.number());
    }

    private String verdict() throws Exception {
        ExplainRequest request = new ExplainRequest(1, List.of(new DirectoryUse(1, 1, 0, 0, 0)));
        return client.call(OracleCalls.EXPLAIN, request, 10_000).getVerdict();
    }

    @Test
    void theVerdictSaysThatTheRulesAreNotAllFound(@TempDir Path folder) throws Exception {
        client.close();
        oracle.close();
        Path policy = folder.resolve("policy.yaml");
        Files.writeString(policy, "rules: [{path: /, move: eager}, {path: /west, move: eager}]");
        start(Optional.of(policy));
        await().untilAsserted(() -> assertThat(verdict()).isEqualTo("it is every region's"));
        replicas.getFirst().close();
        Files.writeString(policy, "rules: [{path: /, move: off}, {path: /west, move: off}]");
        await().untilAsserted(() ->
                assertThat(verdict())
                        .startsWith("it is every region's\n")
                        .contains("rules' directories were not all found"));
    }

    @Test
    void takenPortIsNamed() throws Exception {
        try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            OracleConfig config =
                    new OracleConfig(
                            topology,
                            "us-west",
                            "dc1",
                            "127.0.0.1",
                            "127.0.0.1",
                            holder.getLocalPort(),
                            PlacementPolicy.standard(),
                            Optional.empty(),
                            1_000);
            org.assertj.core.api.Assertions.assertThatThrownBy(
                            () -> OracleServer.start(config, discovery))
                    .hasMessageContaining("oracle of us-west")
                    .hasMessageContaining(":" + holder.getLocalPort());
        }
    }
}
