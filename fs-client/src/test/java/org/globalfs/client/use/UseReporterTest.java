package org.globalfs.client.use;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcHandler;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.UseReply;
import org.globalfs.protocol.wire.UseReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reports to an oracle that notes them, over real sockets. */
@Timeout(60)
class UseReporterTest {
    private static final String REGION = "us-west";
    private static final int PERIOD_MS = 100;

    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private final UseCounts counts = new UseCounts(_ -> 3);
    private final RegionOracle oracle = new RegionOracle(discovery, REGION);
    private final Map<Long, String> policies = new ConcurrentHashMap<>();
    private final UseReporter reporter = new UseReporter(counts, policies::get, oracle, 1, 50);
    private final List<UseReport> reports = new CopyOnWriteArrayList<>();

    @AfterEach
    void end() {
        reporter.close();
        oracle.close();
    }

    private RpcServer serve(RpcHandler<UseReport, UseReply> handler) throws IOException {
        RpcServer.Calls calls = new RpcServer.Calls().on(OracleCalls.REPORT_USE, handler);
        return RpcServer.start("oracle", "127.0.0.1", 0, calls);
    }

    private UseReply note(UseReport report) {
        reports.add(report);
        return new UseReply(PERIOD_MS);
    }

    private void announce(String region, int port) {
        HostPort address = new HostPort("127.0.0.1", port);
        discovery.register(new Member(Role.ORACLE, region, region, 1, "a", address, Map.of()));
    }

    /** Reads on until somebody has noticed. */
    private void readUntil(Callable<Boolean> noticed) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> {
                    counts.readIn(1);
                    return noticed.call();
                });
    }

    private void awaitReport() {
        int before = reports.size();
        readUntil(() -> reports.size() > before);
    }

    @Test
    void whatIsCountedComesOnceAndNothingElse() throws IOException {
        try (RpcServer server = serve(this::note)) {
            announce(REGION, server.port());
            awaitReport();
            counts.found(2, 1, true);
            counts.writeIn(2);
            await().until(() -> reports.getLast().getDirectories().size() == 2);

            assertThat(reports)
                    .allSatisfy(report -> {
                        assertThat(report.getRegion()).isEqualTo(REGION);
                        assertThat(report.getDirectories())
                                .isNotEmpty()
                                .allSatisfy(use -> {
                                    assertThat(use.getPartition()).isEqualTo(3);
                                    assertThat(use.getParent()).isEqualTo(1);
                                });
                    });
            assertThat(
                            reports.stream()
                                    .flatMap(report -> report.getDirectories().stream())
                                    .filter(use -> use.getIno() == 2))
                    .singleElement()
                    .satisfies(use -> assertThat(use.getWrites()).isEqualTo(1));
        }
    }

    @Test
    void whatDirectoriesSayOfThemselvesGoesAlong() throws IOException {
        policies.put(1L, "");
        policies.put(2L, "move: eager");
        counts.found(2, 1, true);
        counts.found(3, 2, true);
        try (RpcServer server = serve(this::note)) {
            announce(REGION, server.port());
            awaitReport();
            counts.writeIn(3);
            await().until(() -> reports.getLast().getDirectories().size() == 3);
            assertThat(reports.getLast().getDirectories())
                    .extracting(DirectoryUse::getIno, DirectoryUse::getPolicy)
                    .contains(tuple(1L, ""), tuple(2L, "move: eager"), tuple(3L, null));
        }
    }

    /** The first one dies while it is announced, the second fails, then none is announced. */
    @Test
    void reportsGoOnAfterAnOracleWasAway() throws IOException {
        RpcServer first = serve(this::note);
        try (first) {
            announce(REGION, first.port());
            awaitReport();
        }
        CountDownLatch failed = new CountDownLatch(1);
        try (RpcServer second = serve(report -> fail(failed))) {
            announce(REGION, second.port());
            readUntil(() -> failed.getCount() == 0);
        }
        discovery.remove(Role.ORACLE, REGION);
        try (RpcServer third = serve(this::note)) {
            announce(REGION, third.port());
            awaitReport();
        }
    }

    private static UseReply fail(CountDownLatch failed) throws IOException {
        failed.countDown();
        throw new IOException("a fault of the oracle's own");
    }

    @Test
    void anotherRegionsOracleHearsNothing() throws IOException {
        List<UseReport> elsewhere = new CopyOnWriteArrayList<>();
        try (RpcServer east =
                        serve(report -> {
                            elsewhere.add(report);
                            return new UseReply(PERIOD_MS);
                        });
                RpcServer west = serve(this::note)) {
            announce("us-east", east.port());
            announce(REGION, west.port());
            awaitReport();
            awaitReport();
            assertThat(elsewhere).isEmpty();
        }
    }

    @Test
    void closingWaitsForNoAnswerAndEndsTheReports() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        RpcServer silent =
                serve(report -> {
                    reports.add(report);
                    asked.countDown();
                    answer.await();
                    return new UseReply(PERIOD_MS);
                });
        try (silent) {
            announce(REGION, silent.port());
            counts.readIn(1);
            asked.await();
            reporter.close();
            oracle.close();
            await().until(() -> threads() == 0);
            answer.countDown();
            assertThat(oracle.client()).isNull();
            assertThat(reports).hasSize(1);
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("use-reporter-" + REGION))
                .count();
    }
}
