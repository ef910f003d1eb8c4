package org.globalfs.systemtests;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * File content under fsx, which compares every read with what it wrote, and under a program that
 * uses what fsx does not; from two regions at once, through three mounts in turn, and with
 * O_DIRECT. {@code -Dglobalfs.fsx.operations=1000000} makes each fsx a long one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class FsxIT {
    private static final String OPERATIONS = System.getProperty("globalfs.fsx.operations", "1500");
    private static final Duration LIMIT = Duration.ofHours(OPERATIONS.length() > 5 ? 12 : 1);

    /** No operation of no bytes: posix_fallocate(3) refuses it everywhere, and fsx ends. */
    private static final String SETTINGS =
            """
            flen = %d
            [opsize]
            min = 1
            max = %d
            [weights]
            close_open = 1.0
            invalidate = 1.0
            mapread = 10.0
            mapwrite = 8.0
            read = 10.0
            write = 10.0
            truncate = 5.0
            fsync = 1.0
            fdatasync = 1.0
            posix_fallocate = 4.0
            punch_hole = 5.0
            sendfile = 3.0
            posix_fadvise = 2.0
            copy_file_range = 5.0
            """;

    private LocalCluster cluster;
    @TempDir private Path folder;

    @BeforeAll
    void start(LocalCluster shared) {
        cluster = shared;
        Shell.bash(Duration.ofMinutes(1), cluster.mount("us-west"), "mkdir content").orFail();
        cluster.awaitSeen("content");
    }

    @Test
    void twoRegionsExerciseTwoFilesOfOneDirectory() throws IOException {
        String program = program();
        CompletableFuture<Shell.Outcome> far =
                exercise(List.of(program), "us-east", 3_000_000, 300_000);
        exercise(List.of(program), "us-west", 262_144, 65_536).join().orFail();
        far.join().orFail();
    }

    /** fsx has no O_DIRECT: a library that is loaded before it adds that to what it opens. */
    @Test
    void oneExercisesWithoutTheKernelsPages() throws IOException {
        String program = program();
        Path library = folder.resolve("open-direct.so");
        String source = Path.of("src/test/resources/open-direct.c").toAbsolutePath().toString();
        Shell.run(
                        Duration.ofMinutes(1),
                        folder,
                        List.of("gcc", "-shared", "-fPIC", "-o", library.toString(), source))
                .orFail();
        List<String> command =
                List.of(
                        "env",
                        "LD_PRELOAD=" + library,
                        "DIRECT_BELOW=" + cluster.mount("eu-west"),
                        program);
        exercise(command, "eu-west", 262_144, 65_536).join().orFail();
    }

    private static String program() {
        Shell.Outcome installed =
                Shell.run(
                        Duration.ofMinutes(1),
                        Path.of(".."),
                        List.of("scripts/crate", "fsx", "0.3.2", "--cached"));
        assumeTrue(installed.ok(), "SKIPPED: no fsx; ./globalfs test installs it where cargo is");
        return installed.output().strip();
    }

    private CompletableFuture<Shell.Outcome> exercise(
            List<String> program, String region, int fileBytes, int operationBytes)
            throws IOException {
        Path settings = folder.resolve(region + ".toml");
        Files.writeString(settings, SETTINGS.formatted(fileBytes, operationBytes));
        long seed = System.nanoTime() & 0xffffff;
        System.out.println("fsx in " + region + ": seed " + seed);
        List<String> command = new ArrayList<>(program);
        command.addAll(
                List.of(
                        "-f",
                        settings.toString(),
                        "-N",
                        OPERATIONS,
                        "-S",
                        Long.toString(seed),
                        "-P",
                        folder.toString(),
                        cluster.mount(region).resolve("content").resolve(region).toString()));
        return Shell.meanwhile(() -> Shell.run(LIMIT, folder, command));
    }

    @Test
    void programsSeeOneContentThroughTwoMounts() {
        List<String> command =
                List.of(
                        "python3",
                        Path.of("src/test/resources/content.py").toAbsolutePath().toString(),
                        cluster.mount("us-west").resolve("content").toString(),
                        cluster.mount("us-east").resolve("content").toString());
        Shell.run(Duration.ofMinutes(4), folder, command).orFail();
    }

    /**
     * Descriptors and mappings stay open while other mounts change, rename and remove the files.
     */
    @Test
    void oneProgramSeesItsFilesThroughEveryMount() {
        long seed = System.nanoTime() & 0xffffff;
        System.out.println("three mounts: seed " + seed);
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "python3",
                                Path.of("src/test/resources/several-mounts.py")
                                        .toAbsolutePath()
                                        .toString(),
                                Long.toString(seed),
                                OPERATIONS,
                                "content/mounts"));
        LocalCluster.REGIONS.forEach(region -> command.add(cluster.mount(region).toString()));
        Shell.run(LIMIT, folder, command).orFail();
    }
}
