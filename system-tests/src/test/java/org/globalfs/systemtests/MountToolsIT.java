package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What an operator does with one mount: by mount(8) and fstab, looked at, killed, cleaned up. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MountToolsIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Path HELPER =
            Path.of("..", "scripts", "mount.fuse.globalfs").toAbsolutePath().normalize();
    private static final Path LINK = Path.of("/sbin/mount.fuse.globalfs");

    private LocalCluster cluster;
    private Path point;

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("mounttools");
        point = Files.createTempDirectory("globalfs-point-");
    }

    /** A test that failed leaves no mount to those after it. */
    @AfterEach
    void unmountOwn() {
        Shell.bash(
                        LIMIT,
                        Path.of("/"),
                        "! mountpoint -q '%1$s' || umount -l '%1$s'".formatted(point))
                .orFail();
    }

    @AfterAll
    void stop() throws IOException {
        Shell.bash(
                LIMIT,
                Path.of("/"),
                "rmdir '"
                        + point
                        + "'; rm -f /var/log/globalfs"
                        + point.toString().replace('/', '-')
                        + ".log");
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void statsTellWhatWasDone() {
        Path mount = cluster.mount("us-west");
        int before = requests(stats(mount), "MKDIR");
        bash("mkdir d; head -c 300000 /dev/urandom > d/f; cat d/f > /dev/null; rmdir d || true");
        Map<?, ?> stats = stats(mount);
        Map<?, ?> mkdir = operation(stats, "MKDIR");
        assertThat(requests(stats, "MKDIR")).isEqualTo(before + 1);
        assertThat(LocalCluster.number(mkdir, "errors")).isZero();
        assertThat(LocalCluster.number(mkdir, "p99Us"))
                .isBetween(
                        LocalCluster.number(mkdir, "p50Us"), LocalCluster.number(mkdir, "maxUs"));
        assertThat(LocalCluster.number(operation(stats, "RMDIR"), "errors")).isPositive();
        assertThat(LocalCluster.number(stats, "bytesWritten")).isGreaterThanOrEqualTo(300_000);
        assertThat(stats.get("counters")).asString().contains("replicaCalls", "failovers");
        assertThat(run("stats", mount.toString()).orFail()).contains("MKDIR", "P99 ms", "retries");
        assertThat(run("stats", "/tmp").output()).contains("no mount of GlobalFS");
        assertThat(run("stats", mount.resolve("d").toString()).output())
                .contains("d is on the mount " + mount + ": name that");
    }

    @Test
    void traceShowsOperationsAsTheyHappen() throws Exception {
        Path mount = cluster.mount("us-east");
        Path log = Files.createTempFile("globalfs-trace", ".txt");
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of("trace", mount.toString()));
        Process trace =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            LocalCluster.await(
                    LIMIT,
                    () -> {
                        Shell.bash(LIMIT, mount, "mkdir -p 'traced one' && rmdir 'traced one'")
                                .orFail();
                        return read(log)
                                .matches(
                                        "(?s).*MKDIR inode 1 1/traced.x20one uid 0 .*: ok, .* us.*");
                    },
                    () -> read(log));
        } finally {
            trace.destroyForcibly().waitFor();
            Files.delete(log);
        }
    }

    @Test
    void fstabMountsThroughTheHelperAndOneCommandCleansUpAfterAKill() throws IOException {
        String config = cluster.data().resolve("config/mount-us-east.yaml").toString();
        Path fstab = Files.createTempFile("globalfs", ".fstab");
        boolean linked = !Files.exists(LINK);
        if (linked) {
            Files.createSymbolicLink(LINK, HELPER);
        }
        try {
            Files.writeString(
                    fstab, config + " " + point + " fuse.globalfs noauto,_netdev,ro 0 0\n");
            bash("echo here > seen");
            bash("mount --fstab " + fstab + " " + point);
            assertThat(bash("cat " + point + "/seen")).isEqualTo("here\n");
            assertThat(Shell.bash(LIMIT, point, "touch new").output()).contains("Read-only");
            bash("mount --fstab " + fstab + " -o remount,rw " + point);
            assertThat(Shell.bash(LIMIT, point, "touch new").ok()).isTrue();
            bash("mount --fstab " + fstab + " -o remount,ro,noexec " + point);
            assertThat(Shell.bash(LIMIT, point, "touch newer").output()).contains("Read-only");
            assertThat(
                            Shell.bash(LIMIT, Path.of("/"), "mount -o remount,bogus=3 " + point)
                                    .output())
                    .contains("bogus=3 cannot be changed");
            // As of a line in fstab, which says it each time.
            bash("mount -o remount,ro,noexec,threads=3 " + point);
            bash("grep ' " + point + " .*ro,nosuid,nodev,noexec' /proc/mounts && rm new");
            assertThat(stats(point)).isNotEmpty();
            assertThat(processes()).hasSize(2).anyMatch(line -> line.contains("globalfs-guard"));
            bash("umount " + point);
            LocalCluster.await(
                    Duration.ofSeconds(10),
                    () -> processes().isEmpty(),
                    () -> "umount left " + processes());
            assertThat(
                            Shell.bash(
                                            LIMIT,
                                            point,
                                            "mount -t fuse.globalfs -o bogus "
                                                    + config
                                                    + " "
                                                    + point)
                                    .output())
                    .contains("mount option 'bogus' is unknown");
            bash("mount -t fuse.globalfs " + config + " " + point);
            bash("kill -9 $(pgrep -f \" " + point + "$\")");
            String list = "timeout -s KILL 10 ls " + point + " 2>&1";
            LocalCluster.await(
                    LIMIT,
                    () -> Shell.bash(LIMIT, Path.of("/"), list).output().contains("not connected"),
                    () -> "a mount of a dead process does not say so: " + remains(list));
            assertThat(run("stats", point.toString()).output()).contains("umount --lazy");
            run("umount", "--lazy", point.toString()).orFail();
            bash("! mountpoint -q " + point);
        } finally {
            if (linked) {
                Files.delete(LINK);
            }
            Files.delete(fstab);
        }
    }

    /** A mount whose process does nothing any more is taken away from those who wait in it. */
    @Test
    void forceEndsWhatWaitsInAStoppedMount() throws Exception {
        mountOwn();
        String pid = bash("pgrep -f ' " + point + "$'").strip();
        bash("kill -STOP " + pid);
        try {
            Process waiting = new ProcessBuilder("stat", point.resolve("some").toString()).start();
            assertThat(waiting.waitFor(1, TimeUnit.SECONDS)).isFalse();
            run("umount", "--force", point.toString()).orFail();
            assertThat(waiting.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(waiting.exitValue()).isNotZero();
            bash("! mountpoint -q " + point);
        } finally {
            bash("kill -9 " + pid);
        }
    }

    /**
     * Which is not yet committed by itself: that takes two seconds. And the session ends, with its
     * locks, of which its lease would have others wait for a minute.
     */
    @Test
    void terminationFirstCommitsWhatOpenFilesWereWritten() throws IOException {
        mountOwn();
        String program =
                """
                import fcntl, os, signal, sys, time
                pid = int(sys.argv[2])
                file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o644)
                fcntl.flock(file, fcntl.LOCK_EX)
                os.write(file, b'x' * 3_000_000)
                os.kill(pid, signal.SIGTERM)
                while os.path.exists('/proc/%d' % pid): time.sleep(0.1)
                """;
        String pid = bash("pgrep -f ' " + point + "$'").strip();
        Shell.run(
                        LIMIT,
                        Path.of("/"),
                        List.of("python3", "-c", program, point.resolve("ended").toString(), pid))
                .orFail();
        bash("flock -n ended true");
        bash("[ \"$(tr -d x < ended | wc -c) $(wc -c < ended)\" = '0 3000000' ]; rm ended");
    }

    @Test
    void statusTellsAMountThatIsStopped() throws IOException {
        Path mount = cluster.mount("us-west");
        String pid = Files.readString(cluster.data().resolve("run/mount-us-west.pid")).strip();
        bash("kill -STOP " + pid);
        try {
            assertThat(cluster.globalfs(LIMIT, "status").orFail())
                    .containsPattern(mount + " +SILENT")
                    .containsPattern(cluster.mount("us-east") + " +up");
        } finally {
            // Not from within the mount, which answers nobody.
            Shell.bash(LIMIT, cluster.data(), "kill -CONT " + pid).orFail();
        }
        assertThat(cluster.globalfs(LIMIT, "status").orFail()).containsPattern(mount + " +up");
    }

    @Test
    void whatAMountHidesIsNamed() throws IOException {
        Path hidden = Files.createFile(point.resolve("hidden"));
        try {
            Path config = cluster.data().resolve("config/mount-us-west.yaml");
            String[] mount = {
                "mount", "--background", "--config", config.toString(), point.toString()
            };
            assertThat(run(mount).orFail())
                    .contains("globalfs: warning: " + point + " is not empty");
            Path link = Files.createSymbolicLink(config.resolveSibling("link"), point);
            assertThat(run("stats", link.toString()).orFail()).contains("OPERATION");
            run("umount", link.toString()).orFail();
        } finally {
            Files.delete(hidden);
        }
    }

    /** Whoever asks a mount whose process does nothing any more is told so. */
    @Test
    void whoAsksAStoppedMountIsToldThatItIs() throws Exception {
        mountOwn();
        String pid = bash("pgrep -f ' " + point + "$'").strip();
        bash("kill -STOP " + pid);
        try {
            String path = point.resolve("some").toString();
            List<CompletableFuture<Shell.Outcome>> asked = new ArrayList<>();
            for (String[] command :
                    new String[][] {
                        {"stats", point.toString()},
                        {"trace", point.toString()},
                        {"quota", "list", point.toString()},
                        {"quota", "show", path},
                        {"place", "show", path},
                        {"place", "move", path, "us-east"},
                    }) {
                asked.add(Shell.meanwhile(() -> run(command)));
            }
            for (CompletableFuture<Shell.Outcome> each : asked) {
                Shell.Outcome outcome = each.join();
                assertThat(outcome.exitCode()).as(outcome.output()).isEqualTo(1);
                assertThat(outcome.output().lines().filter(line -> line.startsWith("globalfs:")))
                        .singleElement()
                        .asString()
                        .contains("the process of " + point + " has not answered for")
                        .contains("'globalfs umount --force " + point + "'");
            }
        } finally {
            bash("kill -CONT " + pid);
        }
        assertThat(run("stats", point.toString()).orFail()).contains("OPERATION");
        run("umount", point.toString()).orFail();
    }

    /** What was committed is there after the mount was killed in the middle of a transaction. */
    @Test
    void sqliteOverTheDeathOfItsMount() throws Exception {
        String program =
                """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[2]); c.execute('pragma journal_mode=' + sys.argv[1]); c.execute('pragma synchronous=full')
                c.execute('create table if not exists t(k integer primary key, v text)')
                with open(sys.argv[3], 'w') as journal:
                    for i in range(1 << 30):
                        with c: c.executemany('insert into t values(?, ?)', [(i * 10 + j, 'v' * 500) for j in range(10)])
                        journal.write('%d\\n' % i); journal.flush()
                """;
        // A dead client's locks go with its lease. Until then a database in WAL mode passes for one
        // that is in use, and its index, shared memory that died with the mount, for a true one.
        String check =
                """
                import fcntl, os, sqlite3, sys, time
                for name in (sys.argv[1], sys.argv[1] + '-shm'):
                    if os.path.exists(name):
                        with open(name, 'r+') as file: fcntl.lockf(file, fcntl.LOCK_EX)
                c = sqlite3.connect(sys.argv[1], timeout=5)
                assert c.execute('pragma integrity_check').fetchone() == ('ok',)
                committed = len(open(sys.argv[2]).read().split())
                there = c.execute('select count(*) from t').fetchone()[0]
                assert committed >= 20 and there in (committed * 10, committed * 10 + 10), (committed, there)
                """;
        mountOwn();
        Path journals = Files.createTempDirectory("globalfs-journals-");
        List<String> modes = List.of("wal", "delete");
        List<CompletableFuture<Shell.Outcome>> writers = new ArrayList<>();
        for (String mode : modes) {
            List<String> line =
                    List.of(
                            "python3",
                            "-c",
                            program,
                            mode,
                            mode,
                            journals.resolve(mode).toString());
            writers.add(Shell.meanwhile(() -> Shell.run(LIMIT, point, line)));
        }
        for (String mode : modes) {
            Path journal = journals.resolve(mode);
            LocalCluster.await(
                    LIMIT,
                    () -> Files.exists(journal) && read(journal).lines().count() >= 20,
                    () -> "no commits in " + mode);
        }
        bash("kill -9 $(pgrep -f ' " + point + "$')");
        for (CompletableFuture<Shell.Outcome> writer : writers) {
            assertThat(writer.join().exitCode()).isNotIn(0, 124);
        }
        for (String mode : modes) {
            String journal = journals.resolve(mode).toString();
            Shell.run(
                            LIMIT,
                            cluster.mount("us-west"),
                            List.of("python3", "-c", check, mode, journal))
                    .orFail();
        }
        run("umount", "--lazy", point.toString()).orFail();
        bash("rm -r " + journals);
    }

    /** A mount of us-west's tree whose locks do not outlive it for long. */
    private void mountOwn() throws IOException {
        Path config = cluster.data().resolve("config/mount-own.yaml");
        String own =
                Files.readString(cluster.data().resolve("config/mount-us-west.yaml"))
                        + "mount:\n  sessionLease: 5s\n";
        Files.writeString(config, own);
        run("mount", "--background", "--config", config.toString(), point.toString()).orFail();
    }

    /** Those that serve or guard the mount, by pid and arguments. */
    private List<String> processes() {
        return Shell.run(LIMIT, Path.of("/"), List.of("ps", "-eww", "-o", "pid,args"))
                .orFail()
                .lines()
                .filter(line -> line.contains(" " + point))
                .toList();
    }

    private String bash(String script) {
        return Shell.bash(
                        LIMIT,
                        cluster.mount("us-west"),
                        "export PATH=\""
                                + Path.of(System.getProperty("java.home"), "bin")
                                + ":$PATH\"; "
                                + script)
                .orFail();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Shell.Outcome run(String... arguments) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of(arguments));
        return Shell.run(LIMIT, Path.of("/"), command);
    }

    private static Map<?, ?> stats(Path mount) {
        String text = run("stats", "--json", mount.toString()).orFail();
        return (Map<?, ?>)
                new Load(LoadSettings.builder().build())
                        .loadFromString(text.substring(text.indexOf('{')));
    }

    private static Map<?, ?> operation(Map<?, ?> stats, String name) {
        return LocalCluster.maps(stats, "operations").stream()
                .filter(each -> name.equals(each.get("operation")))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + name + " in " + stats));
    }

    private static int requests(Map<?, ?> stats, String name) {
        return LocalCluster.maps(stats, "operations").stream()
                .filter(each -> name.equals(each.get("operation")))
                .mapToInt(each -> LocalCluster.number(each, "requests"))
                .sum();
    }

    /** What is still there of a mount whose process was killed, and what waits for what. */
    private String remains(String list) {
        return Shell.bash(
                        LIMIT,
                        Path.of("/"),
                        list
                                + "; ps -eLo pid,tid,stat,wchan:30,args | grep -F '"
                                + point
                                + "'; grep -F '"
                                + point
                                + "' /proc/self/mountinfo; ls -l /proc/[0-9]*/fd 2>&1"
                                + " | grep -B 200 /dev/fuse | grep -e ^/proc -e /dev/fuse; true")
                .output();
    }
}
