package org.globalfs.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ClusterFolderTest {
    @TempDir Path temporary;

    @Test
    void whatIsNoFolderIsNamed() throws Exception {
        Path link = Files.createSymbolicLink(temporary.resolve("link"), Path.of("nothing"));
        assertThatThrownBy(() -> ClusterFolder.openOrCreate(link, 12_000))
                .isInstanceOf(Failure.class)
                .hasMessage(link + " is not a folder: choose another");
        Path here = Path.of("").toAbsolutePath();
        assertThatThrownBy(() -> ClusterFolder.openOrCreate(Path.of(""), 12_000))
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith(here + " holds something else");
        Path file = Files.createFile(temporary.resolve("file"));
        Path below = file.resolve("x");
        assertThatThrownBy(() -> ClusterFolder.openOrCreate(below, 12_000))
                .isInstanceOf(Failure.class)
                .hasMessage("no folder can be made at " + below + ": choose another");
    }

    @Test
    void addressesOfIPv6AreWrittenAsTheyAreRead() throws Exception {
        List<String> hosts = List.of("fd00::", "[fd00::2]", "fd00::3");
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("6"), 12_000, hosts);
        for (String name : folder.servers()) {
            ServerConfig config = ServerConfig.read(folder.config(name));
            assertThat(config.zookeeper()).isEqualTo("[fd00::]:12000");
            assertThat(config.bind()).isIn("fd00::", "fd00::2", "fd00::3");
        }
        Topology.Region east =
                ServerConfig.read(folder.config("us-west-a")).topology().regions().get(1);
        assertThat(east.replicas().getFirst().rpc()).hasToString("[fd00::2]:12014");
        assertThat(ClientConfig.read(folder.config("mount-us-east")).zookeeper())
                .isEqualTo("[fd00::]:12000");
    }

    @Test
    void writesConfigurationsThatTheServersTake() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000);
        Set<HostPort> addresses = new HashSet<>();
        Set<Topology> topologies = new HashSet<>();
        int oracles = 0;
        for (String name : folder.servers()) {
            ServerConfig config = ServerConfig.read(folder.config(name));
            assertThat(config.name()).isEqualTo(name);
            assertThat(config.cluster()).isEqualTo(folder.cluster());
            assertThat(config.data()).isEqualTo(folder.root().resolve("data").resolve(name));
            assertThat(config.bind()).isEqualTo("127.0.0.1");
            if (config.roles().zookeeper().isPresent()) {
                continue;
            }
            topologies.add(config.topology());
            assertThat(config.roles().storage()).hasSize(2);
            for (StorageRole role : config.roles().storage()) {
                assertThat(addresses.add(new HostPort("127.0.0.1", role.port()))).isTrue();
            }
            oracles += config.roles().oracle().isPresent() ? 1 : 0;
            config.roles()
                    .oracle()
                    .ifPresent(o -> addresses.add(new HostPort("127.0.0.1", o.port())));
        }
        assertThat(oracles).isEqualTo(3);
        assertThat(topologies).hasSize(1);
        for (Topology.ReplicaSite site : topologies.iterator().next().replicas()) {
            addresses.add(site.ring());
            addresses.add(site.rpc());
        }
        assertThat(addresses).hasSize(18 + 3 + 18);
        assertThat(addresses)
                .allMatch(a -> a.port() > 12_000 && a.port() < 12_000 + LocalTopology.PORTS);
        for (String region : folder.regions()) {
            assertThat(ClientConfig.read(folder.config("mount-" + region)).region())
                    .isEqualTo(region);
        }
    }

    @Test
    void keepsItsClusterAndWhatWasEdited() throws Exception {
        Path data = temporary.resolve("data");
        String cluster = ClusterFolder.openOrCreate(data, 0).cluster();
        ClusterFolder again = ClusterFolder.openOrCreate(data, 0);
        Files.writeString(again.config("mount-us-west"), "# mine\n");
        ClusterFolder third = ClusterFolder.openOrCreate(data, 0);
        assertThat(third.cluster()).isEqualTo(cluster);
        assertThat(third.config("mount-us-west")).hasContent("# mine");
    }

    @Test
    void keepsItsPorts() throws Exception {
        Path data = temporary.resolve("data");
        String cluster = ClusterFolder.openOrCreate(data, 12_000).cluster();
        assertThatThrownBy(() -> ClusterFolder.openOrCreate(data, 13_000))
                .isInstanceOfSatisfying(
                        Failure.class, f -> assertThat(f.code()).isEqualTo(ExitCode.CONFIG))
                .hasMessageContaining("whose ports begin at 12000")
                .hasMessageContaining("leave --base-port out");
        assertThat(ClusterFolder.openOrCreate(data, 12_000).cluster()).isEqualTo(cluster);
        assertThat(ClusterFolder.openOrCreate(data, 0).cluster()).isEqualTo(cluster);
    }

    @Test
    void takesNoPortsThatOutgoingConnectionsMayHave() {
        OutgoingPorts outgoing = OutgoingPorts.ofThisMachine();
        assumeTrue(Files.exists(Path.of("/proc/sys/net/ipv4/ip_local_port_range")));
        Path data = temporary.resolve("data");
        for (int base : List.of(outgoing.first() - LocalTopology.PORTS + 1, outgoing.first())) {
            assertThatThrownBy(() -> ClusterFolder.openOrCreate(data, base))
                    .isInstanceOfSatisfying(
                            Failure.class, f -> assertThat(f.code()).isEqualTo(ExitCode.USAGE))
                    .hasMessageContaining("--base-port " + base)
                    .hasMessageContaining("ip_local_reserved_ports=" + base + "-");
            assertThat(data).doesNotExist();
        }
    }

    /** Another cluster that is made meanwhile gets others, see FreePorts. */
    @Test
    void keepsNewPortsUntilItsProcessesListen() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 0);
        int first = ServerConfig.read(folder.config("zookeeper")).roles().zookeeper().get().port();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int guard = first + LocalTopology.PORTS;
        assertThatThrownBy(() -> new ServerSocket(guard, 1, loopback).close())
                .isInstanceOf(BindException.class);
        new LocalCluster(folder, line -> {}).close();
        new ServerSocket(guard, 1, loopback).close();
    }

    @Test
    void whatNeedsTheClustersZooKeeperIsNotStartedWithoutIt() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 0);
        try (LocalCluster cluster = new LocalCluster(folder, line -> {})) {
            for (String name : List.of("us-west-a", "mount-us-west")) {
                assertThatThrownBy(() -> cluster.start(List.of(name)))
                        .isInstanceOfSatisfying(
                                Failure.class,
                                f -> assertThat(f.code()).isEqualTo(ExitCode.ZOOKEEPER))
                        .hasMessageContaining("ZooKeeper is down")
                        .hasMessageContaining("'globalfs start zookeeper " + name + "'");
                assertThat(folder.log(name)).doesNotExist();
            }
        }
    }

    /** One that does nothing, because nobody has that name, would look like a kill. */
    @Test
    void namesOfTheOtherKindOfClusterAreNoProcesses() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000);
        try (LocalCluster cluster = new LocalCluster(folder, line -> {})) {
            cluster.kill(List.of("cluster", "us-west-a", "mount-us-west"));
            folder.run("us-west-a").begin(999_999_999);
            assertThatThrownBy(() -> cluster.kill(List.of("cluster")))
                    .isInstanceOfSatisfying(
                            Failure.class, f -> assertThat(f.code()).isEqualTo(ExitCode.CONFIG))
                    .hasMessageContaining("as processes of their own: choose from zookeeper, us-")
                    .hasMessageEndingWith("eu-west-c, mount-us-west, mount-us-east, mount-eu-west");
            assertThatThrownBy(() -> cluster.start(List.of("policy")))
                    .hasMessageContaining("no process 'policy' in this cluster: choose from");
            cluster.kill(List.of("us-west-a", "mount-us-west"));
            folder.run("cluster").begin(999_999_999);
            assertThatThrownBy(() -> cluster.kill(List.of("us-west-a")))
                    .hasMessageContaining("run as one: choose from cluster, mount-us-west");
            cluster.kill(List.of("cluster", "mount-us-west"));
        }
    }

    @Test
    void onlyItsOwnerLooksIntoWhatServersKeep() throws Exception {
        Path data = temporary.resolve("data");
        ClusterFolder folder = ClusterFolder.openOrCreate(data, 12_000);
        assertThat(Files.getPosixFilePermissions(data.resolve("data")))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Files.getPosixFilePermissions(folder.mountpoint("us-west").getParent()))
                .as("others may go through it to the mounts")
                .isEqualTo(Files.getPosixFilePermissions(data));
    }

    @Test
    void aProcessMayUseAnotherZooKeeperThanTheClusters() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000);
        for (String name : List.of("us-west-a", "mount-us-west")) {
            assertThat(folder.usesOwnZooKeeper(name)).isTrue();
            String text = Files.readString(folder.config(name));
            Files.writeString(
                    folder.config(name),
                    text.replace("zookeeper: 127.0.0.1:12000", "zookeeper: 10.0.0.9:2181"));
            assertThat(folder.usesOwnZooKeeper(name)).isFalse();
        }
    }

    @Test
    void oneLauncherAtATime() throws Exception {
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("my data"), 0);
        FileLock lock = folder.lock();
        assertThatThrownBy(folder::lock)
                .isInstanceOfSatisfying(
                        Failure.class,
                        f -> assertThat(f.code()).isEqualTo(ExitCode.ALREADY_RUNNING))
                .hasMessageContaining("globalfs stop --data '" + folder.root() + "';");
        lock.acquiredBy().close();
        folder.lock().acquiredBy().close();
    }

    @Test
    void aRunFileTellsOursFromStrangersAndTheDead() throws Exception {
        RunFile run = new RunFile(temporary.resolve("x.pid"));
        assertThat(run.process()).isEmpty();
        run.begin(1);
        assertThat(run.process()).as("init is not ours").isEmpty();
        run.begin(999_999_999);
        assertThat(run.process()).isEmpty();
        run.ready();
        assertThat(run.isReady()).isTrue();
        run.begin(2);
        assertThat(run.isReady()).isFalse();
        run.end();
        assertThat(run.path()).doesNotExist();
    }

    @Test
    void aPidThatWentToAnotherProcessOfThisProgramIsNotTakenForItsOwner() throws Exception {
        Path folder = Files.createDirectories(temporary.resolve("data/run"));
        Path link = Files.createSymbolicLink(temporary.resolve("link"), temporary.resolve("data"));
        RunFile run = new RunFile(folder.resolve("us-west-a.pid"));
        Process process =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "read end",
                                "globalfs",
                                RunFile.OPTION,
                                run.path().toString())
                        .start();
        try {
            run.begin(process.pid());
            assertThat(run.process()).hasValueSatisfying(p -> assertThat(p.isAlive()).isTrue());
            assertThat(new RunFile(link.resolve("run/us-west-a.pid")).process())
                    .as("by another way")
                    .isPresent();
            RunFile stale = new RunFile(folder.resolve("us-west-b.pid"));
            stale.begin(process.pid());
            assertThat(stale.process()).isEmpty();
            RunFile others =
                    new RunFile(
                            Files.createDirectories(temporary.resolve("other"))
                                    .resolve("us-west-a.pid"));
            others.begin(process.pid());
            assertThat(others.process()).as("of another cluster").isEmpty();
        } finally {
            process.destroyForcibly().waitFor();
        }
        assertThat(run.process()).isEmpty();
    }

    @Test
    @Timeout(60)
    void aRunFileThatGoesAwayWhileItIsReadNamesNoProcess() throws Exception {
        RunFile run = new RunFile(temporary.resolve("x.pid"));
        Thread owner =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                for (int round = 0; round < 3_000; round++) {
                                    run.begin(1);
                                    run.end();
                                }
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            } catch (Failure e) {
                                throw new IllegalStateException(e);
                            }
                        });
        while (owner.isAlive()) {
            assertThat(run.process()).isEmpty();
        }
        assertThat(run.path()).doesNotExist();
    }

    @Test
    void writesEachDatacentersAddress() throws Exception {
        List<String> hosts = new ArrayList<>(List.of("10.77.1.1"));
        for (int replica = 1; replica <= 9; replica++) {
            hosts.add("10.77.9." + replica);
        }
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000, hosts);
        for (String name : folder.servers()) {
            ServerConfig config = ServerConfig.read(folder.config(name));
            assertThat(config.zookeeper()).isEqualTo("10.77.1.1:12000");
            int id = config.roles().replica().map(Roles.ReplicaRole::id).orElse(0);
            assertThat(config.bind()).isEqualTo(hosts.get(id));
            for (Topology.ReplicaSite site : config.topology().replicas()) {
                assertThat(site.ring().host()).isEqualTo(hosts.get(site.id()));
                assertThat(site.rpc().host()).isEqualTo(hosts.get(site.id()));
            }
        }
    }

    @Test
    void writesEachRegionsAddress() throws Exception {
        List<String> hosts = List.of("10.77.1.1", "10.77.2.1", "10.77.3.1");
        ClusterFolder folder = ClusterFolder.openOrCreate(temporary.resolve("data"), 12_000, hosts);
        for (String name : folder.servers()) {
            ServerConfig config = ServerConfig.read(folder.config(name));
            assertThat(config.zookeeper()).isEqualTo("10.77.1.1:12000");
            int region = folder.regions().indexOf(config.region());
            assertThat(config.bind()).isEqualTo(hosts.get(Math.max(region, 0)));
            for (Topology.Region each : config.topology().regions()) {
                String host = hosts.get(each.partition() - 1);
                assertThat(each.replicas())
                        .allMatch(site -> site.ring().host().equals(host))
                        .allMatch(site -> site.rpc().host().equals(host));
            }
        }
        assertThatThrownBy(() ->
                        ClusterFolder.openOrCreate(
                                temporary.resolve("two"), 0, hosts.subList(0, 2)))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("3 regions");
    }
}
