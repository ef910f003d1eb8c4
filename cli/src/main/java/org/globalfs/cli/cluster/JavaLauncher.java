package org.globalfs.cli.cluster;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.cli.Main;
import org.globalfs.cli.server.LimitsNeeded;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.config.ClientConfig;

/**
 * Starts this program again as a process of its own, in a session of its own: no terminal's Ctrl-C
 * reaches it.
 */
final class JavaLauncher {
    /** Every process that stores chunks or moves files needs these. */
    private static final List<String> FLAGS =
            List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "--add-modules=jdk.incubator.vector",
                    "--sun-misc-unsafe-memory-access=allow",
                    // Ends with 1 where the heap is full; the JVM's other way to do so is with 3,
                    // which is a configuration's here.
                    "-XX:+CrashOnOutOfMemoryError",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:-UsePerfData",
                    "-Xshare:auto",
                    // What runs often only while a process starts is not worth the JVM's optimising
                    // compiler: with its own thresholds that took a quarter of a cluster's start.
                    "-XX:Tier4InvocationThreshold=20000",
                    "-XX:Tier4MinInvocationThreshold=2400",
                    "-XX:Tier4CompileThreshold=60000",
                    "-XX:Tier4BackEdgeThreshold=160000");

    private JavaLauncher() {}

    /**
     * Starts it, its output appended to the log.
     *
     * @param heapBytes what its heap may take
     */
    static Process start(Kind kind, long heapBytes, Path log, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add("setsid");
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(kind.flags());
        command.addAll(kind.memory(heapBytes));
        command.add("-XX:ErrorFile=" + log.resolveSibling("hs_err_%p.log"));
        Path program = program();
        Path archive = program.resolveSibling("globalfs.jsa");
        if (Files.exists(archive)) {
            command.add("-XX:SharedArchiveFile=" + archive);
            // Remarks that module flags differ from the JDK's own archive are no news.
            command.addAll(List.of("-Xlog:cds=off", "-Xlog:aot=off"));
        }
        String more = System.getenv("GLOBALFS_JVM_FLAGS");
        if (more != null && !more.isBlank()) {
            command.addAll(Arrays.asList(more.trim().split(" +", -1)));
        }
        if (Files.isRegularFile(program)) {
            command.addAll(List.of("-jar", program.toString()));
        } else {
            command.addAll(
                    List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        }
        command.addAll(arguments);
        Files.createDirectories(parent(log));
        // The builder would take a log that cannot be written for a program that cannot be run.
        Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
        return new ProcessBuilder(command)
                .directory(parent(log).toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    /** For a mount: twice its cache, where that is more than usual. */
    static long heap(ClientConfig.Mount mount, GroupLimit group) {
        long wanted = Math.max(Kind.MOUNT.mostBytes, 2 * mount.cacheBytes());
        return LimitsNeeded.mountHeap(wanted, group);
    }

    /** The jar, or the folder of classes during a build. */
    private static Path program() throws IOException {
        try {
            return Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IOException("cannot tell where this program lies", e);
        }
    }

    private static Path parent(Path file) {
        Path parent = file.getParent();
        Invariant.check(parent != null, "a log without a folder");
        return parent;
    }

    /** How much memory a process is given. */
    enum Kind {
        /**
         * It has little to do, so that the JVM's optimising compiler would cost more than it saves.
         */
        ZOOKEEPER(0, 16, 128, "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
        SERVER(1, 128, 512, "-XX:+UseSerialGC"),
        WHOLE_CLUSTER(9, 512, 3 << 10, "-XX:+UseParallelGC"),
        MOUNT(1, 128, 1 << 10, "-XX:+UseSerialGC");

        private final int servers;
        private final long firstBytes;
        private final long mostBytes;
        private final String flags;

        Kind(int servers, int firstMib, int mostMib, String flags) {
            this.servers = servers;
            this.firstBytes = (long) firstMib << 20;
            this.mostBytes = (long) mostMib << 20;
            this.flags = flags;
        }

        List<String> flags() {
            return List.of(flags.split(" ", -1));
        }

        /** Of a server or several. */
        long heap(GroupLimit group) {
            return LimitsNeeded.serverHeap(servers, mostBytes, group);
        }

        private List<String> memory(long heapBytes) {
            return List.of(
                    "-Xms" + (Math.min(firstBytes, heapBytes) >> 20) + "m",
                    "-Xmx" + (heapBytes >> 20) + "m");
        }
    }
}
