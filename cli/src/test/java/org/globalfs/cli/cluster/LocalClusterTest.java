package org.globalfs.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LocalClusterTest {
    @TempDir Path temporary;

    private final List<String> told = new ArrayList<>();

    private ClusterFolder folder() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000);
        String like = Files.readString(folder.config("us-west-a"));
        Files.writeString(folder.config("us-west-copy"), like);
        Files.writeString(
                folder.config("us-west-d"),
                like.replace("name: us-west-a", "name: \"us-west-d\" # mine"));
        return folder;
    }

    /** A process that is told its run file, as servers are. */
    private static Process begun(ClusterFolder folder, String name) throws Exception {
        RunFile run = folder.run(name);
        Process process =
                new ProcessBuilder("sh", "-c", "read _", RunFile.OPTION, run.path().toString())
                        .start();
        run.begin(process.pid());
        return process;
    }

    @Test
    void aServerWhoseFileWasAddedIsOneOfTheCluster() throws Exception {
        ClusterFolder folder = folder();
        assertThat(folder.servers())
                .hasSize(11)
                .startsWith("zookeeper", "us-west-a")
                .endsWith("us-west-d");
        try (LocalCluster cluster = new LocalCluster(folder, told::add)) {
            Process added = begun(folder, "us-west-d");
            assertThat(cluster.runningServers()).containsExactly("us-west-d");
            assertThat(cluster.stop()).isEqualTo(1);
            assertThat(added.waitFor(10, TimeUnit.SECONDS)).isTrue();
            assertThat(told).containsExactly("stopping us-west-d");
        }
    }

    @Test
    void whatRunsWithoutAFileIsStopped() throws Exception {
        ClusterFolder folder = folder();
        Process gone = begun(folder, "us-west-e");
        Process mount = begun(folder, "mount-us-west-2");
        try (LocalCluster cluster = new LocalCluster(folder, told::add)) {
            assertThat(cluster.stop()).isEqualTo(2);
        }
        assertThat(gone.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(mount.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(told).containsExactly("stopping mount-us-west-2", "stopping us-west-e");
    }

    @Test
    void aFileThatNamesAnotherServerIsNotStarted() throws Exception {
        try (LocalCluster cluster = new LocalCluster(folder(), told::add)) {
            assertThatThrownBy(() -> cluster.start(List.of("us-west-copy")))
                    .isInstanceOf(Failure.class)
                    .hasMessageContaining("us-west-copy.yaml")
                    .hasMessageContaining("'name'");
            assertThatThrownBy(() -> cluster.start(List.of("no")))
                    .isInstanceOf(Failure.class)
                    .hasMessageContaining("choose from zookeeper, us-west-a")
                    .hasMessageContaining("us-west-d");
        }
    }
}
