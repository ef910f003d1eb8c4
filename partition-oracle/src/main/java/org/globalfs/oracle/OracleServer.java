package org.globalfs.oracle;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.globalfs.oracle.policy.Rules;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.RepeatedTask;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.UseReply;
import org.globalfs.protocol.wire.UseReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partition oracle of a region: says where things are, hears who uses them, and lets trees come
 * to its region as the policy says. Keeps nothing that cannot be lost; the tree in the replicas is
 * the truth.
 */
public final class OracleServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(OracleServer.class);
    private static final long PULL_PERIOD_MS = 1_000;
    private static final long RULES_PERIOD_MS = 10_000;
    private static final long CLOSE_S = 10;

    private final OracleConfig config;
    private final Replicas replicas;
    private final PolicyWatch policy;
    private final RuleFinder finder;
    private final UseMonitor monitor;
    private final UseExchange exchange;
    private final Puller puller;
    private final RpcServer server;
    private final ScheduledExecutorService timer =
            Executors.newScheduledThreadPool(
                    2, Thread.ofPlatform().daemon().name("oracle-", 1).factory());
    private final ScheduledExecutorService pulls =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("oracle-pull").factory());
    private long rulesDueMs;

    /**
     * Whether the monitor has the rules of the policy in force, and where their directories are.
     */
    private volatile boolean rulesFound;

    private boolean complained;

    private OracleServer(OracleConfig config, Discovery discovery, PolicyWatch policy)
            throws IOException {
        this.config = config;
        this.policy = policy;
        NearestReplicas nearest =
                new NearestReplicas(
                        config.topology(), discovery, config.region(), config.datacenter());
        int own = config.home().partition();
        replicas = new Replicas(nearest);
        TreeReader tree = new TreeReader(replicas);
        Locator locator = new Locator(config.topology(), tree, nearest, config.policy());
        finder = new RuleFinder(locator, tree);
        LongSupplier clock = () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        monitor =
                new UseMonitor(
                        config.region(),
                        own,
                        regions(config),
                        Rules.of(policy.policy().root()),
                        clock);
        exchange = new UseExchange(config.region(), discovery, monitor);
        puller =
                new Puller(
                        monitor,
                        this::findRules,
                        tree,
                        new MoveCommands(replicas, own),
                        own,
                        config.region(),
                        clock);
        Explainer explainer =
                new Explainer(config.topology(), own, locator, policy, monitor, () -> rulesFound);
        server =
                RpcServer.start(
                        "oracle of " + config.region(),
                        config.bind(),
                        config.port(),
                        new RpcServer.Calls()
                                .on(OracleCalls.LOCATE, locator::locate)
                                .on(OracleCalls.REPORT_USE, this::reported)
                                .on(OracleCalls.EXPLAIN, explainer::explain));
    }

    /**
     * Serves and registers.
     *
     * @throws IOException names the address when it cannot be listened on
     * @throws ConfigException the policy's file is wrong
     */
    public static OracleServer start(OracleConfig config, Discovery discovery)
            throws IOException, ConfigException {
        PolicyWatch policy = new PolicyWatch(config.policyFile(), regions(config));
        OracleServer oracle = new OracleServer(config, discovery, policy);
        discovery.register(
                new Member(
                        Role.ORACLE,
                        config.region(),
                        config.region(),
                        config.home().partition(),
                        config.datacenter(),
                        new HostPort(config.advertise(), oracle.port()),
                        Map.of("placement", "/: " + config.policy().of("/").word())));
        oracle.repeat(oracle.timer, config.reportPeriodMs(), oracle.exchange::tell);
        oracle.repeat(oracle.timer, PULL_PERIOD_MS, oracle::lookAtPolicy);
        oracle.repeat(oracle.pulls, PULL_PERIOD_MS, oracle.puller::pull);
        return oracle;
    }

    private static Set<String> regions(OracleConfig config) {
        return config.topology().regions().stream()
                .map(Topology.Region::name)
                .collect(Collectors.toSet());
    }

    private void repeat(ScheduledExecutorService on, long periodMs, Runnable task) {
        ScheduledFuture<?> _ =
                on.scheduleWithFixedDelay(
                        new RepeatedTask(LOG, "the oracle of " + config.region(), task),
                        periodMs,
                        periodMs,
                        TimeUnit.MILLISECONDS);
    }

    /** Rules are about paths, which come to be other directories. */
    private void lookAtPolicy() {
        rulesDueMs -= PULL_PERIOD_MS;
        if (!policy.look() && rulesDueMs > 0) {
            return;
        }
        rulesDueMs = findRules() ? RULES_PERIOD_MS : 0;
    }

    /** One at a time: what was found last is what counts. */
    private synchronized boolean findRules() {
        Optional<RuleFinder.Found> found = finder.find(policy.policy());
        found.ifPresent(monitor::rules);
        rulesFound = found.isPresent();
        if (!rulesFound && !complained) {
            LOG.warn(
                    "not all rules' directories are found, as replicas do not answer: nothing"
                            + " moves to {} until they are",
                    config.region());
        } else if (rulesFound && complained) {
            LOG.info("all rules' directories are found again");
        }
        complained = !rulesFound;
        return rulesFound;
    }

    private UseReply reported(UseReport report) {
        Optional<Topology.Region> region = config.topology().region(report.getRegion());
        List<DirectoryUse> uses = report.getDirectories();
        region.ifPresent(known -> monitor.report(known.partition(), uses));
        return new UseReply(Math.toIntExact(config.reportPeriodMs()));
    }

    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
        puller.close();
        timer.shutdownNow();
        pulls.shutdownNow();
        exchange.close();
        try {
            if (!pulls.awaitTermination(CLOSE_S, TimeUnit.SECONDS)) {
                LOG.warn("a move to {} does not end", config.region());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        replicas.close();
    }
}
