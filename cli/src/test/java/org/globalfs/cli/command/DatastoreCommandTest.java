package org.globalfs.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.storage.DatastoreOperator;
import org.globalfs.cli.storage.ProgressView;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.EmbeddedZooKeeper;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command against six storage nodes that know each other by a real ZooKeeper. */
@Timeout(300)
class DatastoreCommandTest {
    private static final String CLUSTER = "demo";
    private static final int CONTENT_BYTES = 1_000_000;

    @TempDir Path folder;
    private final Map<String, StorageNode> nodes = new LinkedHashMap<>();
    private EmbeddedZooKeeper zookeeper;
    private ZooKeeperDiscovery discovery;
    private DistributedBlockStore store;

    private record Ended(int code, String output, String error) {}

    @BeforeEach
    void start() throws Exception {
        zookeeper = EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {});
        discovery = ZooKeeperDiscovery.connect(zookeeper.connectString(), CLUSTER, 30_000);
        store = new DistributedBlockStore(CLUSTER, "us-west", discovery, discovery);
        for (String id : List.of("a1", "a2", "b1", "b2", "c1", "c2")) {
            start(id);
        }
        await().until(() -> discovery.newest().nodes().size() == 6);
        await().until(() -> discovery.members(Role.STORAGE).size() == 6);
        byte[] content = new byte[CONTENT_BYTES];
        new Random(4711).nextBytes(content);
        var _ = store.put(1, ByteBuffer.wrap(content));
    }

    private void start(String id) throws IOException {
        start(id, new RepairOptions(3_600_000, Long.MAX_VALUE, 100));
    }

    private void start(String id, RepairOptions repairs) throws IOException {
        StorageNode node =
                StorageNode.start(
                        new StorageNode.Options(
                                        CLUSTER,
                                        id,
                                        "us-west",
                                        1,
                                        id.substring(0, 1),
                                        new HostPort("127.0.0.1", 0),
                                        folder.resolve(id),
                                        0)
                                .reserving(DiskReserve.exactly(0)),
                        discovery,
                        discovery,
                        ScrubOptions.NEVER,
                        repairs,
                        store::chunk);
        nodes.put(id, node);
    }

    private void stop(String id) throws IOException {
        nodes.remove(id).close();
        discovery.unregister(Role.STORAGE, id);
        await().until(() ->
                discovery.members(Role.STORAGE).stream()
                        .noneMatch(member -> member.id().equals(id)));
    }

    @AfterEach
    void stop() throws IOException {
        for (StorageNode node : nodes.values()) {
            node.close();
        }
        store.close();
        discovery.close();
        zookeeper.close();
    }

    private void damage(String id, long offset) throws IOException {
        try (DirectoryStream<Path> segments =
                Files.newDirectoryStream(folder.resolve(id), "segment-*")) {
            try (FileChannel file =
                    FileChannel.open(
                            segments.iterator().next(),
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE)) {
                ByteBuffer one = ByteBuffer.allocate(1);
                file.read(one, offset);
                one.put(0, (byte) ~one.get(0));
                file.write(one.flip(), offset);
            }
        }
    }

    private Ended datastore(String... arguments) throws IOException {
        Path config = folder.resolve("server.yaml");
        Files.writeString(
                config,
                """
                cluster: %s
                zookeeper: %s
                data: data
                region: us-west
                datacenter: a
                roles:
                  storage:
                    - id: a1
                      port: 1
                topology:
                  - region: us-west
                    partition: 1
                    replicas:
                      - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
                """
                        .formatted(CLUSTER, zookeeper.connectString()));
        String[] all = new String[arguments.length + 3];
        all[0] = "datastore";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--config";
        all[arguments.length + 2] = config.toString();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream error = new ByteArrayOutputStream();
        PrintStream outBefore = System.out;
        PrintStream errorBefore = System.err;
        System.setOut(new PrintStream(out, true, UTF_8));
        System.setErr(new PrintStream(error, true, UTF_8));
        try {
            int code = GlobalFsCommand.commandLine(all).execute(all);
            return new Ended(code, out.toString(UTF_8), error.toString(UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errorBefore);
        }
    }

    @Test
    void scrubFindsAndMendsOnAllNodesOrThoseNamed() throws IOException {
        byte[] content = new byte[CONTENT_BYTES];
        var _ = store.put(1, ByteBuffer.wrap(content));
        damage("b2", 100_000);
        damage("c1", 400_000); // of another block, so that the mending of one finds no other
        Ended all = datastore("scrub");
        assertThat(all.code).as(all.error).isEqualTo(ExitCode.OK);
        assertThat(all.output)
                .containsPattern("a1  100 %  488\\.\\d KiB read in .*, 0 damaged, 0 mended")
                .containsPattern("b2  100 %  .*, 1 damaged, 1 mended")
                .containsPattern("c1  100 %  .*, 1 damaged, 1 mended");
        assertThat(all.output.lines().filter(line -> line.contains("100 %"))).hasSize(6);

        Ended two = datastore("scrub", "b2", "a2", "--bandwidth", "100M");
        assertThat(two.code).isEqualTo(ExitCode.OK);
        assertThat(two.output).contains("b2  100 %").contains("0 damaged").doesNotContain("c1");
        assertThat(two.output.lines().filter(line -> line.contains("100 %"))).hasSize(2);
    }

    @Test
    void scrubThatIsNotWaitedForGoesOnAndIsJoined() throws IOException {
        Ended begun = datastore("scrub", "a1", "--no-wait", "--bandwidth", "1");
        assertThat(begun.code).isEqualTo(ExitCode.OK);
        assertThat(begun.output).contains("a1: reads all its chunks, at most 1 B a second");
        Ended again = datastore("scrub", "a1", "--no-wait");
        assertThat(again.output).contains("a1: a pass runs already, and was joined");
        Ended hurried = datastore("scrub", "a1", "--bandwidth", "1G");
        assertThat(hurried.code).isEqualTo(ExitCode.OK);
        assertThat(hurried.output).contains("a1  100 %");
    }

    @Test
    void repairGoesThroughAllChunks() throws IOException {
        Ended ended = datastore("repair");
        assertThat(ended.code).as(ended.error).isEqualTo(ExitCode.OK);
        assertThat(ended.output.lines())
                .hasSize(6)
                .allMatch(line ->
                        line.matches(
                                "[abc][12]  100 %  pass \\d+: 1 chunk looked at in .*, 0 moved, 0 made anew"));
    }

    @Test
    void whoIsAwayWithinItsGraceIsNamed() throws IOException {
        stop("c2");
        Ended repair = datastore("repair");
        assertThat(repair.code).isEqualTo(ExitCode.OK);
        assertThat(repair.output)
                .contains("c2 is down, and left out")
                .containsPattern(
                        "c2 is away, .*repairGrace.*: 1 chunk of it not made anew before (59 min|1 h 00)");
        Ended named = datastore("repair", "c2");
        assertThat(named.code).isEqualTo(ExitCode.FAILED);
        assertThat(named.error).contains("c2 is down: start it first");
    }

    @Test
    void whatCannotBeMadeIsNamed() throws IOException {
        for (String id : List.of("a1", "b1", "c1")) {
            stop(id);
        }
        Ended repair = datastore("repair");
        assertThat(repair.code).isEqualTo(ExitCode.FAILED);
        assertThat(repair.error)
                .containsPattern("[abc]2 knows 1 block of which too few chunks are there");
        assertThat(repair.output).containsPattern("[abc]2: block [0-9a-f]{32}: 3 of its chunks");
    }

    @Test
    void nodesOfAnOlderVersionAreNamed() throws Exception {
        Thread serving;
        try (ServerSocket old = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            serving = Thread.ofVirtual().start(() -> serveAsOlderVersion(old));
            discovery.register(
                    new Member(
                            Role.STORAGE,
                            "old",
                            "us-west",
                            1,
                            "a",
                            new HostPort("127.0.0.1", old.getLocalPort()),
                            Map.of()));
            await().until(() -> discovery.members(Role.STORAGE).size() == 7);
            for (String command : List.of("scrub", "repair")) {
                Ended ended = datastore(command, "old");
                assertThat(ended.code).isEqualTo(ExitCode.FAILED);
                assertThat(ended.error).contains("old is of an older version: upgrade it");
            }
            discovery.unregister(Role.STORAGE, "old");
        }
        serving.join();
    }

    /** As nodes answer that know opcodes up to 8. */
    private static void serveAsOlderVersion(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                DataInputStream in = new DataInputStream(socket.getInputStream());
                while (true) {
                    byte[] head = in.readNBytes(Frame.HEADER_BYTES);
                    if (head.length < Frame.HEADER_BYTES) {
                        break;
                    }
                    Frame.Header request = Frame.header(ByteBuffer.wrap(head), 0);
                    in.skipNBytes(request.metaBytes() + request.payloadBytes());
                    boolean hello = request.opcode() == Opcode.HELLO.code();
                    ByteBuffer reply = ByteBuffer.allocate(200);
                    int start = Frame.begin(reply);
                    if (hello) {
                        reply.putInt(Frame.PROTOCOL_VERSION);
                        Frame.writeString(reply, "old");
                    }
                    Frame.end(
                            reply,
                            start,
                            hello ? Opcode.HELLO : Opcode.PING,
                            hello ? ChunkStatus.OK : ChunkStatus.BAD_REQUEST,
                            request.request(),
                            0,
                            0);
                    socket.getOutputStream().write(reply.array(), 0, reply.position());
                }
            } catch (IOException e) {
                assertThat(e).as("of a closed socket").isNotNull();
            }
        }
    }

    @Test
    void nonsenseIsRefused() throws IOException {
        Ended unknown = datastore("scrub", "nobody");
        assertThat(unknown.code).isEqualTo(ExitCode.USAGE);
        assertThat(unknown.error).contains("no storage node 'nobody' is known: a1, a2");
        assertThat(datastore("scrub", "--bandwidth", "fast").code).isEqualTo(ExitCode.USAGE);
        assertThat(datastore("scrub", "--bandwidth", "0").code).isEqualTo(ExitCode.USAGE);
    }

    private Ended datastoreSoon(String... arguments) {
        AtomicReference<Ended> ended = new AtomicReference<>();
        await().atMost(Duration.ofSeconds(60))
                .until(() -> {
                    ended.set(datastore(arguments));
                    return ended.get().code == ExitCode.OK;
                });
        return ended.get();
    }

    /** The block that was put in the beginning is as wide as the region. */
    @Test
    void aNodeWhoseChunksOfAnEarlierCodeHaveNowhereToGoIsNotDrained() throws IOException {
        assertThat(datastore("code", "--regional", "2+2").code).isEqualTo(ExitCode.OK);
        Ended refused = datastore("drain", "a1", "--no-wait");
        assertThat(refused.code).isEqualTo(ExitCode.FAILED);
        assertThat(refused.error).contains("without a1", "RS(4,2) needs 6 storage nodes");
        assertThat(discovery.newest().lists("a1")).isTrue();
        start("a3");
        await().until(() -> discovery.members(Role.STORAGE).size() == 7);
        Ended drained = datastore("drain", "a1");
        assertThat(drained.code).as(drained.error).isEqualTo(ExitCode.OK);
        assertThat(drained.output).contains("a1 holds nothing any more", "100 %", "given away in");
        assertThat(nodes.get("a1").statistics().chunks()).isZero();
    }

    /** As one that is busy, or started again, perhaps at another address. */
    @Test
    void aDrainWaitsForANodeThatIsSilentForAWhile() throws Exception {
        for (int i = 0; i < 10; i++) {
            var _ = store.put(1, ByteBuffer.wrap(new byte[CONTENT_BYTES]));
        }
        stop("a1");
        start("a1", new RepairOptions(3_600_000, 1, 100)); // one chunk, and then none for hours
        start("a3");
        await().until(() -> discovery.members(Role.STORAGE).size() == 7);
        List<String> lines = new CopyOnWriteArrayList<>();
        List<ProgressView.Row> rows = new CopyOnWriteArrayList<>();
        ProgressView view =
                new ProgressView() {
                    @Override
                    public void show(List<Row> shown) {
                        rows.addAll(shown);
                    }

                    @Override
                    public void say(String line) {
                        lines.add(line);
                    }
                };
        DatastoreOperator operator = new DatastoreOperator(CLUSTER, discovery, lines::add, view);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> drain =
                    thread.submit(() -> {
                        operator.drain("a1", true);
                        return null;
                    });
            await().until(() -> rows.stream().anyMatch(row -> row.done() > 0));
            stop("a1");
            await().until(() ->
                    drain.isDone() || rows.getLast().text().startsWith("does not answer"));
            start("a1");
            drain.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
        assertThat(lines.getLast()).startsWith("a1 holds nothing any more");
        assertThat(rows.getLast().done()).isEqualTo(1);
        assertThat(rows.getLast().over()).isTrue();
    }

    @Test
    void whoHasNoBandwidthForRepairIsNotDrainedAndNamed() throws IOException {
        start("a3");
        stop("c2");
        start("c2", RepairOptions.NEVER);
        await().until(() -> discovery.members(Role.STORAGE).size() == 7);
        Ended refused = datastore("drain", "c2");
        assertThat(refused.code).isEqualTo(ExitCode.FAILED);
        assertThat(refused.error).contains("c2", "repairBandwidth is 0: set it above 0");
        assertThat(discovery.newest().lists("c2")).isTrue();
        assertThat(datastoreSoon("drain", "a3").output).contains("a3 holds nothing any more");
        assertThat(datastore("readmit", "a3").output)
                .contains("repairBandwidth is 0", "start those again: c2");
    }

    /** There only what comes first of a description is shown. */
    @Test
    void theListOfCommandsHasWholeSentences() throws IOException {
        assertThat(datastore("--help").output).doesNotContain("elsewhere, now;");
    }

    @Test
    void whoHasNoBandwidthForRepairTakesItsPlaceWhenItIsReadmitted() throws IOException {
        discovery.change(epoch -> epoch.drain("a3")); // before the others give it anything
        start("a3", RepairOptions.NEVER);
        await().until(() -> discovery.members(Role.STORAGE).size() == 7);
        assertThat(datastore("drain", "a3").output).contains("a3 holds nothing any more");
        assertThat(datastore("readmit", "a3").code).isEqualTo(ExitCode.OK);
        assertThat(datastore("readmit", "a3").output).contains("a3 is not drained");
        await().until(() -> discovery.newest().lists("a3"));
    }
}
