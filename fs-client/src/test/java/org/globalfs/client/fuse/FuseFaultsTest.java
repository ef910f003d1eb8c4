package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What happens when operations hang or fail, when processes are killed, and when mounting is not
 * possible.
 */
class FuseFaultsTest {
    private static final List<String> AS_USER =
            List.of("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups");

    @TempDir Path folder;

    private Path mountpoint;

    /** The options that a test needs, and those of the binding. */
    String[] with(String... options) {
        return options;
    }

    @BeforeEach
    void prepare() throws Exception {
        assumeTrue(
                MountedProcess.possible(),
                "SKIPPED: no /dev/fuse, or neither root nor fusermount3");
        mountpoint = Files.createDirectory(folder.resolve("mnt"));
    }

    @Test
    void hungOperationsEndAtTheirDeadlineAndHinderNobody() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "6000"))) {
            String output =
                    mount.shell(
                            30,
                            """
                            for i in $(seq 1 20); do mkdir d$i; (stat d$i/hang 2>&1 | sed 's/.*: //') & done
                            sleep 0.3
                            start=$(date +%s%N); echo fine > other; cat other; ls > /dev/null
                            test $(( $(date +%s%N) - start )) -lt 5000000000 && echo at once
                            wait
                            """);
            assertThat(output).startsWith("fine\nat once\n");
            assertThat(output.split("Input/output error", -1)).hasSize(21);
            assertThat(mount.counts().get("TIMEOUTS")).isPositive();
        }
    }

    @Test
    void moreHungOperationsThanThreads() throws Exception {
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, with("0", "1000", "threads=4"))) {
            String output =
                    mount.shell(
                            60,
                            """
                            for i in $(seq 1 8); do echo x > slow-$i; done
                            echo 1 > /proc/sys/vm/drop_caches || true
                            for i in $(seq 1 8); do mkdir d$i; (stat d$i/hang 2>&1 | sed 's/.*: //') & done
                            wait; echo fine > other; cat other
                            """);
            assertThat(output).endsWith("fine\n");
            assertThat(output.split("Input/output error", -1)).hasSize(9);
        }
    }

    @Test
    void anOperationThatIsAPartFurtherHasTimeAgain() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "500"))) {
            assertThat(mount.shell(30, "stat steps 2>&1 | sed 's/.*: //'"))
                    .isEqualTo("No such file or directory\n");
            assertThat(mount.counts()).containsEntry("TIMEOUTS", 0L);
        }
    }

    @Test
    void theTimeInWhichTheMountWasStoppedIsNotCounted() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "6000"))) {
            String output =
                    mount.shell(
                            60,
                            """
                            (stat long 2>&1 | sed 's/.*: //') & sleep 0.7
                            kill -STOP %1$d; sleep 6; kill -CONT %1$d; wait
                            """
                                    .formatted(mount.process().pid()));
            assertThat(output).isEqualTo("No such file or directory\n");
            assertThat(mount.counts()).containsEntry("TIMEOUTS", 0L);
        }
    }

    @Test
    void aKilledProcessDoesNotWait() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            String output =
                    mount.shell(
                            30,
                            """
                            for signal in KILL TERM INT; do
                              timeout -s $signal 0.5 stat hang || echo ended $?
                              timeout -s $signal 0.5 stat d/../hang || echo ended $?
                            done
                            """);
            assertThat(output.split("ended", -1)).hasSize(7);
            assertThat(mount.counts().get("INTERRUPTS")).isPositive();
        }
    }

    @Test
    void aKilledProcessDoesNotWaitWhenNoThreadIsLeftToHearOfIt() throws Exception {
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, with("0", "60000", "threads=4"))) {
            mount.shell(
                    10,
                    """
                    mkdir d1 d2 d3 d4 d5 d6 d7 d8
                    for i in 1 2 3 4; do stat d$i/hang > /dev/null 2>&1 & first="$first $!"; done
                    sleep 1
                    for i in 5 6 7 8; do stat d$i/hang > /dev/null 2>&1 & second="$second $!"; done
                    sleep 1
                    kill -KILL $first; wait $first || true
                    kill -KILL $second; wait $second || true
                    """);
            assertThat(mount.counts()).containsEntry("TIMEOUTS", 0L);
            assertThat(mount.counts().get("INTERRUPTS")).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void aSignalEndsTheWaitForALockWhenNoThreadIsLeftToHearOfIt() throws Exception {
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, with("0", "60000", "threads=4", "locks"))) {
            mount.python(
                    10,
                    """
                    import fcntl, signal, subprocess, time
                    ended, end = os.pipe()
                    waiter = os.fork()
                    if waiter == 0:
                        # closing the file needs a thread, so the process cannot end by now
                        signal.signal(signal.SIGUSR1, lambda *_: os.write(end, b'x') and os._exit(0))
                        fcntl.lockf(os.open('f', os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX, 1, 14)
                    for i in range(4): os.mkdir('d%d' % i)
                    while not os.path.exists('f'): time.sleep(0.1)
                    time.sleep(1)
                    hung = [subprocess.Popen(['stat', 'd%d/hang' % i]) for i in range(4)]
                    time.sleep(1)
                    os.kill(waiter, signal.SIGUSR1)
                    assert os.read(ended, 1) == b'x'
                    for each in hung:
                        assert each.poll() is None
                        each.kill()
                    for each in hung: each.wait()
                    assert os.waitpid(waiter, 0)[1] == 0
                    """);
            assertThat(mount.counts()).containsEntry("TIMEOUTS", 0L);
        }
    }

    @Test
    void aHandledSignalIsNoError() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            mount.python(
                    60,
                    """
                    import signal
                    ticks = 0
                    def tick(*_):
                        global ticks; ticks += 1
                    signal.signal(signal.SIGALRM, tick); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
                    for i in range(3000):
                        p = 'f%d' % (i % 50)
                        fd = os.open(p, os.O_CREAT | os.O_WRONLY); os.write(fd, bytes(10000)); os.close(fd)
                        os.stat(p); os.rename(p, p + 'x'); os.unlink(p + 'x')
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    assert ticks > 10, ticks
                    """);
            assertThat(mount.counts()).containsEntry("INTERRUPTS", 0L);
        }
    }

    @Test
    void whatAKilledProcessWouldHaveOpenedIsReleased() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            mount.shell(20, "echo x > late-1; timeout -s KILL 0.3 cat late-1 || echo killed");
            // takes as long as the open that was given up, so that one has ended then
            assertThat(mount.shell(20, "cat late-1")).isEqualTo("x\n");
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(mount.counts()).containsEntry("HANDLES", 0L));
            assertThat(mount.counts()).containsEntry("INTERRUPTS", 1L);
        }
    }

    @Test
    void anUnexpectedFailureIsAnErrorOfOneOperation() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            String output =
                    mount.shell(
                            20,
                            "for i in $(seq 1 40); do stat crash > /dev/null 2>&1 || true; done; stat crash 2>&1 || echo fine");
            assertThat(output).contains("Input/output error").endsWith("fine\n");
        }
    }

    /** The kernel lets nobody go who waits for a lock, SIGKILL or not, until it has an answer. */
    @Test
    void aLockThatFailsInAnyWayIsAnswered() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000", "locks"))) {
            mount.python(
                    20,
                    """
                    import errno, fcntl
                    fd = os.open('f', os.O_CREAT | os.O_RDWR)
                    fcntl.lockf(fd, fcntl.LOCK_EX, 1, 12)
                    for how in (fcntl.LOCK_EX, fcntl.LOCK_EX | fcntl.LOCK_NB):
                        try:
                            fcntl.lockf(fd, how, 1, 13)
                            assert False, 'granted'
                        except OSError as e:
                            assert e.errno == errno.EIO, e
                    """);
        }
    }

    @Test
    void aMountLeftByADeadProcessIsReplaced() throws Exception {
        MountedProcess first = MountedProcess.start(mountpoint, with("1000", "60000"));
        first.shell(10, "echo x > file");
        first.process().destroyForcibly().waitFor(60, TimeUnit.SECONDS);
        MountedProcess.Outcome dead = MountedProcess.run(10, "ls", mountpoint.toString());
        assertThat(dead.output()).contains("Transport endpoint is not connected");
        try (MountedProcess second = MountedProcess.start(mountpoint, with("1000", "60000"))) {
            assertThat(second.shell(10, "ls; echo y > file; cat file")).isEqualTo("y\n");
        }
        assertThat(MountTable.at(mountpoint)).isNull();
    }

    /**
     * A thread that the kernel holds in a notification, for a directory or page that a request of
     * this very mount has locked, does not even end by SIGKILL, and with it nothing is closed.
     */
    @ParameterizedTest
    @CsvSource({"touch d/~slow,expire d x", "cat slow-1,change slow-1 other"})
    void aProcessThatDiesWhileItNotifiesLeavesNobodyWaiting(String waiting, String notifying)
            throws Exception {
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, with("3600000", "60000", "explicit"))) {
            mount.shell(10, "mkdir d; touch d/x");
            mount.tell("change slow-1 text");
            mount.expectLine("changed ");
            Process user =
                    new ProcessBuilder("bash", "-c", "cd '" + mountpoint + "' && exec " + waiting)
                            .start();
            try {
                assertThat(user.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
                mount.tell(notifying);
                assertThat(user.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
                mount.process().destroyForcibly();
                assertThat(user.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(user.exitValue()).isNotZero();
                assertThat(mount.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
            } finally {
                MountedProcess.run(10, "umount", "-f", mountpoint.toString());
                user.destroyForcibly();
            }
        }
    }

    @Test
    void unmountingFromOutsideEndsTheProcess() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("1000", "60000"))) {
            String command = Mounter.privileged() ? "umount" : "fusermount3 -u";
            MountedProcess.run(10, "sh", "-c", command + " " + mountpoint);
            assertThat(mount.expectLine("unmounted ")).isEqualTo("unmounted true");
            assertThat(mount.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void terminationUnmountsEvenWhenInUse() throws Exception {
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("1000", "60000"))) {
            Process user = new ProcessBuilder("sleep", "60").directory(mountpoint.toFile()).start();
            try {
                mount.process().destroy();
                assertThat(mount.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(MountTable.at(mountpoint)).isNull();
            } finally {
                user.destroyForcibly();
            }
        }
    }

    private String refusal(Path where, String... options) throws Exception {
        try (MountedProcess mount =
                MountedProcess.launch(where, MountedProcess.command(where, with(options)))) {
            return mount.expectLine("refused ");
        }
    }

    @Test
    void mountpointsThatAreNone() throws Exception {
        Path absent = folder.resolve("absent");
        assertThat(refusal(absent, "0", "1000"))
                .contains("does not exist")
                .contains("mkdir -p " + absent);
        assertThat(refusal(folder.resolve("a/b"), "0", "1000")).contains("does not exist");
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(refusal(file, "0", "1000")).contains(file + " is not a directory");
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            assertThat(refusal(mountpoint, "0", "1000"))
                    .contains("mounted already")
                    .contains("umount");
            assertThat(mount.shell(10, "echo x > y; cat y")).isEqualTo("x\n");
        }
    }

    @Test
    void aSymbolicLinkToTheMountpointIsFollowed() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), mountpoint);
        try (MountedProcess mount = MountedProcess.start(link, with("0", "60000"))) {
            assertThat(mount.shell(10, "echo x > y; cat " + mountpoint + "/y")).isEqualTo("x\n");
        }
        assertThat(MountTable.at(mountpoint)).isNull();
    }

    @Test
    void programsCannotBeRunFromAMountWithNoexec() throws Exception {
        String program =
                "printf '#!/bin/sh\\necho ran\\n' > p; chmod 755 p; ./p 2>/dev/null || echo $?";
        try (MountedProcess mount = MountedProcess.start(mountpoint, with("0", "60000"))) {
            assertThat(mount.shell(10, program)).isEqualTo("ran\n");
        }
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, with("0", "60000", "noexec"))) {
            assertThat(mount.shell(10, program)).isEqualTo("126\n");
        }
    }

    @Test
    void aUserMountsThroughFusermount() throws Exception {
        assumeUserMayMount();
        List<String> command = userCommand(with("1000", "60000", "noexec"));
        List<String> use = new ArrayList<>(AS_USER);
        use.addAll(
                List.of(
                        "sh",
                        "-c",
                        "cd " + mountpoint + " && echo x > y && cat y && stat -c %U y"));
        try (MountedProcess mount = MountedProcess.start(mountpoint, command)) {
            assertThat(mount.mountpoint()).isEqualTo(mountpoint);
            assertThat(MountedProcess.run(20, use.toArray(String[]::new)).output())
                    .isEqualTo("x\nnobody\n");
            assertThat(Files.readString(Path.of("/proc/self/mounts")))
                    .containsPattern(" " + mountpoint + " fuse.globalfs [^ ]*noexec");
        }
        assertThat(MountTable.at(mountpoint)).isNull();
        Path foreign = Files.createDirectory(folder.resolve("foreign"));
        List<String> refused = new ArrayList<>(AS_USER);
        String classPath = command.get(command.indexOf("-cp") + 1);
        refused.addAll(MountedProcess.command(classPath, foreign, with("1000", "60000")));
        try (MountedProcess mount = MountedProcess.launch(foreign, refused)) {
            assertThat(mount.expectLine("refused ")).contains("cannot mount on " + foreign);
        }
    }

    private static void assumeUserMayMount() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root to become another user");
        assumeTrue(
                MountedProcess.run(10, "sh", "-c", "command -v fusermount3 && command -v setpriv")
                                .exitCode()
                        == 0,
                "SKIPPED: no fusermount3 (apt-get install fuse3) or no setpriv");
        assumeTrue(
                Files.getPosixFilePermissions(Path.of("/dev/fuse"))
                        .contains(PosixFilePermission.OTHERS_WRITE),
                "SKIPPED: only root may open /dev/fuse here: chmod 666 /dev/fuse");
    }

    /** The kernel keeps the connection of a user's mount for as long as it is in use. */
    @Test
    void aUsersMountInUseEndsWhenItIsClosed() throws Exception {
        assumeUserMayMount();
        assumeTrue(
                MountedProcess.run(10, "mountpoint", "/sys/fs/fuse/connections").exitCode() == 0,
                "SKIPPED: no fusectl, as in a container");
        List<String> use = new ArrayList<>(AS_USER);
        String writing = "while echo x; do sleep 0.1; done 2> /dev/null > \"$0/used\"; echo ended";
        use.addAll(List.of("bash", "-c", writing, mountpoint.toString()));
        try (MountedProcess mount =
                MountedProcess.start(mountpoint, userCommand(with("1000", "60000")))) {
            FutureTask<MountedProcess.Outcome> used =
                    new FutureTask<>(() -> MountedProcess.run(20, use.toArray(String[]::new)));
            Thread.ofPlatform().daemon().start(used);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> mount.counts().getOrDefault("WRITE", 0L) > 0);
            mount.tell("close");
            assertThat(used.get().output()).isEqualTo("ended\n");
            assertThat(mount.expectLine("unmounted ")).isEqualTo("unmounted true");
        }
    }

    /** Has a user mount through fusermount3. */
    private List<String> userCommand(String... options) throws Exception {
        String classPath = readableClassPath();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        MountedProcess.run(10, "chown", "65534:65534", mountpoint.toString());
        List<String> command = new ArrayList<>(AS_USER);
        command.addAll(MountedProcess.command(classPath, mountpoint, options));
        return command;
    }

    /** The test's class path, copied to where everybody may read it. */
    private String readableClassPath() throws Exception {
        Path copy = Files.createDirectory(folder.resolve("classes"));
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":", -1)) {
            Path source = Path.of(entry);
            boolean needed =
                    Files.isDirectory(source)
                            || entry.contains("slf4j")
                            || entry.contains("logback")
                            || entry.contains("protocol")
                            || entry.contains("jnr")
                            || entry.contains("jffi")
                            || entry.contains("asm")
                            || entry.contains("HdrHistogram")
                            || entry.contains("jspecify");
            if (!Files.exists(source) || !needed) {
                continue;
            }
            Path target = copy.resolve(entries.size() + "-" + source.getFileName());
            copyTree(source, target);
            entries.add(target.toString());
        }
        MountedProcess.run(20, "chmod", "-R", "a+rX", copy.toString());
        return String.join(":", entries);
    }

    private static void copyTree(Path source, Path target) throws Exception {
        try (Stream<Path> all = Files.walk(source)) {
            for (Path each : all.toList()) {
                Files.copy(
                        each,
                        target.resolve(source.relativize(each).toString()),
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}
