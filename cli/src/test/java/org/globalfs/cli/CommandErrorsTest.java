package org.globalfs.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.globalfs.cli.command.GlobalFsCommand;
import org.globalfs.datastore.node.DataFolder;
import org.globalfs.multicast.log.LogException;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.discovery.EmbeddedZooKeeper;
import org.globalfs.replica.state.store.StateException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a user gets wrong ends in one line and the documented exit code. */
class CommandErrorsTest {
    @TempDir Path folder;

    private record Ended(int code, String error) {}

    @Test
    void anUnknownKeyAndAMissingOne() throws IOException {
        Ended unknown =
                server(config("demo", "127.0.0.1:1", 1).replace("data:", "datta: x\ndata:"));
        assertThat(unknown.code).isEqualTo(ExitCode.CONFIG);
        assertThat(unknown.error)
                .contains("server.yaml:3: datta: unknown key: did you mean 'data'?");
        Ended missing = server("cluster: demo\n");
        assertThat(missing.code).isEqualTo(ExitCode.CONFIG);
        assertThat(missing.error).contains("zookeeper: is missing: add it");
        assertThat(missing.error.strip().lines()).hasSize(1);
    }

    @Test
    void aFileThatIsNoYaml() throws IOException {
        Ended tab = server("cluster: demo\n\tdata: x\n");
        assertThat(tab.code).isEqualTo(ExitCode.CONFIG);
        assertThat(tab.error).contains("server.yaml:2: not valid YAML: ").hasLineCount(1);
        assertThat(tab.error).doesNotContain("Exception");
        Ended control = server("cluster: \u0001\n");
        assertThat(control.error).contains("server.yaml: not valid YAML: ").hasLineCount(1);
        assertThat(control.error).doesNotContain("Exception");
        Path latin = folder.resolve("latin.yaml");
        Files.write(latin, new byte[] {'a', ':', ' ', (byte) 0xe4, '\n'});
        assertThat(run("server", "--config", latin.toString()))
                .isEqualTo(
                        new Ended(
                                ExitCode.CONFIG,
                                "globalfs: " + latin + ": is not UTF-8 text: save it as UTF-8\n"));
    }

    @Test
    void aFileThatIsNotThere() {
        Ended ended = run("server", "--config", folder.resolve("no.yaml").toString());
        assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
        assertThat(ended.error).contains("no.yaml: no such file");
        assertThat(run("mount", "--config", folder.resolve("no.yaml").toString(), "x").code)
                .isEqualTo(ExitCode.CONFIG);
    }

    @Test
    void whatThisUserMayNotUse() {
        IOException denied = new AccessDeniedException("/x/p1");
        assertThat(Failure.describe(denied))
                .isEqualTo(
                        "/x/p1: permission denied: let user '"
                                + System.getProperty("user.name")
                                + "' use it");
        assertThat(Failure.codeOf(new IOException("replica 1", denied))).isEqualTo(ExitCode.CONFIG);
        String mend = "let user '" + System.getProperty("user.name") + "' use it";
        LogException log = new LogException(LogException.Reason.IO, "cannot open the log", denied);
        assertThat(Failure.describe(log)).endsWith(": permission denied: " + mend);
        StateException state =
                new StateException(
                        "cannot open /x/p1: /x/p1/LOG: Permission denied",
                        new AccessDeniedException("/x/p1"));
        assertThat(Failure.describe(new IOException("replica 1", state)))
                .contains("/x/p1/LOG: Permission denied")
                .endsWith(": " + mend);
        assertThat(Failure.codeOf(state)).isEqualTo(ExitCode.CONFIG);
    }

    @Test
    void aProcessThatMayOpenNoMoreFiles() {
        IOException used = new IOException("/x/p1: Too many open files");
        assertThat(Failure.describe(new IllegalStateException("no state", used)))
                .contains("no state", "/x/p1: Too many open files. ", "ulimit -n", "LimitNOFILE");
    }

    @Test
    void aProcessThatMayBeginNoMoreThreads() {
        Error none = new OutOfMemoryError("unable to create native thread: possibly out of memory");
        assertThat(Failure.describe(new IOException("replica 1", none)))
                .contains("replica 1: unable to create", "ulimit -u", "LimitNPROC");
    }

    @Test
    void aCacheThatIsLargerThanTheMemory() throws IOException {
        Path file =
                Files.writeString(
                        folder.resolve("large.yaml"),
                        "cluster: c\nzookeeper: z:1\nregion: r\nmount:\n  cache: 1024TiB\n");
        Ended ended = run("mount", "--config", file.toString(), folder.toString());
        assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
        assertThat(ended.error)
                .contains("large.yaml: mount.cache: 1073741824MiB is more than half of the ")
                .contains("--background")
                .hasLineCount(1);
    }

