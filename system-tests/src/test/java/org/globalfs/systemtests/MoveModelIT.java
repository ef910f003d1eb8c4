package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random operations of six clients in three regions, each in a tree of its own beside the same ones
 * on a local file system, while the trees move from region to region and servers are killed: every
 * result and errno is the same. {@code -Dglobalfs.model.operations=100000} makes it a long run,
 * {@code -Dglobalfs.model.seed=N} repeats one's operations.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MoveModelIT {
    private static final int CLIENTS = 6;
    private static final int OPERATIONS = Integer.getInteger("globalfs.model.operations", 400);
    private static final Duration LIMIT = Duration.ofMinutes(OPERATIONS > 10_000 ? 600 : 8);
    private static final Duration MOVE = Duration.ofMinutes(2);

    @TempDir private static Path folder;
    private LocalCluster cluster;

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("movemodel");
        for (int client = 0; client < CLIENTS; client++) {
            Files.createDirectory(local(client));
            Shell.bash(LIMIT, cluster.mount(region(client)), "mkdir tree" + client).orFail();
        }
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static Path local(int client) {
        return folder.resolve("local" + client);
    }

    private static String region(int client) {
        return LocalCluster.REGIONS.get(client % LocalCluster.REGIONS.size());
    }

    private Shell.Outcome model(String verb, int client, long seed, int count, String... regions) {
        List<String> line = new ArrayList<>();
        line.add("python3");
        line.add(Path.of("src/test/resources/model.py").toAbsolutePath().toString());
        line.addAll(
                List.of(
                        verb,
                        local(client).toString(),
                        Long.toString(seed),
                        Integer.toString(count)));
        for (String region : regions) {
            line.add(cluster.mount(region).resolve("tree" + client).toString());
        }
        return Shell.run(LIMIT, folder, line);
    }

    /** Of a random tree to a random region, asked for in any; whether all of it went. */
    private boolean move(Random random) {
        List<String> regions = LocalCluster.REGIONS;
        String asked = regions.get(random.nextInt(regions.size()));
        Path tree = cluster.mount(asked).resolve("tree" + random.nextInt(CLIENTS));
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of("place", "move", tree.toString()));
        command.add(regions.get(random.nextInt(regions.size())));
        Shell.Outcome outcome = Shell.run(MOVE, Path.of("/"), command);
        if (!outcome.ok()) {
            assertThat(outcome.output()).contains("had to stay");
        }
        return outcome.ok();
    }

    @Test
    void theSameAsALocalFileSystemWhileTreesMove() {
        long seed = Long.getLong("globalfs.model.seed", System.nanoTime() & 0xffffff);
        System.out.println("model: seed " + seed);
        Random random = new Random(seed);
        List<CompletableFuture<Shell.Outcome>> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            clients.add(
                    Shell.meanwhile(() ->
                            model("go", client, seed + client, OPERATIONS, region(client))));
        }
        CompletableFuture<Void> all =
                CompletableFuture.allOf(clients.toArray(CompletableFuture[]::new));
        int moves = 0;
        int whole = 0;
        int kills = 0;
        while (!all.isDone()) {
            whole += move(random) ? 1 : 0;
            moves++;
            if (moves % 3 == 0) {
                String victim =
                        LocalCluster.REGIONS.get(random.nextInt(LocalCluster.REGIONS.size()))
                                + "-"
                                + "abc".charAt(random.nextInt(3));
                cluster.kill(victim);
                move(random);
                cluster.restart(victim);
                kills++;
            }
        }
        System.out.println(moves + " moves, " + whole + " of them whole; " + kills + " servers killed");
        for (CompletableFuture<Shell.Outcome> client : clients) {
            System.out.print(client.join().orFail());
        }
        assertThat(whole).isGreaterThan(5);
        assertThat(kills).isPositive();
        for (int client = 0; client < CLIENTS; client++) {
            String[] regions = LocalCluster.REGIONS.toArray(String[]::new);
            System.out.print(model("compare", client, 0, 0, regions).orFail());
        }
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }
}
