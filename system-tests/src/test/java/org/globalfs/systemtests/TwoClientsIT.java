package org.globalfs.systemtests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What two clients in different regions may rely on: locks, appends, files that are unlinked,
 * renamed or rewritten under somebody, and what becomes of a client that dies or is cut off.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class TwoClientsIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final String A = "us-west";
    private static final String B = "us-east";

    private LocalCluster cluster;
    private Path scratch;
    private Path rules;
    private long inodes;
    private Program unlinked;

    /** A rule's program that runs while the test goes on. */
    private record Program(Process process, BufferedReader output) {
        void awaitLine(String expected) throws IOException {
            String line = output.readLine();
            assertThat(line).isEqualTo(expected);
        }

        void goOn() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        void awaitEnd() throws Exception {
            String rest = String.join("\n", output.lines().toList());
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(rest).isTrue();
            assertThat(process.exitValue()).as(rest).isZero();
        }
    }

    @BeforeAll
    void start() throws Exception {
        scratch = Files.createTempDirectory("globalfs-clients-");
        rules = scratch.resolve("rules.py");
        try (InputStream in = TwoClientsIT.class.getResourceAsStream("/two-clients/rules.py")) {
            Files.write(rules, Objects.requireNonNull(in).readAllBytes());
        }
        cluster = LocalCluster.start("clients", "-Dglobalfs.orphan.grace=" + LEASE.toSeconds());
        for (String region : List.of(A, B)) {
            Files.writeString(
                    cluster.data().resolve("config").resolve("mount-" + region + ".yaml"),
                    "mount:\n  sessionLease: " + LEASE.toSeconds() + "s\n",
                    StandardOpenOption.APPEND);
            String unmount = "umount '" + cluster.mount(region) + "'";
            Shell.bash(Duration.ofSeconds(30), Path.of("/"), unmount).orFail();
        }
        cluster.restart("mount-" + A, "mount-" + B);
        Shell.bash(LIMIT, cluster.mount(A), "mkdir two; : > two-global").orFail();
        cluster.awaitSeen("two", "two-global");
        inodes = inodes();
        unlinked = begin("unlinked");
        unlinked.awaitLine("open");
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
        Shell.bash(Duration.ofSeconds(30), Path.of("/"), "rm -rf '" + scratch + "'");
    }

    private List<String> line(String rule) {
        return List.of(
                "python3",
                rules.toString(),
                rule,
                cluster.mount(A).toString(),
                cluster.mount(B).toString());
    }

    private Program begin(String rule) throws IOException {
        Process process =
                new ProcessBuilder(line(rule))
                        .directory(scratch.toFile())
                        .redirectErrorStream(true)
                        .start();
        return new Program(process, process.inputReader(UTF_8));
    }

    private long inodes() {
        String used = Shell.bash(LIMIT, cluster.mount(A), "df --output=iused . | tail -1").orFail();
        return Long.parseLong(used.strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "exclusion",
                "waiting",
                "deadlock",
                "interruption",
                "signals",
                "resizing",
                "mapped_beside",
                "rename",
                "appending",
                "appended_in_place",
                "tailing",
                "rewriting",
                "along",
                "sqlite"
            })
    @Order(1)
    void rule(String rule) {
        System.out.print(Shell.run(LIMIT, scratch, line(rule)).orFail());
    }

    /** A client that is silent for longer than its lease has lost its locks, and knows. */
    @Test
    @Order(2)
    void aClientThatIsCutOffLosesItsLocks() throws Exception {
        Program holder = begin("hold");
        holder.awaitLine("holding");
        String mount = "mount-" + B;
        signal("STOP", mount);
        long sinceNs = System.nanoTime();
        Program taker = begin("take");
        taker.awaitLine("ok take");
        taker.awaitEnd();
        assertThat(Duration.ofNanos(System.nanoTime() - sinceNs))
                .isBetween(Duration.ofSeconds(1), LEASE.plusSeconds(10));
        signal("CONT", mount);
        Path log = cluster.data().resolve("log").resolve(mount + ".log");
        LocalCluster.await(
                LIMIT,
                () -> Shell.bash(LIMIT, log.getParent(), "grep -q 'has run out' " + log).ok(),
                () -> "the client does not notice that its lease has run out");
        holder.goOn();
        holder.awaitLine("lost and found");
        holder.awaitEnd();
    }

    @Test
    @Order(3)
    void aClientThatDiesLeavesItsLocksWithItsLease() throws Exception {
        Program holder = begin("hold");
        holder.awaitLine("holding");
        signal("KILL", "mount-" + B);
        long sinceNs = System.nanoTime();
        Program taker = begin("take");
        taker.awaitLine("ok take");
        taker.awaitEnd();
        assertThat(Duration.ofNanos(System.nanoTime() - sinceNs)).isLessThan(LEASE.plusSeconds(10));
        holder.process.destroyForcibly();
        cluster.restart("mount-" + B);
    }

    /** What a dead client had open goes with its lease; an unlinked file with its last close. */
    @Test
    @Order(4)
    void unlinkedFilesLiveUntilTheLastClose() throws Exception {
        unlinked.goOn();
        unlinked.awaitLine("ok unlinked");
        unlinked.awaitEnd();
        Shell.bash(LIMIT, cluster.mount(A), "rm -rf two two-global").orFail();
        LocalCluster.await(
                Duration.ofSeconds(100),
                () -> inodes() <= inodes - 2,
                () -> "inodes: " + inodes() + " of " + inodes + " are left");
        cluster.awaitEqualHashes(LIMIT);
    }

    private void signal(String name, String process) {
        String script = "kill -" + name + " $(cat run/" + process + ".pid)";
        Shell.bash(Duration.ofSeconds(10), cluster.data(), script).orFail();
    }
}
