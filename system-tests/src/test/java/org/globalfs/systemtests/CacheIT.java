package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Files of another region, read through the cache of the reader's. On one machine no region is far
 * away: the mounts are told to ask the cache all the same, and the caches to keep all that is read.
 */
final class CacheIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String CACHE = "us-west-a";
    private static final Pattern READS =
            Pattern.compile("(?m)^" + CACHE + " +us-west +a +up .* (?<hits>[0-9]+) % .*$");

    private Path data;
    private LocalCluster cluster;

    @BeforeEach
    void start() throws IOException {
        data = Files.createTempDirectory("globalfs-cache-");
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        line.addAll(List.of("up", "--data", data.toString()));
        line.addAll(List.of("--configure-for", "127.0.0.1,127.0.0.1,127.0.0.1"));
        Shell.run(LIMIT, data, line).orFail();
        try (var files = Files.newDirectoryStream(data.resolve("config"))) {
            for (Path file : files) {
                String yaml = Files.readString(file);
                Files.writeString(
                        file,
                        yaml.replace("  cache:\n", "  cache:\n    policy: lru\n    chunks: 32\n"));
                if (file.getFileName().toString().startsWith("mount-")) {
                    Files.writeString(
                            file, "blocks:\n  cacheBeyond: 0s\n", StandardOpenOption.APPEND);
                }
            }
        }
        cluster = LocalCluster.start(data);
    }

    @AfterEach
    void stop() throws IOException {
        cluster.close();
    }

    private String bash(String script) {
        return Shell.bash(LIMIT, data.resolve("mnt"), script).orFail();
    }

    private void restartMount() {
        cluster.kill("mount-us-west");
        cluster.restart("mount-us-west");
    }

    /** Whether the cache had something of what was asked for since it was started. */
    private boolean served() {
        String status = cluster.globalfs(LIMIT, "datastore", "status").orFail();
        Matcher row = READS.matcher(status);
        assertThat(row.find()).as(status).isTrue();
        return !row.group("hits").equals("0");
    }

    @Test
    void farFilesAreReadThroughTheCacheAndWithoutIt() {
        String files = "cat large small*; head -c 5000000 large | tail -c 3000001";
        String written =
                bash(
                        "mkdir eu-west/d; cd eu-west/d; head -c 9000000 /dev/urandom > large;"
                                + " for i in $(seq 20); do head -c 20000 /dev/urandom > small$i;"
                                + " done; sync; ("
                                + files
                                + ") | md5sum");
        String read = "cd us-west/d; (" + files + ") | md5sum";
        await().atMost(2, TimeUnit.MINUTES)
                .until(() -> {
                    restartMount(); // it has a memory of its own
                    assertThat(bash(read)).isEqualTo(written);
                    return served();
                });
        cluster.kill(CACHE);
        restartMount();
        assertThat(bash(read)).isEqualTo(written);
        cluster.restart(CACHE);
        restartMount();
        assertThat(bash(read)).isEqualTo(written);
        assertThat(served()).isTrue(); // what it had it has again
    }
}
