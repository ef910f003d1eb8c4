package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random operations of six clients in three regions, each in a tree of its own beside the same ones
 * on a local file system, while the trees move from region to region, and into the global partition
 * and out of it, and servers are killed: every result and errno is the same. Directories of ten
 * names are too large for one command. {@code -Dglobalfs.model.moves=1000} makes it a long run,
 * {@code -Dglobalfs.model.seed=N} repeats one's moves and operations.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MoveModelIT {
    private static final int CLIENTS = 6;
    private static final int MOVES = Integer.getInteger("globalfs.model.moves", 6);

    /** Of one client, before it looks whether the moves are done. */
    private static final int OPERATIONS = 100;

    private static final Duration LIMIT = Duration.ofMinutes(8);
    private static final Duration MOVE = Duration.ofMinutes(2);

    @TempDir private static Path folder;
    private LocalCluster cluster;

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("movemodel", "-Dglobalfs.move.bytes=400");
        for (int client = 0; client < CLIENTS; client++) {
            Files.createDirectories(local(client));
            Shell.bash(LIMIT, cluster.mount(region(client)), "mkdir -p " + tree(client)).orFail();
        }
        for (int client = 0; client < CLIENTS; client++) {
            cluster.awaitSeen(tree(client));
        }
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static Path local(int client) {
        return folder.resolve("local").resolve(tree(client));
    }

    /** One level below what moves: a link to {@code ../b} leads to nothing that clients share. */
    private static String tree(int client) {
        return "tree" + client + "/top";
    }

    private static String region(int client) {
        return LocalCluster.REGIONS.get(client % LocalCluster.REGIONS.size());
    }

    private Shell.Outcome go(int client, long seed) {
        return model(
                "go",
                local(client).toString(),
                Long.toString(seed),
                Integer.toString(OPERATIONS),
                cluster.mount(region(client)).resolve(tree(client)).toString());
    }

    private Shell.Outcome compare(int client) {
        List<String> line = new ArrayList<>(List.of("compare", local(client).toString()));
        for (String region : LocalCluster.REGIONS) {
            line.add(cluster.mount(region).resolve(tree(client)).toString());
        }
        return model(line.toArray(String[]::new));
    }

    private static Shell.Outcome model(String... arguments) {
        String program = Path.of("src/test/resources/model").toAbsolutePath().toString();
        List<String> line = new ArrayList<>(List.of("python3", "-B", program));
        line.addAll(Arrays.asList(arguments));
        return Shell.run(LIMIT, folder, line);
    }

    /** Of a random tree to a random region or to all, asked for in any; whether all of it went. */
    private boolean move(Random random) {
        List<String> regions = LocalCluster.REGIONS;
        String asked = regions.get(random.nextInt(regions.size()));
        Path tree = cluster.mount(asked).resolve("tree" + random.nextInt(CLIENTS));
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of("place", "move", tree.toString()));
        int to = random.nextInt(regions.size() + 1);
        command.add(to < regions.size() ? regions.get(to) : "global");
        Shell.Outcome outcome = Shell.run(MOVE, Path.of("/"), command);
        if (!outcome.ok()) {
            assertThat(outcome.output()).contains("had to stay");
        }
        return outcome.ok();
    }

    /** Operations of one client until {@code enough}; what it printed. */
    private Shell.Outcome work(int client, long seed, AtomicBoolean enough) {
        Random seeds = new Random(seed + client);
        while (true) {
            Shell.Outcome outcome = go(client, seeds.nextInt(1 << 24));
            if (enough.get() || !outcome.ok()) {
                return outcome;
            }
        }
    }

    /** Moves, every third of which finds a server dead; how many went whole. */
    private int moveAndKill(Random random) {
        int whole = 0;
        for (int i = 0; i < MOVES; i++) {
            if (i % 3 == 2) {
                List<String> regions = LocalCluster.REGIONS;
                String server =
                        regions.get(random.nextInt(regions.size()))
                                + "-"
                                + "abc".charAt(random.nextInt(3));
                cluster.kill(server);
                whole += move(random) ? 1 : 0;
                cluster.restart(server);
            } else {
                whole += move(random) ? 1 : 0;
            }
        }
        return whole;
    }

    @Test
    void theSameAsALocalFileSystemWhileTreesMove() {
        long seed = Long.getLong("globalfs.model.seed", System.nanoTime() & 0xffffff);
        System.out.println("model: seed " + seed);
        AtomicBoolean enough = new AtomicBoolean();
        List<CompletableFuture<Shell.Outcome>> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            clients.add(Shell.meanwhile(() -> work(client, seed, enough)));
        }
        int whole;
        try {
            whole = moveAndKill(new Random(seed));
        } finally {
            enough.set(true);
            clients.forEach(CompletableFuture::join);
        }
        System.out.println(whole + " of " + MOVES + " moves went whole");
        for (CompletableFuture<Shell.Outcome> client : clients) {
            System.out.print(client.join().orFail());
        }
        assertThat(whole).isGreaterThan(MOVES / 2);
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            // Other regions may see a little later what was done in the global partition.
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> System.out.print(compare(client).orFail()));
        }
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }
}
