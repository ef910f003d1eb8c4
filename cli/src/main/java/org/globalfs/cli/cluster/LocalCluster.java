package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.client.fuse.MountException;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;

/**
 * The processes of a cluster on this machine. Whoever starts them is not their keeper: they run in
 * sessions of their own and are found again by their run files, so any later command can stop, kill
 * or restart them.
 */
public final class LocalCluster implements AutoCloseable {
    private static final String WHOLE = "cluster";
    private static final String MOUNT_PREFIX = "mount-";
    private static final long START_LIMIT_NS = TimeUnit.SECONDS.toNanos(120);
    private static final long MOUNT_STOP_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long SERVER_STOP_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long KILL_NS = TimeUnit.SECONDS.toNanos(10);

    private final ClusterFolder folder;
    private final Consumer<String> progress;
    private final List<FileLock> locks = new ArrayList<>();
    private final ReentrantLock working = new ReentrantLock();
    private volatile boolean cancelled;

    public LocalCluster(ClusterFolder folder, Consumer<String> progress) {
        this.folder = folder;
        this.progress = progress;
    }

    /** Opens or makes the folder, and keeps other launchers off it until close. */
    public static LocalCluster claim(Path data, int basePort, Consumer<String> progress)
            throws Failure, ConfigException, IOException {
        ClusterFolder folder = ClusterFolder.openOrCreate(data, basePort);
        LocalCluster cluster = new LocalCluster(folder, progress);
        cluster.locks.add(folder.lock());
        List<String> servers = cluster.runningServers();
        if (!servers.isEmpty()) {
            String first = servers.getFirst();
            long pid = folder.run(first).process().map(ProcessHandle::pid).orElse(0L);
            cluster.close();
            throw folder.inUse("its process '" + first + "' runs (pid " + pid + ")");
        }
        return cluster;
    }

    public ClusterFolder folder() {
        return folder;
    }

    /** Starts everything; on a failure nothing is left running. */
    public void up(boolean processes, boolean mounts)
            throws Failure, ConfigException, IOException, InterruptedException {
        boolean done = false;
        if (mounts) {
            checkMountable();
        }
        working.lock();
        try {
            List<String> stuck = new ArrayList<>();
            stopNamed(LocalTopology.mounts(), MOUNT_STOP_NS, stuck);
            checkGone(stuck);
            List<String> servers = processes ? folder.servers() : List.of(WHOLE);
            launch(servers);
            if (mounts) {
                launch(LocalTopology.mounts());
            }
            done = true;
        } finally {
            try {
                if (!done) {
                    stop();
                }
            } finally {
                working.unlock();
            }
        }
    }

    /** Before minutes are spent on servers that nobody will be able to use. */
    private static void checkMountable() throws Failure, IOException {
        try {
            FuseMount.checkDevice();
        } catch (MountException e) {
            throw new Failure(
                    ExitCode.CONFIG, e.getMessage() + "; --no-mount starts the servers alone");
        }
    }

    /** Starts processes that are down; quiet about those that run. */
    public void start(List<String> names)
            throws Failure, ConfigException, IOException, InterruptedException {
        List<String> down = new ArrayList<>();
        for (String name : names) {
            checkName(name);
            if (folder.run(name).process().isEmpty()) {
                down.add(name);
            }
        }
        checkZooKeeper(down);
        launch(down.stream().filter(name -> !isMount(name)).toList());
        launch(down.stream().filter(LocalCluster::isMount).toList());
    }

    /** Each would wait half a minute for the cluster's own ZooKeeper, unless it uses another. */
    private void checkZooKeeper(List<String> names) throws Failure, IOException {
        if (names.contains(LocalTopology.ZOOKEEPER)
                || names.contains(WHOLE)
                || folder.run(LocalTopology.ZOOKEEPER).process().isPresent()
                || folder.run(WHOLE).process().isPresent()) {
            return;
        }
        for (String name : names) {
            if (folder.usesOwnZooKeeper(name)) {
                throw new Failure(
                        ExitCode.ZOOKEEPER,
                        "the cluster's ZooKeeper is down, and "
                                + name
                                + " cannot start without it: run 'globalfs start "
                                + LocalTopology.ZOOKEEPER
                                + " "
                                + String.join(" ", names)
                                + "', with the same --data");
            }
        }
    }