    @Test
    void aBusyPort() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String yaml =
                    "cluster: demo\nzookeeper: 127.0.0.1:1\ndata: data\nroles:\n  zookeeper: {port: "
                            + taken.getLocalPort()
                            + "}\n";
            Ended ended = server(yaml);
            assertThat(ended.code).isEqualTo(ExitCode.PORT_BUSY);
            assertThat(ended.error)
                    .contains("127.0.0.1:" + taken.getLocalPort())
                    .contains("busy")
                    .contains("roles.zookeeper.port");
        }
    }

    @Test
    void aBusyPortOfAStorageNode() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                EmbeddedZooKeeper zookeeper =
                        EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {})) {
            Ended ended = server(config("demo", zookeeper.connectString(), taken.getLocalPort()));
            assertThat(ended.code).isEqualTo(ExitCode.PORT_BUSY);
            assertThat(ended.error).contains(String.valueOf(taken.getLocalPort()));
        }
    }

    @Test
    void aReplicaInItsOwnPlace() throws IOException {
        Path file = folder.resolve("server.yaml");
        try (EmbeddedZooKeeper zookeeper =
                EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {})) {
            Files.writeString(file, config("demo", zookeeper.connectString(), 1));
            assertThat(
                            run(
                                    "ring",
                                    "--timeout",
                                    "1",
                                    "--config",
                                    file.toString(),
                                    "replace",
                                    "1",
                                    "1"))
                    .isEqualTo(
                            new Ended(
                                    ExitCode.USAGE,
                                    "globalfs: replica 1 cannot take its own place: name another\n"));
        }
    }

    @Test
    void anAddressThatThisMachineDoesNotHave() throws IOException {
        // 192.0.2.0/24 is for documentation: nobody has it
        for (String bind : new String[] {"192.0.2.1", "nowhere.invalid"}) {
            Ended ended =
                    server(
                            config("demo", "127.0.0.1:1", 1)
                                    .replace(
                                            "region: us-west\ndata",
                                            "bind: " + bind + "\nregion: us-west\ndata"));
            assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
            assertThat(ended.error)
                    .contains(bind + " is no address of this machine")
                    .contains("the key 'bind'");
        }
        assertThat(folder.resolve("data")).doesNotExist();
    }

    @Test
    void aFolderOfAnotherClusterOrServer() throws IOException {
        Files.createDirectories(folder.resolve("data"));
        Files.writeString(folder.resolve("data/cluster"), "cluster: other\nserver: us-west-a\n");
        Ended ended = server(config("demo", "127.0.0.1:1", 1));
        assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
        assertThat(ended.error).contains("belongs to cluster 'other', not to 'demo'");
        Files.writeString(folder.resolve("data/cluster"), "cluster: demo\nserver: us-west-b\n");
        assertThat(server(config("demo", "127.0.0.1:1", 1)).error)
                .contains("belongs to server 'us-west-b', not to 'us-west-a'");
    }

    @Test
    void aFolderOfAnotherStorageNode() throws IOException {
        try (EmbeddedZooKeeper zookeeper =
                EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {})) {
            String config = config("demo", zookeeper.connectString(), FreePorts.one());
            Path other = folder.resolve("other");
            DataFolder.open(other, "demo", "else").close();
            Ended ended =
                    server(config.replace("      port", "      data: " + other + "\n      port"));
            assertThat(ended.code).as(ended.error).isEqualTo(ExitCode.CONFIG);
            assertThat(ended.error).contains(other + " belongs to node else, not ");
        }
    }

    @Test
    void aFolderThatAnotherStorageNodeHas() throws IOException {
        try (EmbeddedZooKeeper zookeeper =
                        EmbeddedZooKeeper.start(folder.resolve("zk"), "127.0.0.1", 0, e -> {});
                DataFolder _ = DataFolder.open(folder.resolve("other"), "demo", "else")) {
            String config = config("demo", zookeeper.connectString(), FreePorts.one());
            String data = "      data: " + folder.resolve("other") + "\n      port";
            Ended ended = server(config.replace("      port", data));
            assertThat(ended.code).as(ended.error).isEqualTo(ExitCode.ALREADY_RUNNING);
            assertThat(ended.error).contains(folder.resolve("other") + " is in use by another ");
        }
    }

    @Test
    void aZooKeeperThatGoesAwayMeanwhile() {
        Exception lost = new KeeperException.ConnectionLossException();
        assertThat(Failure.codeOf(new IOException("recording replica 1", lost)))
                .isEqualTo(ExitCode.ZOOKEEPER);
    }

    @Test
    void aStateOrLogOfAnother() {
        String what = "/x/p1 holds partition 2, not 1";
        assertThat(Failure.codeOf(new IOException(StateException.foreign(what))))
                .isEqualTo(ExitCode.CONFIG);
        assertThat(Failure.describe(StateException.foreign(what))).startsWith(what);
        assertThat(Failure.codeOf(new LogException(LogException.Reason.REFUSED, "no")))
                .isEqualTo(ExitCode.CONFIG);
        assertThat(Failure.codeOf(new LogException(LogException.Reason.IO, "no")))
                .isEqualTo(ExitCode.FAILED);
    }

    @Test
    void aFolderThatHoldsSomethingElse() throws IOException {
        Path data = Files.createDirectories(folder.resolve("data"));
        Path letter = Files.writeString(data.resolve("letter.txt"), "dear");
        Ended ended = server(config("demo", "127.0.0.1:1", 1));
        assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
        assertThat(ended.error).contains(data + " holds something else (letter.txt)");
        assertThat(data).isDirectoryContaining(letter::equals);
        assertThat(data.toFile().list()).hasSize(1);
    }

    @Test
    void aFolderInUse() throws IOException {
        Files.createDirectories(folder.resolve("data"));
        Path lockFile = folder.resolve("data/lock");
        Files.writeString(lockFile, "4711\n");
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertThat(lock.isValid()).isTrue();
            Ended ended = server(config("demo", "127.0.0.1:1", 1));
            assertThat(ended.code).isEqualTo(ExitCode.ALREADY_RUNNING);
            assertThat(ended.error).contains("in use by process 4711");
        }
    }

    @Test
    void aZooKeeperThatDoesNotAnswer() throws IOException {
        Ended ended = server(config("demo", "127.0.0.1:1", 1));
        assertThat(ended.code).isEqualTo(ExitCode.ZOOKEEPER);
        assertThat(ended.error)
                .contains("ZooKeeper at 127.0.0.1:1 did not answer")
                .contains("'zookeeper'");
    }

    @Test
    void foldersThatAreNoClusters() throws IOException {
        Files.writeString(folder.resolve("letter.txt"), "dear");
        Ended status = run("status", "--data", folder.toString());
        assertThat(status.code).isEqualTo(ExitCode.CONFIG);
        assertThat(status.error).contains("is not a GlobalFS cluster's folder");
        Ended quickstart = run("quickstart", "--data", folder.toString());
        assertThat(quickstart.code).isEqualTo(ExitCode.CONFIG);
        assertThat(quickstart.error).contains("holds something else");
        assertThat(folder.resolve("cluster")).doesNotExist();
    }

    @Test
    void aMountpointThatIsNoFolder() throws IOException {
        Path config = folder.resolve("client.yaml");
        Files.writeString(config, "cluster: demo\nzookeeper: 127.0.0.1:1\nregion: us-west\n");
        Ended ended =
                run("mount", "--config", config.toString(), folder.resolve("none").toString());
        assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
        assertThat(ended.error).contains("does not exist: create it");
        assertThat(run("umount", folder.toString()).error).contains("is not mounted");
    }

    @Test
    void anothersMountIsLeftAlone() throws Exception {
        Path point = Files.createDirectory(folder.resolve("tmpfs"));
        assumeTrue(
                command("mount", "-t", "tmpfs", "none", point.toString()) == 0,
                "SKIPPED: needs root to mount a tmpfs");
        try {
            for (String[] how : new String[][] {{}, {"--lazy"}, {"--force"}}) {
                List<String> words = new ArrayList<>(List.of("umount"));
                words.addAll(List.of(how));
                words.add(point.toString());
                Ended ended = run(words.toArray(String[]::new));
                assertThat(ended.code).isEqualTo(ExitCode.FAILED);
                assertThat(ended.error).contains("of type tmpfs, none of GlobalFS");
            }
            assertThat(command("mountpoint", "-q", point.toString())).isZero();
        } finally {
            command("umount", point.toString());
        }
    }

    private static int command(String... line) throws Exception {
        return new ProcessBuilder(line)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    @Test
    void aQuotaOnSomethingThatIsNoMount() throws IOException {
        for (String[] words :
                new String[][] {
                    {"set", folder.toString(), "--bytes", "1G"},
                    {"show", folder.toString()},
                    {"clear", folder.toString()}
                }) {
            Ended ended = run(Stream.concat(Stream.of("quota"), Stream.of(words)));
            assertThat(ended.code).isEqualTo(ExitCode.FAILED);
            assertThat(ended.error).startsWith("globalfs: " + folder + " is no mount of GlobalFS");
        }
        assertThat(Files.getFileAttributeView(folder, UserDefinedFileAttributeView.class).list())
                .isEmpty();
        assertThat(run("quota", "show", folder.resolve("none").toString()).error)
                .contains("no such file");
    }

    @Test
    void aQuotaThatIsTooLarge() {
        Ended ended = run("quota", "set", folder.toString(), "--bytes", "9000000T");
        assertThat(ended.code).isEqualTo(ExitCode.USAGE);
        assertThat(ended.error).isEqualTo("globalfs: --bytes 9000000T is too large\n");
    }

    @Test
    void wrongUsage() {
        assertThat(run("sevrer"))
                .isEqualTo(
                        usage(
                                "there is no command 'sevrer' (did you mean server or datastore?)",
                                "globalfs"));
        assertThat(run("server"))
                .isEqualTo(usage("missing required option: '--config=FILE'", "globalfs server"));
        assertThat(run("status", "--jsno"))
                .isEqualTo(
                        usage(
                                "unknown option: '--jsno' (did you mean --json?)",
                                "globalfs status"));
        assertThat(run("status", "--data"))
                .isEqualTo(
                        usage(
                                "missing required parameter for option '--data' (DIR)",
                                "globalfs status"));
        assertThat(run("quota", "set"))
                .isEqualTo(usage("missing required parameter: 'PATH'", "globalfs quota set"));
        assertThat(run("quota"))
                .isEqualTo(usage("say what to do: set, show, list or clear", "globalfs quota"));
    }

    private static Ended usage(String what, String command) {
        return new Ended(ExitCode.USAGE, "globalfs: " + what + ": try '" + command + " --help'\n");
    }

    @Test
    void twoWaysToSayWhichCluster() {
        String[][] commands = {
            {"status"}, {"fsck"}, {"ring", "list"}, {"datastore", "status"}, {"datastore", "code"}
        };
        for (String[] command : commands) {
            Ended ended =
                    run(
                            Stream.concat(
                                    Stream.of(command),
                                    Stream.of("--data", "a", "--config", "b.yaml")));
            assertThat(ended)
                    .isEqualTo(
                            new Ended(
                                    ExitCode.USAGE,
                                    "globalfs: --data and --config both say which cluster: give one of them\n"));
        }
    }

    @Test
    void aFileOfAnotherKind() throws IOException {
        Path zookeeper = folder.resolve("zookeeper.yaml");
        Files.writeString(
                zookeeper,
                "cluster: demo\nzookeeper: 127.0.0.1:1\ndata: zk\nroles:\n  zookeeper: {port: 1}\n");
        for (String[] command :
                new String[][] {
                    {"status", "--config"}, {"fsck", "--config"}, {"ring", "list", "--config"}
                }) {
            Ended ended = run(Stream.concat(Stream.of(command), Stream.of(zookeeper.toString())));
            assertThat(ended.code).isEqualTo(ExitCode.CONFIG);
            assertThat(ended.error)
                    .startsWith("globalfs: " + zookeeper + " names no regions (topology): give")
                    .hasLineCount(1);
        }
        Path mount = folder.resolve("mount.yaml");
        Files.writeString(mount, "cluster: demo\nzookeeper: 127.0.0.1:1\nregion: us-west\n");
        for (String command : new String[] {"status", "server", "fsck"}) {
            assertThat(run(command, "--config", mount.toString()))
                    .isEqualTo(
                            new Ended(
                                    ExitCode.CONFIG,
                                    "globalfs: "
                                            + mount
                                            + ": is a mount's file: give a server's\n"));
        }
        Path server = folder.resolve("server.yaml");
        Files.writeString(server, config("demo", "127.0.0.1:1", 1));
        assertThat(run("mount", "--config", server.toString(), folder.toString()))
                .isEqualTo(
                        new Ended(
                                ExitCode.CONFIG,
                                "globalfs: " + server + ": is a server's file: give a mount's\n"));
    }

    @Test
    void aPortThatTheUserMayNotHave() {
        BindException denied = new BindException("Permission denied");
        assertThat(Failure.codeOf(new IOException("s1 cannot listen", denied)))
                .isEqualTo(ExitCode.CONFIG);
        assertThat(Failure.codeOf(new BindException("Address already in use")))
                .isEqualTo(ExitCode.PORT_BUSY);
    }

    private Ended server(String yaml) throws IOException {
        Path file = folder.resolve("server.yaml");
        Files.writeString(file, yaml);
        return run("server", "--config", file.toString());
    }

    private static String config(String cluster, String zookeeper, int port) {
        return """
        cluster: %s
        zookeeper: %s
        data: data
        region: us-west
        datacenter: a
        roles:
          storage:
            - id: s1
              port: %d
        topology:
          - region: us-west
            partition: 1
            replicas:
              - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
        """
                .formatted(cluster, zookeeper, port);
    }

    private static Ended run(Stream<String> arguments) {
        return run(arguments.toArray(String[]::new));
    }

    private static Ended run(String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(bytes, true, UTF_8));
        try {
            int code = GlobalFsCommand.commandLine(arguments).execute(arguments);
            return new Ended(code, bytes.toString(UTF_8));
        } finally {
            System.setErr(before);
        }
    }
}
