package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The programs of this module that are written in Go. */
public final class GoProgram {
    private GoProgram() {}

    /** What a program printed, and how it ended. */
    public record Result(int exitCode, String output) {}

    /**
     * Builds one: {@code agent} or {@code check}.
     *
     * @param sources the folder {@code jepsen} of the source tree
     * @return null output and exit code 0; or why it could not be built: no Go, no module proxy
     */
    public static Result build(Path sources, String name, Path into) throws IOException {
        return run(
                sources.resolve(name),
                List.of("go", "build", "-o", into.resolve(name).toString(), "."));
    }

    static Result run(Path folder, List<String> command) throws IOException {
        Process process;
        try {
            process =
                    new ProcessBuilder(new ArrayList<>(command))
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .start();
        } catch (IOException e) {
            return new Result(127, String.valueOf(e.getMessage()));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return new Result(process.waitFor(), output);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
