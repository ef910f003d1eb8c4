package org.globalfs.bench.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.globalfs.bench.BenchFailure;

/** The folder that a run keeps its members' logs in; gone when it ends, interrupted or not. */
public final class Workplace implements AutoCloseable {
    private final Path folder;
    private final Thread atExit = new Thread(this::remove, "workplace");

    public Workplace(Path parent, String prefix) {
        folder = newFolder(parent, prefix);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    public Path folder() {
        return folder;
    }

    public static Path newFolder(Path parent, String prefix) {
        try {
            return Files.createTempDirectory(parent, prefix);
        } catch (IOException e) {
            throw new BenchFailure("cannot make a folder in " + parent, e);
        }
    }

    /** Removes a folder with all in it, and says so where it cannot. */
    public static void remove(Path folder) {
        try {
            List<Path> deepestFirst;
            try (Stream<Path> files = Files.walk(folder)) {
                deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            return; // what was to be reached
        } catch (IOException | UncheckedIOException e) {
            System.err.println("globalfs bench: left behind: " + folder + ": " + e.getMessage());
        }
    }

    private void remove() {
        remove(folder);
    }

    @Override
    public void close() {
        remove();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
