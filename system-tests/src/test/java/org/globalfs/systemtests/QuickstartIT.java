package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a newcomer does first: a cluster in one JVM, used, stopped, started again with its data. */
final class QuickstartIT {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Test
    void keepsDataAcrossRestarts() throws IOException {
        Path data = Files.createTempDirectory("globalfs-quickstart-");
        try {
            String said = globalfs(data, "quickstart", "--background").orFail();
            assertThat(said).contains(data.resolve("mnt/us-west").toString()).contains("stop");
            bash(
                    data,
                    "mkdir mnt/us-west/d && echo kept > mnt/us-west/d/f && head -c 3000000 /dev/urandom > mnt/us-east/big");
            bash(data, "grep 'target/native/.*librocksdbjni' /proc/$(cat run/cluster.pid)/maps");
            String sum = bash(data, "sha256sum < mnt/us-east/big");
            assertThat(globalfs(data, "status").orFail()).contains("us-east").contains("9 of 9");
            globalfs(data, "stop").orFail();
            assertThat(bash(data, "for m in mnt/*; do ! mountpoint -q $m; done; ls mnt/us-west"))
                    .isEmpty();
            globalfs(data, "quickstart", "--background").orFail();
            assertThat(bash(data, "cat mnt/eu-west/d/f")).isEqualTo("kept\n");
            assertThat(bash(data, "sha256sum < mnt/us-west/big")).isEqualTo(sum);
        } finally {
            globalfs(data, "stop");
            Shell.bash(
                    LIMIT,
                    Path.of("/"),
                    "for m in '"
                            + data
                            + "'/mnt/*; do mountpoint -q $m && umount -l $m || true; done; rm -rf --one-file-system '"
                            + data
                            + "'");
        }
    }

    private static Shell.Outcome globalfs(Path data, String command, String... options) {
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        line.addAll(List.of(command, "--data", data.toString()));
        line.addAll(List.of(options));
        return Shell.run(LIMIT, data, line);
    }

    private static String bash(Path folder, String script) {
        return Shell.bash(LIMIT, folder, script).orFail();
    }
}
