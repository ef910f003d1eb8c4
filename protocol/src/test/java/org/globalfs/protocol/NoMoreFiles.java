package org.globalfs.protocol;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;

/** While it is open, this process may open no file or connection more. */
public final class NoMoreFiles implements AutoCloseable {
    private static final Path OPEN = Path.of("/proc/self/fd");
    private static final int SPARE = 64;

    private final Deque<FileInputStream> opened = new ArrayDeque<>();
    private final long limit = OpenFiles.limit();

    public NoMoreFiles() throws IOException {
        limit(highest() + SPARE);
        try {
            while (true) {
                opened.push(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            if (!OpenFiles.areUsedUp(e)) {
                throw e;
            }
        }
    }

    private static long highest() throws IOException {
        try (Stream<Path> all = Files.list(OPEN)) {
            return all.mapToLong(path -> Long.parseLong(path.getFileName().toString()))
                    .max()
                    .orElseThrow();
        }
    }

    private static void limit(long files) throws IOException {
        Process process =
                new ProcessBuilder(
                                "prlimit",
                                "--pid",
                                Long.toString(ProcessHandle.current().pid()),
                                "--nofile=" + files + ":")
                        .inheritIO()
                        .start();
        try {
            if (process.waitFor() != 0) {
                throw new IOException("prlimit ended with " + process.exitValue());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        limit(limit);
    }
}
