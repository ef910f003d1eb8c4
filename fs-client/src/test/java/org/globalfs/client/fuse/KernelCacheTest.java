package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes by others, on a mount whose names and attributes the kernel may remember for an hour. */
class KernelCacheTest {
    @TempDir Path folder;

    private MountedProcess mount;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(
                MountedProcess.possible(),
                "SKIPPED: no /dev/fuse, or neither root nor fusermount3");
        Files.createDirectory(folder.resolve("mnt"));
        start(Duration.ofMinutes(1));
    }

    private void start(Duration requestTimeout) throws Exception {
        start(requestTimeout, "readers=1", "threads=64");
    }

    private void start(Duration requestTimeout, String readers, String threads) throws Exception {
        mount =
                MountedProcess.start(
                        folder.resolve("mnt"),
                        "3600000",
                        String.valueOf(requestTimeout.toMillis()),
                        "explicit",
                        readers,
                        threads);
    }

    @AfterEach
    void stop() {
        if (mount != null) {
            mount.close();
        }
    }

    private void change(String command) throws Exception {
        mount.tell(command);
        assertThat(mount.expectLine("changed ")).isEqualTo("changed true");
    }

    @Test
    void theKernelRemembersUntilItIsTold() throws Exception {
        mount.shell(10, "printf one > file; cat file; ! test -e other");
        change("steal file two");
        change("steal other text");
        assertThat(mount.shell(10, "cat file; echo; test -e other || echo absent"))
                .isEqualTo("one\nabsent\n");
        change("change file three");
        change("change other text");
        assertThat(mount.shell(10, "cat file; echo; stat -c %s file; cat other"))
                .isEqualTo("three\n5\ntext");
        change("change other ");
        assertThat(mount.shell(10, "test -e other || echo absent; ls")).isEqualTo("absent\nfile\n");
    }

    @Test
    void aReaderThatHoldsTheFileOpenSeesChanges() throws Exception {
        mount.shell(10, "echo one > file");
        Process reader =
                new ProcessBuilder(
                                "python3",
                                "-c",
                                """
                                import os, sys
                                fd = os.open(sys.argv[1], os.O_RDONLY)
                                for line in sys.stdin: print(os.pread(fd, 100, 0).decode().strip(), os.fstat(fd).st_size, flush=True)
                                """,
                                mount.mountpoint().resolve("file").toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (var output = reader.inputReader();
                var input = reader.outputWriter()) {
            input.write("read\n");
            input.flush();
            assertThat(output.readLine()).isEqualTo("one 4");
            change("change file longer");
            input.write("read\n");
            input.flush();
            assertThat(output.readLine()).isEqualTo("longer 6");
        } finally {
            reader.destroyForcibly();
        }
    }

    /** What a program stores through a mapping is known to the kernel alone. */
    @Test
    void aFileIsMadeLongerWithoutTouchingWhatItHolds() throws Exception {
        mount.shell(10, "printf '%0100d' 0 > file");
        Process program =
                new ProcessBuilder(
                                "python3",
                                "-c",
                                """
                                import mmap, os, sys
                                fd = os.open(sys.argv[1], os.O_RDWR)
                                pages = mmap.mmap(fd, 100)
                                pages[99] = ord('y')
                                def show(): print(len(os.pread(fd, 200, 0)), chr(pages[99]), flush=True)
                                show()
                                for line in sys.stdin: show()
                                pages.flush()
                                """,
                                mount.mountpoint().resolve("file").toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (var output = program.inputReader();
                var input = program.outputWriter()) {
            assertThat(output.readLine()).isEqualTo("100 y");
            for (int size : List.of(100, 200)) {
                mount.tell("lengthen file " + size);
                assertThat(mount.expectLine("lengthened ")).isEqualTo("lengthened true");
                input.write("show\n");
                input.flush();
                assertThat(output.readLine()).isEqualTo(size + " y");
            }
        } catch (IOException | AssertionError e) {
            program.destroyForcibly();
            throw e;
        }
        assertThat(program.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(mount.shell(10, "head -c 100 file | tail -c 1")).isEqualTo("y");
    }

    /** The kernel drops none of its pages before it is answered, here after its time-out. */
    @Test
    void aSlowReadOfOneFileHoldsUpNoOthersInvalidation() throws Exception {
        mount.close();
        start(Duration.ofSeconds(12));
        change("steal slow-1 text");
        mount.shell(10, "printf one > file");
        Process waits =
                new ProcessBuilder("cat", mount.mountpoint().resolve("slow-1").toString()).start();
        try (RandomAccessFile file =
                new RandomAccessFile(mount.mountpoint().resolve("file").toFile(), "r")) {
            assertThat(file.readLine()).isEqualTo("one");
            assertThat(waits.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
            mount.tell("change slow-1 other");
            assertThat(mount.expectLine("changed ")).isEqualTo("changed false");
            for (String content : List.of("two", "six", "ten")) {
                change("change file " + content);
                file.seek(0);
                assertThat(file.readLine()).isEqualTo(content);
            }
            assertThat(waits.isAlive()).isTrue();
        } finally {
            waits.destroyForcibly();
        }
    }

    /** The kernel drops no page before its read is answered, which may have to be read first. */
    @ParameterizedTest
    @ValueSource(strings = {"settle", "store"})
    void whoWaitsForTheKernelHoldsUpNobody(String name) throws Exception {
        mount.close();
        start(Duration.ofSeconds(25), "readers=1", "threads=2");
        change("steal slow-1 text");
        mount.shell(10, "printf one > file");
        Process reads =
                new ProcessBuilder("cat", mount.mountpoint().resolve("slow-1").toString()).start();
        Process waits = null;
        try {
            assertThat(reads.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
            mount.tell("change slow-1 other");
            assertThat(mount.expectLine("changed ")).isEqualTo("changed false");
            waits = new ProcessBuilder("stat", mount.mountpoint().resolve(name).toString()).start();
            assertThat(waits.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(mount.shell(10, "cat file")).isEqualTo("one");
            assertThat(waits.isAlive()).isTrue();
        } finally {
            reads.destroyForcibly();
            if (waits != null) {
                waits.destroyForcibly();
            }
        }
    }

    @Test
    void aDirectoryInUseDoesNotHoldUpAnInvalidation() throws Exception {
        mount.shell(10, "mkdir d; touch d/x; (touch d/~slow &) ; sleep 0.3");
        mount.tell("expire d x");
        boolean hasEpochs = kernelMinor() >= 44;
        assertThat(mount.expectLine("expired ")).isEqualTo("expired " + hasEpochs);
        assertThat(mount.shell(20, "ls d; pwd")).startsWith("x\n");
    }

    /** Also while a request holds the lock of a directory. */
    @Test
    void whatIsForgottenAtOnceIsAskedForAgain() throws Exception {
        assumeTrue(kernelMinor() >= 44, "SKIPPED: needs Linux 6.16");
        String look = "stat -c %s file; test -e other && echo there || echo absent";
        mount.shell(10, "printf one > file; mkdir d; " + look);
        change("steal file three");
        change("steal other text");
        assertThat(mount.shell(10, "(touch d/~slow &); sleep 0.3; " + look))
                .isEqualTo("3\nabsent\n");
        mount.tell("forget file");
        assertThat(mount.expectLine("forgot")).isEqualTo("forgot");
        assertThat(mount.shell(10, look)).isEqualTo("5\nthere\n");
    }

    /** The kernel drops names to look them up again, and what is mounted below them. */
    @Test
    void whatIsMountedInTheTreeStays() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: only root mounts a tmpfs");
        mount.shell(10, "mkdir -p d/e; echo one > file; mount -t tmpfs none d/e; echo in > d/e/x");
        try {
            mount.tell("forget file");
            assertThat(mount.expectLine("forgot")).isEqualTo("forgot");
            assertThat(mount.shell(10, "cat d/e/x; mountpoint -q d/e && echo mounted"))
                    .isEqualTo("in\nmounted\n");
            mount.shell(10, "(touch d/~slow &); sleep 0.3");
            mount.tell("expire d e");
            mount.expectLine("expired ");
            assertThat(mount.shell(20, "cat d/e/x; mountpoint -q d/e && echo mounted"))
                    .isEqualTo("in\nmounted\n");
        } finally {
            mount.shell(10, "umount d/e || true");
        }
    }

    /** Shells that stand in a directory go on when its name is invalidated. */
    @Test
    void aWorkingDirectoryStaysOne() throws Exception {
        mount.shell(10, "mkdir d");
        Process shell = new ProcessBuilder("bash").start();
        try (var output = shell.inputReader();
                var input = shell.outputWriter()) {
            input.write("cd " + mount.mountpoint() + "/d; pwd\n");
            input.flush();
            assertThat(output.readLine()).endsWith("/d");
            mount.tell("expire . d");
            mount.expectLine("expired ");
            input.write("/bin/pwd; touch y; ls; exit\n");
            input.flush();
            assertThat(output.readLine()).endsWith("/d");
            assertThat(output.readLine()).isEqualTo("y");
        } finally {
            shell.destroyForcibly();
        }
    }

    private static int kernelMinor() throws Exception {
        // FUSE 7.44 came with Linux 6.16
        String[] release = Files.readString(Path.of("/proc/sys/kernel/osrelease")).split("[.-]", 3);
        int version = Integer.parseInt(release[0]) * 100 + Integer.parseInt(release[1]);
        return version >= 616 ? 44 : 31;
    }
}
