package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A wall clock for each process that can be wrong, also across a restart: {@code clock.c},
 * preloaded, adds what a file of the process's name says. How fast time passes stays as it is.
 */
public final class Clocks implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Path source;
    private final Path folder;
    private final List<String> processes;
    private final Map<String, MappedByteBuffer> offsets = new HashMap<>();

    /**
     * Nothing is made before {@link #make}.
     *
     * @param source the file {@code clock.c}
     * @param folder where the library and the clocks are
     */
    public Clocks(Path source, Path folder, List<String> processes) {
        this.source = source;
        this.folder = folder;
        this.processes = processes;
    }

    /** Why this machine cannot have them; empty: it can. */
    public static Optional<String> missing() {
        if (!"Linux".equals(System.getProperty("os.name"))) {
            return Optional.of("only Linux preloads a library that its C compiler makes");
        }
        return Command.missing("gcc");
    }

    /** Compiles the library and makes the clocks, all right. */
    synchronized void make() throws IOException {
        Files.createDirectories(folder);
        List<String> compile =
                List.of(
                        "gcc",
                        "-O2",
                        "-shared",
                        "-fPIC",
                        "-o",
                        library().toString(),
                        source.toString(),
                        "-ldl");
        Command.run(LIMIT, Path.of("/"), Map.of(), compile);
        for (String process : processes) {
            try (FileChannel file =
                    FileChannel.open(
                            folder.resolve(process),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE)) {
                MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
                mapped.order(ByteOrder.nativeOrder());
                offsets.put(process, mapped);
            }
        }
    }

    private Path library() {
        return folder.resolve("clock.so");
    }

    /** What the processes, or those that start them, have to be started with. */
    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library().toString(), "GLOBALFS_CLOCKS", folder.toString());
    }

    /** From now on the process's clock is so much ahead of what it should be; negative: behind. */
    public synchronized void set(String process, Duration ahead) {
        Objects.requireNonNull(offsets.get(process), process).putLong(0, ahead.toNanos());
    }

    /** Takes them away; processes that have them keep the last offset. */
    @Override
    public synchronized void close() throws IOException {
        offsets.clear();
        TestedCluster.remove(folder);
    }
}
