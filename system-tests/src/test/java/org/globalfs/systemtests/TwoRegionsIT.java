package org.globalfs.systemtests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.globalfs.cli.client.Connection;
import org.globalfs.client.PathOperations;
import org.globalfs.protocol.config.ClientConfig;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What one region's mount promises to another's. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class TwoRegionsIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private LocalCluster cluster;

    @BeforeAll
    void start(LocalCluster shared) {
        cluster = shared;
    }

    /** What was closed in one region is read whole by the next open in another, every time. */
    @Test
    void closedThenOpenedElsewhereIsWhole() {
        Path west = cluster.mount("us-west");
        Path eu = cluster.mount("eu-west");
        run(west, "mkdir shared");
        cluster.awaitSeen("shared");
        run(
                Path.of("/"),
                """
                for i in $(seq 1 40); do
                  head -c $((i * i * 997)) /dev/urandom > '%1$s/shared/f'
                  a=$(sha256sum < '%1$s/shared/f'); b=$(sha256sum < '%2$s/shared/f')
                  [ "$a" = "$b" ] || { echo "round $i: $a is not $b"; exit 1; }
                done
                """
                        .formatted(west, eu));
    }

    /**
     * Appends from two regions to one file are totally ordered: each record once, whole, both
     * mounts agree.
     */
    @Test
    void appendsFromTwoRegionsAreTotallyOrdered() throws IOException {
        run(cluster.mount("us-west"), "mkdir appends && : > appends/log");
        cluster.awaitSeen("appends/log");
        String append =
                "for i in $(seq 1 200); do echo \"%s $i ..............................\" >> appends/log; done";
        List<CompletableFuture<Shell.Outcome>> writers = new ArrayList<>();
        for (String region : List.of("us-west", "us-east")) {
            writers.add(
                    Shell.meanwhile(() ->
                            Shell.bash(LIMIT, cluster.mount(region), append.formatted(region))));
        }
        writers.forEach(w -> w.join().orFail());
        String seenInWest = run(cluster.mount("us-west"), "cat appends/log");
        assertThat(run(cluster.mount("us-east"), "cat appends/log")).isEqualTo(seenInWest);
        Map<String, Integer> last = new HashMap<>();
        for (String line : seenInWest.lines().toList()) {
            String[] words = line.split(" ");
            assertThat(words).hasSize(3);
            int next = Integer.parseInt(words[1]);
            assertThat(next).as(line).isEqualTo(last.getOrDefault(words[0], 0) + 1);
            last.put(words[0], next);
        }
        assertThat(last).isEqualTo(Map.of("us-west", 200, "us-east", 200));
    }

    /** Exclusive creates of one name race from all regions: exactly one wins. */
    @Test
    void exclusiveCreateHasOneWinner() {
        run(cluster.mount("us-west"), "mkdir race");
        cluster.awaitSeen("race");
        String racer =
                "n=0; for i in $(seq 1 60); do if mkdir race/d$i 2>/dev/null; then n=$((n+1)); fi; done; echo $n";
        List<CompletableFuture<String>> racers = new ArrayList<>();
        for (String region : LocalCluster.REGIONS) {
            racers.add(Shell.meanwhile(() -> run(cluster.mount(region), racer)));
        }
        int winners = racers.stream().mapToInt(r -> Integer.parseInt(r.join().strip())).sum();
        assertThat(winners).isEqualTo(60);
    }

    /**
     * rename between the global root and a regional directory: the tree never shows both names or
     * none.
     */
    @Test
    void renamesBetweenPartitions() {
        Path west = cluster.mount("us-west");
        run(
                west,
                "mkdir home && echo hello > top && mv top home/inner && [ ! -e top ] && [ \"$(cat home/inner)\" = hello ]");
        run(
                west,
                "mv home/inner back && [ ! -e home/inner ] && [ \"$(cat back)\" = hello ] && rm back");
        run(
                west,
                "mkdir home/d && touch home/d/x && ! rmdir home/d 2>/dev/null && rm -r home && [ ! -e home ]");
    }

    /**
     * A session that takes over another's vector sees what the other wrote, in another region, at
     * its first look: in the global partition too, whose replicas answer without asking anyone.
     */
    @Test
    void aSessionThatPassesItsVectorIsFollowedAtOnce() throws Exception {
        try (Connection west = Connection.open(config("us-west"));
                Connection eu = Connection.open(config("eu-west"))) {
            PathOperations writer = west.client().paths(0, 0);
            PathOperations reader = eu.client().paths(0, 0);
            for (int i = 1; i <= 40; i++) {
                byte[] content = "round %d%n".formatted(i).repeat(i * i).getBytes(UTF_8);
                String path = i % 2 == 0 ? "/causal-" + i : "/causal-d" + i + "/file";
                if (i % 2 == 1) {
                    writer.makeDirectory("/causal-d" + i, 0755);
                }
                writer.write(path, content);
                eu.client().join(west.client().vector());
                assertThat(reader.read(path)).isEqualTo(content);
            }
        }
    }

    /**
     * Post, then comment: whoever sees, in a regional file, what was written after a change of the
     * global partition sees that change at its first look, although its kernel was told the
     * contrary just before.
     */
    @Test
    void whoSeesTheCommentSeesThePost() {
        String program =
                """
                import os, sys
                west, east = sys.argv[1:]
                os.mkdir(west + '/comments')
                def write(path, text):
                    with open(path, 'w') as f: f.write(text)
                def read(path):
                    try:
                        with open(path) as f: return f.read()
                    except FileNotFoundError: return ''
                write(west + '/posts', '')
                while not os.path.exists(east + '/posts') or not os.path.exists(east + '/comments'): pass
                for i in range(1, 61):
                    post = '/post-%d' % i
                    assert not os.path.exists(east + post) and os.stat(east + '/posts').st_size == i - 1
                    write(west + post, str(i))
                    os.truncate(west + '/posts', i)
                    write(west + '/comments/last', str(i))
                    while read(east + '/comments/last') != str(i): pass
                    assert os.path.exists(east + post), i
                    assert os.stat(east + '/posts').st_size == i, i
                """;
        List<String> line = new ArrayList<>(List.of("python3", "-c", program));
        List.of("us-west", "us-east").forEach(region -> line.add(cluster.mount(region).toString()));
        Shell.run(LIMIT, cluster.data(), line).orFail();
    }

    private ClientConfig config(String region) throws Exception {
        return ClientConfig.read(
                cluster.data().resolve("config").resolve("mount-" + region + ".yaml"));
    }

    private static String run(Path folder, String script) {
        return Shell.bash(LIMIT, folder, script).orFail();
    }
}
