package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Yaml;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a cluster on one machine: marker, configurations, process ids, logs, data, mounts.
 */
public final class ClusterFolder {
    private static final String CONFIG = ".yaml";
    private static final String RUN = ".pid";
    private static final Pattern NAME_KEY = Pattern.compile("(?m)^name:[ \\t]*[\"']?([^\\s\"'#]+)");

    private final Path root;

    /** Keeps the ports of a cluster that was just made from another that is being made. */
    private FreePorts.@Nullable Block ports;

    private ClusterFolder(Path root) {
        this.root = root;
    }

    /** A folder that already is a cluster's. */
    public static ClusterFolder open(Path given) throws Failure {
        ClusterFolder folder = new ClusterFolder(given.toAbsolutePath().normalize());
        if (!Files.isRegularFile(folder.marker())) {
            throw new Failure(
                    ExitCode.CONFIG,
                    given
                            + " is not a GlobalFS cluster's folder (no file 'cluster' in it): name one with --data, or make one with 'globalfs quickstart'");
        }
        return folder;
    }

    /** The same, or a new one when the folder is absent or empty. */
    public static ClusterFolder openOrCreate(Path given, int basePort)
            throws Failure, ConfigException, IOException {
        return openOrCreate(given, basePort, LocalTopology.LOOPBACK);
    }

    /**
     * @param hosts each region's address, or ZooKeeper's and each datacenter's, for configurations
     *     that are not there yet
     */
    public static ClusterFolder openOrCreate(Path given, int basePort, List<String> hosts)
            throws Failure, ConfigException, IOException {
        if (!LocalTopology.fits(hosts)) {
            throw new Failure(
                    ExitCode.USAGE,
                    "there are 3 regions of 3 datacenters: name 3 addresses, one a region, or 10,"
                            + " ZooKeeper's and one a datacenter, not "
                            + hosts);
        }
        ClusterFolder folder = new ClusterFolder(given.toAbsolutePath().normalize());
        if (!Files.exists(folder.marker())) {
            // A symbolic link to nothing is none either.
            if (Files.exists(folder.root, LinkOption.NOFOLLOW_LINKS)
                    && !Files.isDirectory(folder.root)) {
                throw new Failure(
                        ExitCode.CONFIG, folder.root + " is not a folder: choose another");
            }
            if (Files.isDirectory(folder.root) && !folder.isEmpty()) {
                throw new Failure(
                        ExitCode.CONFIG,
                        folder.root
                                + " holds something else than a GlobalFS cluster: choose an empty or new folder");
            }
            folder.create(basePort);
        }
        folder.complete(basePort, hosts);
        return folder;
    }

    /** Its processes listen now, or never will: other clusters need not be kept from its ports. */
    void releasePorts() throws IOException {
        if (ports != null) {
            ports.close();
            ports = null;
        }
    }

    public Path root() {
        return root;
    }

    public Path config(String name) {
        return root.resolve("config").resolve(name + CONFIG);
    }

    public Path configs() {
        return root.resolve("config");
    }

    public Path log(String name) {
        return root.resolve("log").resolve(name + ".log");
    }

    public Path mountpoint(String region) {
        return root.resolve("mnt").resolve(region);
    }

    public RunFile run(String name) {
        return new RunFile(root.resolve("run").resolve(name + RUN));
    }

    /** Every server process, ZooKeeper first, those last that somebody added. */
    public List<String> servers() throws IOException {
        List<String> all = new ArrayList<>(LocalTopology.servers());
        for (String name : names(configs(), CONFIG)) {
            if (!all.contains(name) && isServer(name)) {
                all.add(name);
            }
        }
        return all;
    }

    /**
     * Whether a file in {@code config} is a server's own: it names itself. A copy of another one's
     * does not, nor does a mount's.
     */
    private boolean isServer(String name) throws IOException {
        Matcher own = NAME_KEY.matcher(Files.readString(config(name), StandardCharsets.ISO_8859_1));
        return own.find() && own.group(1).equals(name);
    }

    /** Processes that have a run file, whatever they are. */
    List<String> begun() throws IOException {
        return names(root.resolve("run"), RUN);
    }

