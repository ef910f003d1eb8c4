package org.globalfs.systemtests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Random operations in directories of three regions and of partition 0, by root and by ordinary
 * users, through one mount, beside the same ones on ext4: every result and errno is the same, and
 * which times have changed, also while coordinators are killed, and all mounts show the same tree,
 * also after everything was killed. {@code -Dglobalfs.model.operations=100000} makes it a long run,
 * {@code -Dglobalfs.model.seed=N} repeats one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ModelIT {
    private static final int OPERATIONS = Integer.getInteger("globalfs.model.operations", 800);
    private static final Duration LIMIT = Duration.ofMinutes(OPERATIONS > 10_000 ? 600 : 6);

    private LocalCluster cluster;

    @TempDir(factory = OnExt4.class)
    private static Path folder;

    private Path local;

    /**
     * Where containers have tmpfs for their temporary files, the build's own folder may be better.
     */
    private static final class OnExt4 implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension)
                throws IOException {
            Path usual = Path.of(System.getProperty("java.io.tmpdir"));
            for (Path each : List.of(usual, Path.of("target").toAbsolutePath())) {
                if (Files.isWritable(each) && Files.getFileStore(each).type().equals("ext4")) {
                    return Files.createTempDirectory(each, "model-");
                }
            }
            return Files.createTempDirectory(usual, "model-");
        }
    }

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("model");
        local = Files.createDirectory(folder.resolve("local"));
        Shell.bash(
                        LIMIT,
                        cluster.mount("us-west"),
                        """
                        setfattr -n user.globalfs.placement -v inherit .
                        mkdir model
                        setfattr -n user.globalfs.placement -v creator . model
                        """)
                .orFail();
        for (String region : List.of("us-west", "us-east")) {
            String make =
                    "until [ -d model ]; do sleep 0.1; done; mkdir -m 777 model/%s; : > model/%s/keep";
            Shell.bash(LIMIT, cluster.mount(region), make.formatted(region, region)).orFail();
            String alike = "mkdir -m 777 %s; : > %s/keep";
            Shell.bash(LIMIT, local, alike.formatted(region, region)).orFail();
        }
        awaitEqualTrees();
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
    }

    /** As many operations, through the mount of a region. */
    private Shell.Outcome go(long seed, int operations, String region) {
        return model(
                "go",
                local.toString(),
                Long.toString(seed),
                Integer.toString(operations),
                cluster.mount(region).resolve("model").toString());
    }

    private Shell.Outcome compare() {
        List<String> line = new ArrayList<>(List.of("compare", local.toString()));
        for (String region : LocalCluster.REGIONS) {
            line.add(cluster.mount(region).resolve("model").toString());
        }
        return model(line.toArray(String[]::new));
    }

    private static Shell.Outcome model(String... arguments) {
        String program = Path.of("src/test/resources/model").toAbsolutePath().toString();
        List<String> line = new ArrayList<>(List.of("python3", "-B", program));
        line.addAll(Arrays.asList(arguments));
        return Shell.run(LIMIT, folder, line);
    }

    /** What is in partition 0 is seen elsewhere a moment later. */
    private void awaitEqualTrees() {
        List<Shell.Outcome> last = new ArrayList<>();
        LocalCluster.await(
                Duration.ofSeconds(20),
                () -> {
                    last.add(compare());
                    return last.getLast().ok();
                },
                () -> last.getLast().output());
    }

    @Test
    void theSameAsALocalFileSystem() {
        long seed = Long.getLong("globalfs.model.seed", System.nanoTime() & 0xffffff);
        System.out.println("model: seed " + seed);
        System.out.print(go(seed, OPERATIONS, "eu-west").orFail());
        awaitEqualTrees();

        CompletableFuture<Shell.Outcome> meanwhile =
                Shell.meanwhile(() -> go(seed + 1, OPERATIONS / 2, "us-west"));
        for (String region : List.of("us-west", "us-east")) {
            String coordinator = cluster.coordinatorProcess(region);
            cluster.kill(coordinator);
            cluster.restart(coordinator);
        }
        System.out.print(meanwhile.join().orFail());
        awaitEqualTrees();

        cluster.killEverything();
        cluster.up();
        awaitEqualTrees();
        System.out.print(go(seed + 2, OPERATIONS / 4, "us-east").orFail());
        awaitEqualTrees();
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }
}
