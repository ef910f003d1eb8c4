package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The programs of this module that are written in Go. */
public final class GoProgram {
    private GoProgram() {}

    /** Modules may have to be fetched, and everything compiled. */
    private static final long LIMIT_MINUTES = 10;

    /** What a program printed, and how it ended; 127: it could not be started, or did not end. */
    public record Result(int exitCode, String output) {}

    private static final List<String> NAMES = List.of("agent", "check", "poweroff");

    /** Builds all of them. Exit code 0, or why the first of those that failed did. */
    public static Result buildAll(Path sources, Path into) throws IOException {
        Result built = new Result(0, "");
        for (String name : NAMES) {
            if (built.exitCode() == 0) {
                built = build(sources, name, into);
            }
        }
        return built;
    }

    /**
     * Builds one, {@code agent}, {@code check} or {@code poweroff}. Exit code 0, or why it could
     * not be built: no Go, no module proxy.
     *
     * @param sources the folder {@code jepsen} of the source tree
     */
    private static Result build(Path sources, String name, Path into) throws IOException {
        return run(
                sources.resolve(name),
                List.of("go", "build", "-o", into.resolve(name).toString(), "."));
    }

    static Result run(Path folder, List<String> command) throws IOException {
        Path output = Files.createTempFile("globalfs-", ".out");
        try {
            Process process =
                    new ProcessBuilder(new ArrayList<>(command))
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            boolean ended = process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES);
            if (!ended) {
                process.destroyForcibly();
                return new Result(127, command + " does not end");
            }
            return new Result(process.exitValue(), Files.readString(output));
        } catch (IOException e) {
            return new Result(127, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            Files.delete(output);
        }
    }
}
