package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A cluster of 3 regions × 3 datacenters as processes, with a cache and a mount a region, made by
 * the program {@code globalfs}: all on loopback, or each region in a WAN lab's network. In one
 * region a server is two processes, see {@link #storageProcesses}: what is said of such a server is
 * said of both.
 */
public final class TestedCluster implements AutoCloseable {
    public static final List<String> REGIONS = List.of("us-west", "us-east", "eu-west");
    public static final List<String> DATACENTERS = List.of("a", "b", "c");
    public static final String ZOOKEEPER = "zookeeper";
    private static final String MOUNT = "mount-";
    private static final String CACHE = "-cache";

    /** That of large files. Not all regions: three more processes are enough for small machines. */
    private static final String SEPARATE_STORAGE = "us-east";

    /** A server's cache, as {@code globalfs} configures it. */
    private static final Pattern CACHE_ROLE = Pattern.compile("(?m)^  cache:\\n    port: \\d+\\n");

    private static final Duration REDUNDANCY_LIMIT = Duration.ofMinutes(3);

    /** Several sweeps, and what a session that was lost keeps open. */
    private static final Duration COLLECTION_LIMIT = Duration.ofMinutes(3);

    private static final Duration REMOVE_LIMIT = Duration.ofMinutes(15);
    private static final Duration START_LIMIT = Duration.ofMinutes(5);
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration MOVE_LIMIT = Duration.ofSeconds(30);
    private static final int KILL_SECONDS = 20;
    private static final int AGREE_PAUSE_MS = 500;

    private final List<String> globalfs;
    private final Path folder;
    private final Surroundings around;
    private final Set<String> damagedBlocks = new HashSet<>();
    private final Set<String> mortal = ConcurrentHashMap.newKeySet();

    /** Servers that came later, with those whose network they share. */
    private final Map<String, String> added = new ConcurrentHashMap<>();

    private boolean contentIsWhole;

    private int newestReplica = REGIONS.size() * DATACENTERS.size();

    /**
     * Nothing is made or started before {@link #up}.
     *
     * @param globalfs the program, with what comes before its arguments
     * @param folder empty or absent
     * @param around what it is put on; it is made already
     */
    public TestedCluster(List<String> globalfs, Path folder, Surroundings around) {
        this.globalfs = globalfs;
        this.folder = folder;
        this.around = around;
    }

    /** Makes it and starts every process; returns once it serves. */
    public void up() throws IOException {
        configure();
        start(everything());
    }

    /** Makes what it needs, to be changed before it is started. */
    public void configure() throws IOException {
        List<String> places = new ArrayList<>(REGIONS);
        if (around.lab().isPresent()) {
            places = new ArrayList<>(List.of(REGIONS.getFirst()));
            places.addAll(allServers());
        }
        List<String> hosts =
                places.stream()
                        .map(p -> around.lab().map(lab -> lab.address(p)).orElse("127.0.0.1"))
                        .toList();
        globalfs(LIMIT, List.of(), "up", "--configure-for", String.join(",", hosts));
        if (around.disks().isPresent()) {
            around.disks().get().mount(folder.resolve("data"));
        }
        separateCaches();
        hurryUpkeep();
        separateStorage();
    }

    private void separateStorage() throws IOException {
        for (String server : servers(SEPARATE_STORAGE)) {
            StorageProcess split = StorageProcess.split(server, Files.readString(config(server)));
            Files.writeString(config(server), split.server());
            Files.writeString(config(StorageProcess.of(server)), split.storage());
        }
    }

    /** Each region's cache becomes a process of its own, in the network of the server it was in. */
    private void separateCaches() throws IOException {
        for (String region : REGIONS) {
            String server = cacheHost(region);
            String yaml = Files.readString(config(server));
            Matcher cache = CACHE_ROLE.matcher(yaml);
            if (!cache.find()) {
                throw new IOException("no " + CACHE_ROLE + " in " + yaml);
            }
            String head = yaml.substring(0, yaml.indexOf("roles:\n"));
            String topology = yaml.substring(yaml.indexOf("topology:\n"));
            Files.writeString(
                    config(cacheProcess(region)),
                    head.replace(server, cacheProcess(region))
                            + "roles:\n"
                            + cache.group()
                            + topology);
            Files.writeString(config(server), cache.replaceFirst(""));
        }
    }

    private static String cacheHost(String region) {
        return servers(region).getFirst();
    }

    /** What servers do every few hours by default joins each run, some times a minute. */
    private void hurryUpkeep() throws IOException {
        for (String server : allServers()) {
            String yaml =
                    Files.readString(config(server))
                            .replaceFirst(
                                    "(?m)^    id: \\d+$",
                                    "$0\n    sweepPeriod: 15s\n    sweepGrace: 20s")
                            .replaceAll(
                                    "(?m)^    - id: \\S+$",
                                    "$0\n      repairGrace: 5s\n      scrubPeriod: 1min");
            Files.writeString(config(server), yaml);
        }
    }

    /** Locks of a mount that is silent for so long are dropped; of mounts started later. */
    public void shortenLeases(Duration lease) throws IOException {
        for (String region : REGIONS) {
            String more = "mount:\n  sessionLease: " + lease.toMillis() + "ms\n";
            Files.writeString(config(mountProcess(region)), more, StandardOpenOption.APPEND);
        }
    }

    /** From soon on the oracles move trees to whoever uses them most at the time. */
    public void letTreesFollowTheirUsers() throws IOException {
        String policy =
                """
                rules:
                  - path: /
                    move: eager
                    residence: 3s
                  - path: /at-global
                    move: eager
                    global: true
                    residence: 3s
                """;
        Files.writeString(folder.resolve("config").resolve("policy.yaml"), policy);
    }

    /** How to start the program of this jar; quicker with the archive of classes beside it. */
    public static List<String> program(Path jar) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        line.add("--enable-native-access=ALL-UNNAMED");
        line.add("--add-modules=jdk.incubator.vector");
        line.add("--sun-misc-unsafe-memory-access=allow");
        Path archive = jar.resolveSibling("globalfs.jsa");
        if (Files.exists(archive)) {
            line.addAll(
                    List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:aot=off"));
        }
        line.addAll(List.of("-jar", jar.toString()));
        return line;
    }

    /** Removes a folder with all in it, but nothing of what is mounted there. */
    public static void remove(Path folder) throws IOException {
        List<String> command = List.of("rm", "-rf", "--one-file-system", folder.toString());
        Command.run(LIMIT, Path.of("/"), Map.of(), command);
    }

    /** Every process. */
    public static List<String> everything() {
        List<String> names = new ArrayList<>(List.of(ZOOKEEPER));
        names.addAll(allServers());
        REGIONS.forEach(region -> names.add(cacheProcess(region)));
        REGIONS.forEach(region -> names.add(mountProcess(region)));
        return names;
    }

    /** The servers of all regions. */
    public static List<String> allServers() {
        return REGIONS.stream().flatMap(region -> servers(region).stream()).toList();
    }

    /** Each server, with its region. */
    public static Map<String, String> regionsOfServers() {
        Map<String, String> regions = new LinkedHashMap<>();
        REGIONS.forEach(region -> servers(region).forEach(server -> regions.put(server, region)));
        return regions;
    }

    /** A region's servers, one a datacenter. */
    public static List<String> servers(String region) {
        return DATACENTERS.stream().map(datacenter -> region + "-" + datacenter).toList();
    }

    /** Processes that are one storage node each, of different datacenters of one region. */
    public static List<String> storageProcesses() {
        return servers(SEPARATE_STORAGE).stream().map(StorageProcess::of).toList();
    }

    /** These, each server with all that runs beside it. */
    static List<String> withStorage(List<String> names) {
        List<String> all = new ArrayList<>();
        for (String name : names) {
            all.add(name);
            if (servers(SEPARATE_STORAGE).contains(name)) {
                all.add(StorageProcess.of(name));
            }
        }
        return all;
    }

    public static String cacheProcess(String region) {
        return region + CACHE;
    }

    public static String mountProcess(String region) {
        return MOUNT + region;
    }

    public Path folder() {
        return folder;
    }

    public Path mount(String region) {
        return folder.resolve("mnt").resolve(region);
    }

    /** Where a server's files are. */
    public Path data(String server) {
        return folder.resolve("data").resolve(server);
    }

    /** What a process has logged since it was first started. */
    public String log(String process) throws IOException {
        return Files.readString(
                folder.resolve("log").resolve(process + ".log"), StandardCharsets.ISO_8859_1);
    }

    /**
     * Blocks of which a chunk was damaged, and that are not known to be whole again: another damage
     * of theirs may be one too many.
     */
    public Set<String> damagedBlocks() {
        return damagedBlocks;
    }

    /** From now on it is no fault when the server ends: it may find damage of its files. */
    public void expectToDie(String server) {
        mortal.add(server);
    }

    /** A new server's configuration, made after another's of the same region. */
    public AddedServer prepareServer(String like) throws IOException {
        String region =
                REGIONS.stream().filter(r -> servers(r).contains(like)).findFirst().orElseThrow();
        String yaml = Files.readString(config(like));
        AddedServer server = AddedServer.like(like, region, yaml, ++newestReplica);
        Files.writeString(config(server.name()), server.yaml());
        added.put(server.name(), like);
        return server;
    }

    /** Ends it in order, and takes away what it has. */
    public void removeServer(AddedServer server) throws IOException {
        signal("-TERM", List.of(server.name()));
        for (ProcessHandle process : processes(List.of(server.name()))) {
            awaitEnd(process);
        }
        Files.deleteIfExists(config(server.name()));
        remove(data(server.name()));
        added.remove(server.name());
    }

    private Path config(String process) {
        return folder.resolve("config").resolve(process + ".yaml");
    }

    /** {@code globalfs ring}, until it is in force. */
    public void ring(String what, int... replicas) throws IOException {
        List<String> line = new ArrayList<>(List.of(what));
        for (int replica : replicas) {
            line.add(Integer.toString(replica));
        }
        line.addAll(List.of("--timeout", "60"));
        globalfs(START_LIMIT, prefix(REGIONS.getFirst()), "ring", line.toArray(String[]::new));
    }

    /** What it was put on. */
    public Surroundings around() {
        return around;
    }

    private List<String> prefix(String process) {
        if (around.lab().isEmpty()) {
            return List.of();
        }
        WanLab lab = around.lab().get();
        String server = added.getOrDefault(process, process);
        for (String each : servers(SEPARATE_STORAGE)) {
            server = server.equals(StorageProcess.of(each)) ? each : server;
        }
        if (allServers().contains(server)) {
            return lab.prefix(server);
        }
        for (String region : REGIONS) {
            if (process.equals(cacheProcess(region))) {
                return lab.prefix(cacheHost(region));
            }
            if (process.startsWith(region) || process.equals(mountProcess(region))) {
                return lab.prefix(region);
            }
        }
        return lab.prefix(REGIONS.getFirst());
    }

    private String globalfs(
            Duration limit, List<String> prefix, String command, String... arguments)
            throws IOException {
        List<String> line = new ArrayList<>(prefix);
        line.addAll(globalfs);
        line.addAll(List.of(command, "--data", folder.toString()));
        line.addAll(Arrays.asList(arguments));
        Map<String, String> environment = around.clocks().map(Clocks::environment).orElse(Map.of());
        return Command.run(limit, Path.of("/"), environment, line);
    }

    /** {@code globalfs place move}, through a region's mount; fails when something stays. */
    public void moveTree(String via, String tree, String to) throws IOException {
        List<String> line = new ArrayList<>(globalfs);
        line.addAll(List.of("place", "move", mount(via).resolve(tree).toString(), to));
        Command.run(MOVE_LIMIT, Path.of("/"), Map.of(), line);
    }

    /** Starts those of them that are down: ZooKeeper, then servers, then mounts. */
    public void start(List<String> names) throws IOException {
        startAtOnce(names.stream().filter(ZOOKEEPER::equals).toList());
        startAtOnce(
                withStorage(names).stream()
                        .filter(n -> !n.equals(ZOOKEEPER) && !isMount(n))
                        .toList());
        startAtOnce(names.stream().filter(TestedCluster::isMount).toList());
    }

    private static boolean isMount(String name) {
        return name.startsWith(MOUNT);
    }

    private void startAtOnce(List<String> names) throws IOException {
        Map<List<String>, List<String>> places = new LinkedHashMap<>();
        names.forEach(
                name -> places.computeIfAbsent(prefix(name), p -> new ArrayList<>()).add(name));
        List<CompletableFuture<Void>> all = new ArrayList<>();
        places.forEach((prefix, there) ->
                all.add(
                        CompletableFuture.runAsync(
                                () -> startThere(prefix, there), Thread::startVirtualThread)));
        for (CompletableFuture<Void> each : all) {
            try {
                each.join();
            } catch (CompletionException e) {
                throw new IOException("cannot start " + names + ": " + e.getCause(), e);
            }
        }
    }

    private void startThere(List<String> prefix, List<String> names) {
        try {
            globalfs(START_LIMIT, prefix, "start", names.toArray(String[]::new));
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    /** kill -9, all in one stroke; those that are down already stay so. */
    public void kill(List<String> names) throws IOException {
        List<ProcessHandle> processes = processes(names);
        processes.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle process : processes) {
            awaitEnd(process);
        }
    }

    private static void awaitEnd(ProcessHandle process) throws IOException {
        try {
            process.onExit().get(KILL_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IOException("process " + process.pid() + " does not die", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** They stand still until {@link #resume}. */
    public void pause(List<String> names) throws IOException {
        signal("-STOP", names);
    }

    /** They go on. */
    public void resume(List<String> names) throws IOException {
        signal("-CONT", names);
    }

    private void signal(String signal, List<String> names) throws IOException {
        List<String> command = new ArrayList<>(List.of("kill", signal));
        processes(names).forEach(process -> command.add(Long.toString(process.pid())));
        if (command.size() > 2) {
            Command.run(LIMIT, Path.of("/"), Map.of(), command);
        }
    }

    /** A pid of a process that was killed may have gone to another one since. */
    private static boolean isOf(ProcessHandle process, Path runFile) {
        Path line = Path.of("/proc", Long.toString(process.pid()), "cmdline");
        try {
            return Files.readString(line).contains(runFile.toString());
        } catch (IOException e) {
            return false;
        }
    }

    private List<ProcessHandle> processes(List<String> names) throws IOException {
        List<ProcessHandle> processes = new ArrayList<>();
        for (String name : withStorage(names)) {
            Path file = folder.resolve("run").resolve(name + ".pid");
            if (Files.exists(file)) {
                long pid = Long.parseLong(Files.readString(file).strip());
                ProcessHandle.of(pid).filter(p -> isOf(p, file)).ifPresent(processes::add);
            }
        }
        return processes;
    }

    /** Runs a bash script in a region's mount. */
    public void inMount(String region, String script) throws IOException {
        Command.run(
                LIMIT, mount(region), Map.of(), List.of("bash", "-euo", "pipefail", "-c", script));
    }

    /**
     * Waits until all replicas of each ring have executed as much, and says whether their states
     * are equal then, the tree is whole, and there is as much of all content as there should be;
     * empty: so it is. What nodes missed is made anew by them, which takes a while.
     */
    public Optional<String> difference(Duration limit) throws IOException {
        Optional<String> differ = await(ClusterStatus::equal, limit);
        if (differ.isPresent()) {
            return Optional.of("replicas' states differ: " + differ.get());
        }
        if (!damagedBlocks.isEmpty()) {
            Optional<String> left = awaitContent(REDUNDANCY_LIMIT);
            if (left.isPresent()) {
                return Optional.of("damaged content is not mended: " + left.get());
            }
        }
        long deadlineNs = System.nanoTime() + REDUNDANCY_LIMIT.toNanos();
        while (true) {
            String found;
            try {
                found = globalfs(START_LIMIT, prefix(REGIONS.getFirst()), "fsck");
                if (found.contains("clean") && !found.contains("fewer chunks")) {
                    return Optional.empty();
                }
            } catch (IOException e) {
                found = String.valueOf(e.getMessage());
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return Optional.of("fsck: " + found.strip());
            }
            pause();
        }
    }

    /**
     * Has storage nodes make anew what was lost, also by damage that nobody has met yet, and waits
     * until all is where it belongs; what is left if it does not come to that. Not for several
     * threads at once.
     */
    public Optional<String> awaitContent(Duration limit) {
        Optional<String> left = content().awaitWhole(limit, !damagedBlocks.isEmpty());
        contentIsWhole = left.isEmpty();
        if (contentIsWhole) {
            damagedBlocks.clear();
        }
        return left;
    }

    private StoredContent content() {
        return new StoredContent(
                what -> globalfs(LIMIT, prefix(REGIONS.getFirst()), "datastore", what));
    }

    /**
     * Removes the tree, and waits until storage nodes have nothing any more: what they have then is
     * of no file, and would stay for good. Which nodes have something, if it does not come to that.
     *
     * @param folders what is removed, each with a region by whose mount that is quickest
     */
    public Optional<String> leaked(Map<String, String> folders) throws IOException {
        List<CompletableFuture<Void>> removals = new ArrayList<>();
        folders.forEach((tree, region) ->
                removals.add(
                        CompletableFuture.runAsync(
                                () -> removeTree(tree, region), Thread::startVirtualThread)));
        for (CompletableFuture<Void> each : removals) {
            try {
                each.join();
            } catch (CompletionException e) {
                throw new IOException("the tree cannot be removed: " + e.getCause(), e);
            }
        }
        return content().awaitNone(COLLECTION_LIMIT);
    }

    private void removeTree(String tree, String region) {
        String script = "find '%s' -mindepth 2 -maxdepth 2 -print0 | xargs -0 -r -n 1 -P 4 rm -rf";
        List<String> command =
                List.of(
                        "bash",
                        "-euo",
                        "pipefail",
                        "-c",
                        script.formatted(tree) + "; rm -r " + tree);
        try {
            Command.run(REMOVE_LIMIT, mount(region), Map.of(), command);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    /** Whether the last {@link #awaitContent} found it to be. */
    public boolean isContentWhole() {
        return contentIsWhole;
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(AGREE_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /**
     * Waits until every replica takes part in its rings and has read all of its state; the last
     * status if it does not come to that. Servers that may have died are started again.
     */
    public Optional<String> awaitMembers(Duration limit) throws IOException {
        return await(ClusterStatus::complete, limit);
    }

    private Optional<String> await(Predicate<ClusterStatus> good, Duration limit)
            throws IOException {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        while (true) {
            start(List.copyOf(mortal));
            String status = status("--hashes");
            if (good.test(ClusterStatus.parse(status))) {
                return Optional.empty();
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return Optional.of(status.strip());
            }
            pause();
        }
    }

    /**
     * The server that most replicas believe to coordinate a partition; empty: none is known.
     *
     * @param partition a region, or another name for the global one
     */
    public Optional<String> coordinator(String partition) throws IOException {
        return ClusterStatus.parse(status()).coordinator(partition);
    }

    private String status(String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--json"));
        arguments.addAll(List.of(more));
        return globalfs(
                LIMIT, prefix(REGIONS.getFirst()), "status", arguments.toArray(String[]::new));
    }

    /** Ends every process and takes the mounts away; the folder stays. */
    @Override
    public void close() throws IOException {
        if (!Files.exists(folder.resolve("run"))) {
            return;
        }
        try {
            globalfs(LIMIT, List.of(), "stop");
        } finally {
            kill(everything());
            kill(List.copyOf(added.keySet()));
            for (String region : REGIONS) {
                String detach =
                        "if mountpoint -q '%1$s'; then umount -l '%1$s'; fi"
                                .formatted(mount(region));
                Command.run(LIMIT, Path.of("/"), Map.of(), List.of("bash", "-c", detach));
            }
        }
    }
}
