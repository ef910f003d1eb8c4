package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.datastore.s3.S3Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cluster whose content is in buckets of an S3 server instead of on storage nodes. */
final class S3IT {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static final String CACHE = "us-west-a";
    private static final String WITH_CACHE = CACHE + ".yaml";
    private static final Pattern CACHED =
            Pattern.compile("(?m)^" + CACHE + " +us-west +a +up +([0-9]+) .* ([0-9]+) % .*$");

    private Path data;
    private S3Server s3;

    @BeforeEach
    void configure() throws IOException {
        data = Files.createTempDirectory("globalfs-s3-");
        Path buckets = Files.createDirectory(data.resolve("s3"));
        s3 = new S3Server(buckets, LocalCluster.REGIONS.toArray(String[]::new));
        globalfs("up", "--configure-for", "127.0.0.1,127.0.0.1,127.0.0.1").orFail();
        try (var files = Files.newDirectoryStream(cluster().resolve("config"))) {
            for (Path file : files) {
                if (!file.endsWith("zookeeper.yaml") && !file.endsWith("policy.yaml")) {
                    Files.writeString(
                            file, inS3(Files.readString(file), file.endsWith(WITH_CACHE)));
                }
            }
        }
    }

    @AfterEach
    void stop() {
        globalfs("stop");
        s3.close();
        Shell.bash(
                LIMIT,
                Path.of("/"),
                "for m in '"
                        + data
                        + "'/cluster/mnt/*; do mountpoint -q $m && umount -l $m || true; done;"
                        + " rm -rf --one-file-system '"
                        + data
                        + "'");
    }

    /** Without storage nodes, and with a bucket a region; one server's cache keeps what is read. */
    private String inS3(String yaml, boolean withCache) {
        String cache = withCache ? "(?=  cache:)" : "(?=topology:)";
        StringBuilder changed =
                new StringBuilder(
                        yaml.replaceFirst("(?s)  storage:.*?" + cache, "")
                                .replace(
                                        "  cache:\n",
                                        "  cache:\n    policy: lru\n    chunks: 32\n"));
        changed.append("blocks:\n  store: s3\n  s3:\n");
        for (String region : LocalCluster.REGIONS) {
            changed.append("    - region: ").append(region).append('\n');
            changed.append("      bucket: ").append(region).append('\n');
            changed.append("      endpoint: ").append(s3.endpoint()).append('\n');
        }
        return changed.toString();
    }

    private Path cluster() {
        return data.resolve("cluster");
    }

    private Shell.Outcome globalfs(String command, String... options) {
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        line.addAll(List.of(command, "--data", cluster().toString()));
        line.addAll(List.of(options));
        return Shell.run(LIMIT, data, line);
    }

    private String bash(String script) {
        return Shell.bash(LIMIT, cluster().resolve("mnt"), script).orFail();
    }

