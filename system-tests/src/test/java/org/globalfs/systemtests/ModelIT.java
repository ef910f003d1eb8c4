package org.globalfs.systemtests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random operations in directories of three regions and of partition 0, through one mount, beside
 * the same ones on a local file system: every result and errno is the same, also while coordinators
 * are killed, and all mounts show the same tree, also after everything was killed. {@code
 * -Dglobalfs.model.operations=100000} makes it a long run, {@code -Dglobalfs.model.seed=N} repeats
 * one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ModelIT {
    private static final int OPERATIONS = Integer.getInteger("globalfs.model.operations", 400);
    private static final Duration LIMIT = Duration.ofMinutes(OPERATIONS > 10_000 ? 600 : 6);

    private LocalCluster cluster;
    @TempDir private static Path folder;
    private Path local;

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
                    "until [ -d model ]; do sleep 0.1; done; mkdir model/%s; : > model/%s/keep";
            Shell.bash(LIMIT, cluster.mount(region), make.formatted(region, region)).orFail();
            Shell.bash(LIMIT, local, "mkdir %s; : > %s/keep".formatted(region, region)).orFail();
        }
        awaitEqualTrees();
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
    }

    private Shell.Outcome model(String verb, long seed, int operations, String... regions) {
        List<String> line = new ArrayList<>();
        line.add("python3");
        line.add(Path.of("src/test/resources/model.py").toAbsolutePath().toString());
        line.addAll(
                List.of(verb, local.toString(), Long.toString(seed), Integer.toString(operations)));
        for (String region : regions) {
            line.add(cluster.mount(region).resolve("model").toString());
        }
        return Shell.run(LIMIT, folder, line);
    }

    /** What is in partition 0 is seen elsewhere a moment later. */
    private void awaitEqualTrees() {
        String[] all = LocalCluster.REGIONS.toArray(String[]::new);
        List<Shell.Outcome> last = new ArrayList<>();
        LocalCluster.await(
                Duration.ofSeconds(20),
                () -> {
                    last.add(model("compare", 0, 0, all));
                    return last.getLast().ok();
                },
                () -> last.getLast().output());
    }

    @Test
    void theSameAsALocalFileSystem() {
        long seed = Long.getLong("globalfs.model.seed", System.nanoTime() & 0xffffff);
        System.out.println("model: seed " + seed);
        System.out.print(model("go", seed, OPERATIONS, "eu-west").orFail());
        awaitEqualTrees();

        CompletableFuture<Shell.Outcome> meanwhile =
                Shell.meanwhile(() -> model("go", seed + 1, OPERATIONS / 2, "us-west"));
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
        System.out.print(model("go", seed + 2, OPERATIONS / 4, "us-east").orFail());
        awaitEqualTrees();
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }
}