    /** Kills without warning, as a power cut would; a process that is down already is no error. */
    public void kill(List<String> names) throws Failure, IOException, InterruptedException {
        List<ProcessHandle> victims = new ArrayList<>();
        for (String name : names) {
            checkName(name);
            folder.run(name).process().ifPresent(victims::add);
        }
        victims.forEach(ProcessHandle::destroyForcibly);
        for (String name : names) {
            if (!awaitGone(name, KILL_NS)) {
                throw new Failure(ExitCode.FAILED, name + " does not die: see 'ps' for its state");
            }
            folder.run(name).end();
        }
    }

    /**
     * Unmounts, then ends every server; returns how many processes ran.
     *
     * @throws Failure some run still
     */
    public int stop() throws IOException, InterruptedException, Failure {
        List<String> stuck = new ArrayList<>();
        Set<String> mounts = new LinkedHashSet<>(LocalTopology.mounts());
        folder.begun().stream().filter(LocalCluster::isMount).forEach(mounts::add);
        int count = stopNamed(List.copyOf(mounts), MOUNT_STOP_NS, stuck);
        List<String> servers = new ArrayList<>(allServers());
        servers.remove(LocalTopology.ZOOKEEPER);
        count += stopNamed(servers, SERVER_STOP_NS, stuck);
        count += stopNamed(List.of(LocalTopology.ZOOKEEPER), SERVER_STOP_NS, stuck);
        checkGone(stuck);
        return count;
    }

    private static void checkGone(List<String> stuck) throws Failure {
        if (!stuck.isEmpty()) {
            throw new Failure(
                    ExitCode.FAILED,
                    String.join(", ", stuck)
                            + ": not ended by kill -9 either: see 'ps' for the state. A process that"
                            + " waits for a disk or another mount ends with that");
        }
    }

    /** Ends a start that is under way in another thread, and then every process. */
    public void cancelAndStop() throws IOException, InterruptedException, Failure {
        cancelled = true;
        working.lock();
        try {
            stop();
        } finally {
            working.unlock();
        }
    }

    public List<String> runningServers() throws IOException {
        List<String> running = new ArrayList<>();
        for (String name : allServers()) {
            if (folder.run(name).process().isPresent()) {
                running.add(name);
            }
        }
        return running;
    }

    /**
     * Servers whose run file is still there although they are gone: they did not end of themselves.
     */
    public List<String> deadServers() throws IOException {
        List<String> dead = new ArrayList<>();
        for (String name : allServers()) {
            RunFile run = folder.run(name);
            // In this order: a process that ends of itself takes its file away before.
            if (run.process().isEmpty() && Files.exists(run.path())) {
                dead.add(name);
            }
        }
        return dead;
    }

    @Override
    public void close() throws IOException {
        for (FileLock lock : locks) {
            lock.acquiredBy().close();
        }
        locks.clear();
        folder.releasePorts();
    }

    /** Those whose files are gone, too, as long as they may run. */
    private List<String> allServers() throws IOException {
        Set<String> names = new LinkedHashSet<>(folder.servers());
        names.add(WHOLE);
        folder.begun().stream().filter(name -> !isMount(name)).forEach(names::add);
        return List.copyOf(names);
    }

    private static boolean isMount(String name) {
        return name.startsWith(MOUNT_PREFIX);
    }

    /** A cluster runs as one process or as many: names of the other kind mean nothing then. */
    private void checkName(String name) throws Failure, IOException {
        List<String> ran = new ArrayList<>(runningServers());
        ran.addAll(deadServers());
        boolean asOne = ran.isEmpty() || ran.contains(WHOLE);
        boolean asMany = ran.isEmpty() || ran.stream().anyMatch(each -> !each.equals(WHOLE));
        String why = "";
        if (name.equals(WHOLE)) {
            if (asOne) {
                return;
            }
            why = ", whose servers run as processes of their own";
        } else if (Files.isRegularFile(folder.config(name)) && !name.equals(LocalTopology.POLICY)) {
            if (!isMount(name) && !folder.servers().contains(name)) {
                throw new Failure(
                        ExitCode.CONFIG,
                        folder.config(name)
                                + " is not the file of a server '"
                                + name
                                + "': its key 'name' has to say the same");
            }
            if (asMany || isMount(name)) {
                return;
            }
            why = ", whose servers run as one";
        }
        List<String> known = new ArrayList<>();
        if (asMany) {
            known.addAll(folder.servers());
        }
        if (asOne) {
            known.add(WHOLE);
        }
        known.addAll(LocalTopology.mounts());
        throw new Failure(
                ExitCode.CONFIG,
                "there is no process '"
                        + name
                        + "' in this cluster"
                        + why
                        + ": choose from "
                        + String.join(", ", known));
    }