    @Test
    void keepsContentOfARegionInItsBucketAndOfAllRegionsInAllBuckets() throws IOException {
        globalfs("up", "--background").orFail();
        bash("mkdir us-west/d && head -c 20000000 /dev/urandom > us-west/d/big");
        bash("head -c 1000000 /dev/urandom > eu-west/everywhere");
        String big = bash("sha256sum < us-west/d/big");
        String everywhere = bash("sha256sum < eu-west/everywhere");
        assertThat(s3.objects("us-west")).hasSizeGreaterThanOrEqualTo(5 + 3);
        assertThat(s3.objects("us-east")).hasSize(3);
        assertThat(s3.objects("eu-west")).hasSize(3);
        assertThat(bash("sha256sum < us-east/d/big")).isEqualTo(big);

        globalfs("kill", "mount-us-west").orFail();
        globalfs("start", "mount-us-west").orFail();
        assertThat(bash("sha256sum < us-west/d/big")).isEqualTo(big);
        Files.move(s3.bucket("eu-west"), s3.bucket("away"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(bash("sha256sum < us-east/everywhere")).isEqualTo(everywhere);
        Files.move(s3.bucket("away"), s3.bucket("eu-west"), StandardCopyOption.ATOMIC_MOVE);

        bash(
                "truncate -s 0 us-west/d/big us-west/everywhere && rm -r us-west/d eu-west/everywhere");
        LocalCluster.await(
                LIMIT,
                () -> LocalCluster.REGIONS.stream().allMatch(this::isEmpty),
                () -> "objects are left in the buckets");
        assertThat(bash("stat -f -c %a us-east")).isNotEqualTo("0\n");
        assertThat(globalfs("fsck").orFail()).contains("clean");
        assertThat(globalfs("status").orFail()).contains("us-east");
        aMountThatBelievesInStorageNodesIsRefused();
    }

    @Test
    void whatABucketLostIsMadeAnewAndCarriesReadsThen() throws IOException {
        globalfs("up", "--background").orFail();
        bash("for i in 1 2 3; do head -c 700000 /dev/urandom > us-west/everywhere$i; done");
        String sums = bash("cat us-west/everywhere? | sha256sum");
        List<Path> lost = s3.objects("us-west");
        assertThat(lost).hasSize(9);
        for (Path object : lost.subList(0, 6)) { // all that two of the blocks have there
            Files.delete(object);
        }
        for (Path object : lost.subList(6, 8)) {
            flip(object);
        }
        String repair = globalfs("datastore", "repair").orFail();
        assertThat(repair)
                .containsPattern("global +100 %  pass \\d+: 27 chunks looked at in .*, 6 made anew")
                .containsPattern("us-east +100 %  pass \\d+: 0 chunks");
        assertThat(globalfs("datastore", "scrub", "global").orFail())
                .containsPattern("global  100 %  .* read in .*, 2 damaged, 2 mended");
        assertThat(globalfs("datastore", "repair", "global").orFail()).contains(" 0 made anew");
        assertThat(globalfs("datastore", "status").orFail())
                .containsPattern("us-west +us-west +up +9 ")
                .containsPattern("global +\\d .* ago +0 +0 +0 ");

        for (Path object : s3.objects("us-east")) {
            flip(object);
        }
        for (String mount : List.of("mount-us-west", "mount-eu-west")) {
            globalfs("kill", mount).orFail();
            globalfs("start", mount).orFail();
        }
        assertThat(bash("cat us-west/everywhere? | sha256sum")).isEqualTo(sums);
        assertThat(bash("cat eu-west/everywhere? | sha256sum")).isEqualTo(sums);

        for (Path object : s3.objects("eu-west").subList(0, 1)) {
            Files.delete(object);
        }
        Shell.Outcome lostOne = globalfs("datastore", "scrub", "global");
        assertThat(lostOne.exitCode()).isEqualTo(1);
        assertThat(lostOne.output())
                .contains("global has 4 damaged chunks left")
                .containsPattern("global: block [0-9a-f]{32} is lost, only 5 of its 9 objects");
        assertThat(s3.objects("us-east")).hasSize(9);
    }

    /** Another region's files, of which the cache has all in the end. */
    @Test
    void farFilesAreReadThroughTheCacheAndWithoutIt() throws IOException {
        globalfs("up", "--processes", "--background").orFail();
        String files = "cat large small* | md5sum";
        String written =
                bash(
                        "mkdir eu-west/d; cd eu-west/d; head -c 9000000 /dev/urandom > large;"
                                + " for i in $(seq 5); do head -c 20000 /dev/urandom > small$i;"
                                + " done; sync; "
                                + files);
        String read = "cd us-west/d; " + files;
        long[] had = new long[1];
        LocalCluster.await(
                LIMIT,
                () -> {
                    restart("mount-us-west"); // it has a memory of its own
                    assertThat(bash(read)).isEqualTo(written);
                    long before = had[0];
                    had[0] = cached();
                    return before > 0 && had[0] == before;
                },
                () -> globalfs("datastore", "status").output());
        Files.move(s3.bucket("eu-west"), s3.bucket("away"), StandardCopyOption.ATOMIC_MOVE);
        restart("mount-us-west");
        assertThat(bash(read)).isEqualTo(written);
        Files.move(s3.bucket("away"), s3.bucket("eu-west"), StandardCopyOption.ATOMIC_MOVE);
        globalfs("kill", CACHE).orFail();
        restart("mount-us-west");
        assertThat(bash(read)).isEqualTo(written);
    }

    private void restart(String mount) {
        globalfs("kill", mount).orFail();
        globalfs("start", mount).orFail();
    }

    /** How many chunks the cache has of what it served already; 0: it served nothing yet. */
    private long cached() {
        String status = globalfs("datastore", "status").orFail();
        Matcher row = CACHED.matcher(status);
        assertThat(row.find()).as(status).isTrue();
        return row.group(2).equals("0") ? 0 : Long.parseLong(row.group(1));
    }

    private static void flip(Path object) throws IOException {
        byte[] bytes = Files.readAllBytes(object);
        bytes[bytes.length / 2] ^= 1;
        Files.write(object, bytes);
    }

    private boolean isEmpty(String bucket) {
        try {
            return s3.objects(bucket).isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void aMountThatBelievesInStorageNodesIsRefused() throws IOException {
        Path config = cluster().resolve("config/mount-us-west.yaml");
        Path other = data.resolve("other.yaml");
        Files.writeString(other, Files.readString(config).replaceFirst("(?s)blocks:.*", ""));
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        Path mountpoint = Files.createDirectory(data.resolve("other"));
        line.addAll(List.of("mount", "--config", other.toString(), mountpoint.toString()));
        Shell.Outcome refused = Shell.run(LIMIT, data, line);
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.output())
                .contains("keeps its blocks in 's3'")
                .contains("this configuration says 'dht'");
    }
}