    private static List<String> names(Path folder, String ending) throws IOException {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + ending)) {
                for (Path file : files) {
                    String name = String.valueOf(file.getFileName());
                    names.add(name.substring(0, name.length() - ending.length()));
                }
            }
        }
        Collections.sort(names);
        return names;
    }

    public List<String> regions() {
        return LocalTopology.REGIONS;
    }

    public String cluster() throws ConfigException {
        Yaml yaml = Yaml.read(marker());
        return yaml.text("cluster");
    }

    /** Keeps every other launcher off this folder until it is released. */
    FileLock lock() throws IOException, Failure {
        FileChannel channel =
                FileChannel.open(
                        root.resolve("run").resolve("lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            channel.close();
            throw inUse("another 'globalfs' is starting, running or stopping it");
        }
        return lock;
    }

    Failure inUse(String by) {
        return new Failure(
                ExitCode.ALREADY_RUNNING,
                root
                        + " is in use: "
                        + by
                        + "; see: globalfs status --data "
                        + ShellWord.of(root)
                        + "; end it with: globalfs stop --data "
                        + ShellWord.of(root)
                        + "; or choose another --data");
    }

    /** Whether a process's configuration names the ZooKeeper that is a process of this cluster. */
    boolean usesOwnZooKeeper(String name) throws Failure, IOException {
        try {
            String own = ServerConfig.read(config(LocalTopology.ZOOKEEPER)).zookeeper();
            boolean mount = name.startsWith(LocalTopology.mount(""));
            String theirs =
                    mount
                            ? ClientConfig.read(config(name)).zookeeper()
                            : ServerConfig.read(config(name)).zookeeper();
            return theirs.equals(own);
        } catch (ConfigException e) {
            throw new Failure(ExitCode.CONFIG, String.valueOf(e.getMessage()), e);
        }
    }

    private Path marker() {
        return root.resolve("cluster");
    }

    private boolean isEmpty() throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            return !entries.iterator().hasNext();
        }
    }

    private void create(int basePort) throws IOException, Failure {
        byte[] id = new byte[4];
        ThreadLocalRandom.current().nextBytes(id);
        int base = basePort > 0 ? own(basePort) : freePorts().first();
        makeRoot();
        String text =
                "cluster: local-" + HexFormat.of().formatHex(id) + "\nbasePort: " + base + "\n";
        Folders.write(marker(), text);
    }

    private void makeRoot() throws IOException, Failure {
        try {
            Folders.create(root);
        } catch (AccessDeniedException e) {
            throw e; // it names who lacks the right
        } catch (FileSystemException e) {
            String reason = e.getReason() == null ? "" : " (" + e.getReason() + ")";
            throw new Failure(
                    ExitCode.CONFIG,
                    "no folder can be made at " + root + reason + ": choose another",
                    e);
        }
    }

    /** Writes what is not there yet; a file that somebody edited stays as it is. */
    private void complete(int basePort, List<String> hosts)
            throws Failure, ConfigException, IOException {
        Yaml yaml = Yaml.read(marker());
        String cluster = yaml.text("cluster");
        int base = yaml.port("basePort");
        yaml.finish();
        if (basePort > 0 && basePort != base) {
            throw new Failure(
                    ExitCode.CONFIG,
                    root
                            + " holds a cluster whose ports begin at "
                            + base
                            + ", and cannot be given others: leave --base-port out, or choose"
                            + " another folder");
        }
        for (String each : List.of("config", "run", "log", "mnt")) {
            Folders.create(root.resolve(each));
        }
        Folders.createPrivate(root.resolve("data"));
        LocalTopology topology = new LocalTopology(cluster, base, hosts);
        write(LocalTopology.ZOOKEEPER, topology.zooKeeperYaml());
        write(LocalTopology.POLICY, LocalTopology.policyYaml());
        for (int region = 0; region < LocalTopology.REGIONS.size(); region++) {
            String name = LocalTopology.REGIONS.get(region);
            for (int dc = 0; dc < LocalTopology.DATACENTERS.size(); dc++) {
                write(
                        name + "-" + LocalTopology.DATACENTERS.get(dc),
                        topology.serverYaml(region, dc));
            }
            write(LocalTopology.mount(name), topology.mountYaml(region));
        }
    }

    private void write(String name, String text) throws IOException {
        if (!Files.exists(config(name))) {
            Folders.write(config(name), text);
        }
    }

    private static int own(int basePort) throws Failure {
        OutgoingPorts outgoing = OutgoingPorts.ofThisMachine();
        int last = basePort + LocalTopology.PORTS - 1;
        if (outgoing.among(basePort, LocalTopology.PORTS).isPresent()) {
            throw new Failure(
                    ExitCode.USAGE,
                    String.format(
                            "--base-port %d: the kernel gives ports from %d to %d to outgoing"
                                    + " connections, which may then have one that a server is to"
                                    + " listen on: choose one below %d, leave it out, or keep them"
                                    + " free with: sysctl net.ipv4.ip_local_reserved_ports=%d-%d",
                            basePort,
                            outgoing.first(),
                            outgoing.last(),
                            outgoing.first() - LocalTopology.PORTS + 1,
                            basePort,
                            last));
        }
        return basePort;
    }

    private FreePorts.Block freePorts() throws Failure {
        try {
            FreePorts.Block found = FreePorts.block(LocalTopology.PORTS);
            ports = found;
            return found;
        } catch (IOException e) {
            throw new Failure(
                    ExitCode.PORT_BUSY, e.getMessage() + ": name the first with --base-port");
        }
    }
}