    private void launch(List<String> names)
            throws Failure, ConfigException, IOException, InterruptedException {
        List<Launched> launched = new ArrayList<>();
        for (String name : names) {
            checkNotCancelled();
            progress.accept("starting " + name);
            long heapBytes =
                    isMount(name)
                            ? JavaLauncher.heap(
                                    ClientConfig.read(folder.config(name)).mount(),
                                    GroupLimit.memory())
                            : kind(name).heap(GroupLimit.memory());
            launched.add(Launched.start(folder, name, kind(name), heapBytes, arguments(name)));
        }
        long deadline = System.nanoTime() + START_LIMIT_NS;
        for (Launched each : launched) {
            while (!each.isReady()) {
                checkNotCancelled();
                each.checkAlive(deadline);
                Thread.sleep(10);
            }
        }
    }

    private void checkNotCancelled() throws Failure {
        if (cancelled) {
            throw new Failure(ExitCode.FAILED, "interrupted while starting");
        }
    }

    private static JavaLauncher.Kind kind(String name) {
        return switch (name) {
            case WHOLE -> JavaLauncher.Kind.WHOLE_CLUSTER;
            case LocalTopology.ZOOKEEPER -> JavaLauncher.Kind.ZOOKEEPER;
            default -> isMount(name) ? JavaLauncher.Kind.MOUNT : JavaLauncher.Kind.SERVER;
        };
    }

    private List<String> arguments(String name) throws IOException, InterruptedException {
        String run = folder.run(name).path().toString();
        if (name.equals(WHOLE)) {
            return List.of("host", "--data", folder.root().toString(), RunFile.OPTION, run);
        }
        String config = folder.config(name).toString();
        if (!isMount(name)) {
            return List.of("server", "--config", config, RunFile.OPTION, run);
        }
        Path mountpoint = folder.mountpoint(name.substring(MOUNT_PREFIX.length()));
        if (Mounts.isMounted(mountpoint)) {
            Mounts.unmount(mountpoint, true);
        }
        Files.createDirectories(mountpoint);
        return List.of(
                "mount",
                "--claim-root", // whoever runs the cluster is the only one who uses it at first
                "--config",
                config,
                RunFile.OPTION,
                run,
                mountpoint.toString());
    }

    private int stopNamed(List<String> names, long patienceNs, List<String> stuck)
            throws IOException, InterruptedException {
        List<String> running = new ArrayList<>();
        for (String name : names) {
            Optional<ProcessHandle> process = folder.run(name).process();
            if (process.isPresent()) {
                progress.accept("stopping " + name);
                process.get().destroy();
                running.add(name);
            }
        }
        long deadline = System.nanoTime() + patienceNs;
        for (String name : names) {
            if (!awaitGone(name, deadline - System.nanoTime())) {
                progress.accept(name + " does not stop of itself: killing it");
                folder.run(name).process().ifPresent(ProcessHandle::destroyForcibly);
            }
            if (awaitGone(name, KILL_NS)) {
                folder.run(name).end();
            } else {
                stuck.add(name);
            }
            if (isMount(name)) {
                detach(folder.mountpoint(name.substring(MOUNT_PREFIX.length())));
            }
        }
        return running.size();
    }

    private void detach(Path mountpoint) throws IOException, InterruptedException {
        if (Mounts.isMounted(mountpoint) && !Mounts.unmount(mountpoint, true)) {
            progress.accept(
                    "could not unmount "
                            + mountpoint
                            + ": run 'umount -l "
                            + mountpoint
                            + "' as root");
        }
    }

    private boolean awaitGone(String name, long patienceNs)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + patienceNs;
        while (folder.run(name).process().isPresent()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(20);
        }
        return true;
    }
}
