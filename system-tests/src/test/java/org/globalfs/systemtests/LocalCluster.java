package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * A cluster of 3 regions × 3 datacenters as separate processes in a temporary folder, with a mount
 * per region; gone, mounts included, when closed.
 */
final class LocalCluster implements AutoCloseable {
    static final List<String> REGIONS = List.of("us-west", "us-east", "eu-west");
    private static final Duration START = Duration.ofMinutes(5);
    private static final String FLAGS = "GLOBALFS_JVM_FLAGS";
    private final Path data;
    private final String more;

    private LocalCluster(Path data, String more) {
        this.data = data;
        this.more = more;
    }

    static LocalCluster start(String name) throws IOException {
        return start(name, "");
    }

    /**
     * @param more flags of its processes
     */
    static LocalCluster start(String name, String more) throws IOException {
        return start(Files.createTempDirectory("globalfs-" + name + "-"), more);
    }

    /** In an empty folder. */
    static LocalCluster start(Path data) throws IOException {
        return start(data, "");
    }

    static LocalCluster start(Path data, String more) throws IOException {
        LocalCluster cluster = new LocalCluster(data, more);
        try {
            cluster.up();
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** Starts, or starts again, all that is not running; returns once it is ready. */
    void up() {
        globalfs(START, "up", "--processes", "--background").orFail();
    }

    Path data() {
        return data;
    }

    Path mount(String region) {
        return data.resolve("mnt").resolve(region);
    }

    /** `globalfs COMMAND --data DATA OPTIONS…`. */
    Shell.Outcome globalfs(Duration deadline, String command, String... options) {
        List<String> line = new ArrayList<>(List.of("env", FLAGS + "=" + flags() + " " + more));
        line.addAll(launcher());
        line.addAll(List.of(command, "--data", data.toString()));
        line.addAll(Arrays.asList(options));
        return Shell.run(deadline, Path.of("."), line);
    }

    /**
     * Processes that live for a minute spend half of it in the optimising compiler, so they do
     * without, and without the vector coders, which need it. QuickstartIT and HistoriesIT have all
     * as users have it.
     */
    private static String flags() {
        return System.getenv()
                .getOrDefault(FLAGS, "-XX:TieredStopAtLevel=1 -Dglobalfs.coder=table");
    }

    static List<String> launcher() {
        Path jar = Path.of(Objects.requireNonNull(System.getProperty("globalfs.jar"), "jar"));
        List<String> line = java("-XX:TieredStopAtLevel=1");
        Path archive = archive(jar);
        if (Files.exists(archive)) {
            line.addAll(
                    List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:aot=off"));
        }
        line.addAll(List.of("-jar", jar.toString()));
        return line;
    }

    private static List<String> java(String... flags) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(Arrays.asList(flags));
        line.addAll(
                List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-XX:-UsePerfData"));
        return line;
    }

    /** As ./globalfs makes it: an archive of the program's classes, which halves every start. */
    private static synchronized Path archive(Path jar) {
        Path archive = jar.resolveSibling("globalfs.jsa");
        File made = archive.toFile();
        if (!made.exists() || made.lastModified() < jar.toFile().lastModified()) {
            List<String> line = java("-XX:ArchiveClassesAtExit=" + archive);
            line.addAll(List.of("-jar", jar.toString(), "warm-up"));
            Shell.run(Duration.ofMinutes(2), Path.of("."), line).orFail();
        }
        return archive;
    }

    void kill(String... names) {
        globalfs(Duration.ofSeconds(20), "kill", names).orFail();
    }

    /** kill -9 of every process, servers and mounts, in one stroke. */
    void killEverything() {
        Shell.bash(Duration.ofSeconds(20), data, "kill -9 $(cat run/*.pid)").orFail();
    }

    void restart(String... names) {
        globalfs(START, "start", names).orFail();
    }

    Map<?, ?> status(String... options) {
        List<String> all = new ArrayList<>(List.of("--json"));
        all.addAll(Arrays.asList(options));
        String text =
                globalfs(Duration.ofSeconds(60), "status", all.toArray(String[]::new)).orFail();
        String json = text.substring(text.indexOf('{'));
        return (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(json);
    }

    /**
     * Everything in `status` that is called `key` in some replica's ring `ring`, one a replica that
     * answers.
     */
    List<Object> ringValues(Map<?, ?> status, int ring, String key) {
        List<Object> values = new ArrayList<>();
        for (Map<?, ?> region : maps(status, "regions")) {
            for (Map<?, ?> replica : maps(region, "replicas")) {
                for (Map<?, ?> state : maps(replica, "rings")) {
                    if (((Number) Objects.requireNonNull(state.get("ring"))).intValue() == ring) {
                        values.add(Objects.requireNonNull(state.get(key), key));
                    }
                }
            }
        }
        return values;
    }

    /** The name of the process of the replica that coordinates ring 0. */
    String globalCoordinatorProcess() {
        return coordinator(0, region -> true);
    }

    /** The name of the process (`us-west-a`) of the replica that coordinates a region's ring. */
    String coordinatorProcess(String region) {
        return coordinator(1 + REGIONS.indexOf(region), region::equals);
    }

    /** Waits for it: an election may be under way. */
    private String coordinator(int ring, Predicate<Object> region) {
        List<String> found = new ArrayList<>();
        await(
                Duration.ofMinutes(1),
                () -> {
                    for (Map<?, ?> each : maps(status(), "regions")) {
                        List<Map<?, ?>> replicas = maps(each, "replicas");
                        for (Map<?, ?> replica : replicas) {
                            if (region.test(each.get("name")) && coordinates(replica, ring)) {
                                found.add(
                                        each.get("name")
                                                + "-"
                                                + "abc".charAt(replicas.indexOf(replica)));
                            }
                        }
                    }
                    return !found.isEmpty();
                },
                () -> "ring " + ring + " has no coordinator: " + status());
        return found.getFirst();
    }

    private static boolean coordinates(Map<?, ?> replica, int ring) {
        return maps(replica, "rings").stream()
                .anyMatch(state ->
                        number(state, "ring") == ring
                                && number(state, "coordinator") == number(replica, "id"));
    }

    static int number(Map<?, ?> map, String key) {
        return ((Number) Objects.requireNonNull(map.get(key), key)).intValue();
    }

    static List<Map<?, ?>> maps(Map<?, ?> parent, String key) {
        List<Map<?, ?>> all = new ArrayList<>();
        if (parent.get(key) instanceof Collection<?> items) {
            for (Object item : items) {
                all.add((Map<?, ?>) Objects.requireNonNull(item));
            }
        }
        return all;
    }

    /**
     * Waits until every replica answers, all have executed as much, and their states' hashes agree;
     * sees that the tree is whole; returns the status.
     */
    Map<?, ?> awaitEqualHashes(Duration deadline) {
        List<String> last = new ArrayList<>();
        await(
                deadline,
                () -> {
                    Map<?, ?> status = status("--hashes");
                    last.clear();
                    last.add(String.valueOf(status));
                    return agree(status, 0, 9)
                            && agree(status, 1, 3)
                            && agree(status, 2, 3)
                            && agree(status, 3, 3);
                },
                () -> "replicas' states differ: " + last);
        assertThat(globalfs(Duration.ofMinutes(2), "fsck").orFail()).contains("clean");
        return status();
    }

    private boolean agree(Map<?, ?> status, int ring, int replicas) {
        List<Object> positions = ringValues(status, ring, "hashPosition");
        List<Object> hashes = ringValues(status, ring, "hash");
        return hashes.size() == replicas
                && Stream.of(positions, hashes).allMatch(l -> l.stream().distinct().count() == 1);
    }

    static void await(
            Duration deadline,
            BooleanSupplier condition,
            java.util.function.Supplier<String> otherwise) {
        try {
            org.awaitility.Awaitility.await()
                    .atMost(deadline)
                    .pollInterval(Duration.ofMillis(500))
                    .until(condition::getAsBoolean);
        } catch (org.awaitility.core.ConditionTimeoutException e) {
            throw new AssertionError(otherwise.get(), e);
        }
    }

    /**
     * Waits until every mount shows what was made in one of them. Names in the global partition are
     * read causally: another region may see them a little later.
     */
    void awaitSeen(String... paths) {
        for (String region : REGIONS) {
            for (String path : paths) {
                await(
                        Duration.ofMinutes(1),
                        () -> Files.exists(mount(region).resolve(path), LinkOption.NOFOLLOW_LINKS),
                        () -> path + " is not seen in " + region);
            }
        }
    }

    @Override
    public void close() throws IOException {
        Shell.Outcome stopped = globalfs(Duration.ofSeconds(60), "stop");
        // whatever is left: processes by their pid files, mounts by their folders
        Shell.bash(
                Duration.ofSeconds(30),
                Path.of("/"),
                "for p in '"
                        + data
                        + "'/run/*.pid; do [ -f \"$p\" ] && kill -9 \"$(cat \"$p\")\" 2>/dev/null || true; done;"
                        + " for m in '"
                        + data
                        + "'/mnt/*; do mountpoint -q \"$m\" 2>/dev/null && umount -l \"$m\" || true; done");
        if (!stopped.ok()) {
            System.err.println("stop: " + stopped);
        }
        String keep = System.getProperty("globalfs.test.keep", "");
        if (keep.isEmpty()) {
            Shell.bash(
                    Duration.ofSeconds(60),
                    Path.of("/"),
                    "rm -rf --one-file-system '" + data + "'");
        } else {
            System.err.println("kept: " + data);
        }
    }
}
