package org.globalfs.bench.datastore;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Workplace;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.discovery.EmbeddedZooKeeper;

/** Six storage nodes of a region on loopback, clients, and perhaps a cache: a process each. */
final class StoreCluster implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final Duration START = Duration.ofMinutes(2);
    private static final List<String> NODE_OPTIONS = List.of("-Xmx256m", "-XX:+UseSerialGC");
    private static final List<String> CLIENT_OPTIONS = List.of("-Xmx768m", "-XX:+UseSerialGC");

    /** What something happens to. */
    private static final String NODE = "node-0";

    private final Path folder;
    private final EmbeddedZooKeeper zookeeper;
    private final Map<String, MemberProcess> members = new LinkedHashMap<>();

    StoreCluster(Path parent, boolean repairs, boolean caches) {
        folder = Workplace.newFolder(parent, "store-");
        try {
            zookeeper =
                    EmbeddedZooKeeper.start(
                            folder.resolve("zookeeper"),
                            "127.0.0.1",
                            0,
                            failure -> System.err.println("globalfs bench: " + failure));
        } catch (IOException e) {
            throw new BenchFailure("cannot start ZooKeeper", e);
        }
        try {
            for (int node = 0; node < Setup.NODES; node++) {
                start(
                        "node-" + node,
                        "STORAGE",
                        NODE_OPTIONS,
                        "--datacenter=" + "abc".charAt(node % 3),
                        "--repairs=" + repairs);
            }
            for (MemberProcess member : members.values()) {
                member.awaitReady(START);
            }
            if (caches) {
                start("cache", "CACHE", NODE_OPTIONS).awaitReady(START);
            }
            start("clients", "CLIENTS", CLIENT_OPTIONS).awaitReady(START);
            String _ = ask("nodes " + Setup.NODES);
            String _ = ask("caches " + (caches ? 1 : 0));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private MemberProcess start(
            String name, String kind, List<String> javaOptions, String... arguments) {
        MemberProcess member =
                DatastoreMemberCommand.start(
                        name,
                        folder,
                        javaOptions,
                        Stream.concat(
                                        Stream.of(
                                                "--kind=" + kind,
                                                "--zookeeper=" + zookeeper.connectString(),
                                                "--id=" + name,
                                                "--folder=" + folder.resolve(name)),
                                        Stream.of(arguments))
                                .toList());
        members.put(name, member);
        return member;
    }

    /** Has the clients do something. */
    String ask(String command) {
        MemberProcess clients = members.get("clients");
        if (clients == null) {
            throw new BenchFailure("there are no clients");
        }
        return clients.ask(command, PATIENCE);
    }

    /** A node whose folder nobody opens again. */
    String killOne() {
        node().kill();
        members.remove(NODE);
        return NODE;
    }

    /** Has each read of a node's disk take so much longer. */
    void slowOne(long ms) {
        String _ = node().ask("slow " + ms, START);
    }

    private MemberProcess node() {
        MemberProcess node = members.get(NODE);
        if (node == null) {
            throw new BenchFailure(NODE + " does not run");
        }
        return node;
    }

    /** Takes what nodes have on disk out of the kernel's memory, as far as dd(1) can. */
    void forget() {
        try {
            for (Path file : Folders.files(folder, f -> f.toString().endsWith(".chunks"))) {
                Process dd =
                        new ProcessBuilder("dd", "if=" + file, "iflag=nocache", "count=0")
                                .redirectErrorStream(true)
                                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                .start();
                if (dd.waitFor() != 0) {
                    throw new BenchFailure("dd cannot take " + file + " out of memory");
                }
            }
        } catch (IOException e) {
            throw new BenchFailure("cannot take chunks out of memory", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    @Override
    public void close() {
        members.values().forEach(MemberProcess::close);
        try {
            zookeeper.close();
        } catch (IOException e) {
            System.err.println("globalfs bench: ZooKeeper: " + e.getMessage());
        }
        Workplace.remove(folder);
    }
}
