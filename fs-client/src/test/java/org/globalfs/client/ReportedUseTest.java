package org.globalfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Explanation;
import org.globalfs.client.vfs.FsException;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.ExplainReply;
import org.globalfs.protocol.wire.ExplainRequest;
import org.globalfs.protocol.wire.RegionUse;
import org.globalfs.protocol.wire.UseReply;
import org.globalfs.protocol.wire.UseReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the library does reaches the oracle of its region, before real replicas. */
@Timeout(120)
class ReportedUseTest {
    private static final int FILES = 5;

    @TempDir Path folder;

    /** By inode; guarded by itself. */
    private final Map<Long, DirectoryUse> heard = new HashMap<>();

    private UseReply hear(UseReport report) {
        synchronized (heard) {
            for (DirectoryUse use : report.getDirectories()) {
                heard.merge(
                        use.getIno(),
                        use,
                        (before, now) ->
                                now.setReads(before.getReads() + now.getReads())
                                        .setWrites(before.getWrites() + now.getWrites()));
            }
        }
        return new UseReply(200);
    }

    private DirectoryUse use(long ino) {
        synchronized (heard) {
            DirectoryUse use = heard.getOrDefault(ino, new DirectoryUse(ino, 0, 0, 0, 0));
            return new DirectoryUse(use).setPolicy(null);
        }
    }

    private static ExplainReply explain(ExplainRequest request) {
        if (request.getIno() == 1) {
            return new ExplainReply(Errno.EAGAIN.number());
        }
        return new ExplainReply(0)
                .setPartition(1)
                .setRule("threshold")
                .setRegions(List.of(new RegionUse("region2", 7, 0.5)))
                .setVerdict("inode " + request.getIno() + " stays:\nit is at home");
    }

    private RpcServer oracle(LocalCluster cluster) throws IOException {
        RpcServer server =
                RpcServer.start(
                        "oracle",
                        "127.0.0.1",
                        0,
                        new RpcServer.Calls()
                                .on(OracleCalls.REPORT_USE, this::hear)
                                .on(OracleCalls.EXPLAIN, ReportedUseTest::explain));
        HostPort address = new HostPort("127.0.0.1", server.port());
        cluster.discovery.register(
                new Member(Role.ORACLE, "region1", "region1", 1, "dc1", address, Map.of()));
        return server;
    }

    private static Caller root() {
        return Caller.of(0, 0, new int[0], System.nanoTime() + 60_000_000_000L);
    }

    @Test
    void readsAndWritesArriveByDirectoryAndTheOracleExplains() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 2)) {
            RpcServer server = oracle(cluster);
            try (server;
                    GlobalFsClient west = cluster.connect(1);
                    GlobalFsClient east = cluster.connect(2)) {
                PathOperations paths = west.paths(0, 0);
                paths.makeDirectory("/home", 0755);
                paths.makeDirectory("/home/d0", 0755);
                paths.makeDirectory("/home/d1", 0755);
                for (int i = 0; i < FILES; i++) {
                    paths.write("/home/d0/f" + i, ("text " + i).getBytes(StandardCharsets.UTF_8));
                }
                for (int i = 0; i < FILES; i++) {
                    assertThat(paths.read("/home/d0/f" + i)).hasSize(6);
                }
                paths.rename("/home/d0/f1", "/home/d1/f1");
                assertThat(paths.read("/home/d1/f1")).hasSize(6);
                long home = paths.stat("/home").ino();
                long first = paths.stat("/home/d0").ino();
                long second = paths.stat("/home/d1").ino();

                // Create and write of each file and the rename; lookup, stat, open and read of each
                // file and stat of the directory itself.
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> {
                            assertThat(use(first))
                                    .isEqualTo(
                                            new DirectoryUse(
                                                            first,
                                                            home,
                                                            1,
                                                            4 * FILES + 1,
                                                            2 * FILES + 1)
                                                    .setAstray(0));
                            assertThat(use(second))
                                    .isEqualTo(
                                            new DirectoryUse(second, home, 1, 5, 1).setAstray(0));
                            assertThat(use(home).getParent()).isEqualTo(1);
                            assertThat(use(home).getWrites()).isEqualTo(2);
                            assertThat(use(1).getWrites()).isEqualTo(1);
                        });
                assertThat(use(home).getPartition()).isEqualTo(1);
                assertThat(use(1).getParent()).isEqualTo(1);
                assertThat(use(1).getPartition()).isZero();
                explains(west, east, first);
            }
            assertThat(cluster.fatal).isEmpty();
        }
    }

    private static void explains(GlobalFsClient west, GlobalFsClient east, long ino)
            throws FsException {
        Explanation explanation = west.fileSystem().explain(root(), ino);
        assertThat(explanation)
                .isEqualTo(
                        new Explanation(
                                "region1",
                                "threshold",
                                List.of(new Explanation.Use("region2", 7, 0.5)),
                                "inode " + ino + " stays:\nit is at home"));
        assertThat(Explanation.parse(explanation.lines())).isEqualTo(explanation);
        assertThatThrownBy(() -> west.fileSystem().explain(root(), 1))
                .isInstanceOfSatisfying(
                        FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EAGAIN));
        assertThatThrownBy(() -> east.fileSystem().explain(root(), ino))
                .hasMessageContaining(
                        "no partition oracle of region region2 is announced: is one running?");
    }

    /** Operations go on meanwhile. */
    @Test
    void countsComeAgainOnceTheOracleIsBack() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder, 1)) {
            try (GlobalFsClient client = cluster.connect(1)) {
                PathOperations paths = client.paths(0, 0);
                paths.makeDirectory("/home", 0755);
                long home = paths.stat("/home").ino();
                for (int round = 0; round < 2; round++) {
                    paths.write("/home/f", new byte[10]);
                    long before = use(home).getWrites();
                    RpcServer server = oracle(cluster);
                    try (server) {
                        await().atMost(Duration.ofSeconds(50))
                                .until(() -> {
                                    paths.write("/home/f", new byte[10]);
                                    return use(home).getWrites() > before;
                                });
                    }
                }
            }
            assertThat(cluster.fatal).isEmpty();
        }
    }
}
