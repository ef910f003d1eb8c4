package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs that are waited for. */
final class Command {
    private static final int TAIL_CHARACTERS = 2_000;

    private Command() {}

    /**
     * What it printed.
     *
     * @throws IOException with the end of what it printed, when it fails or does not end in time
     */
    static String run(Duration limit, Path folder, Map<String, String> more, List<String> command)
            throws IOException {
        Path output = Files.createTempFile("globalfs-", ".out");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .redirectInput(
                                    ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                            .redirectOutput(output.toFile());
            builder.environment().putAll(more);
            Process process = builder.start();
            boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            String text = Files.readString(output);
            if (!ended || process.exitValue() != 0) {
                String how = ended ? "exit code " + process.exitValue() : "no end in " + limit;
                throw new IOException(String.join(" ", command) + ": " + how + ":\n" + tail(text));
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while running " + command, e);
        } finally {
            Files.deleteIfExists(output);
        }
    }

    /** Which of these programs this machine does not have; empty: it has all. */
    static Optional<String> missing(String... programs) {
        String path = Objects.toString(System.getenv("PATH"), "");
        for (String program : programs) {
            boolean found = false;
            for (String folder : path.split(":", -1)) {
                found |= Files.isExecutable(Path.of(folder, program));
            }
            if (!found) {
                return Optional.of("the program " + program + " is missing");
            }
        }
        return Optional.empty();
    }

    private static String tail(String text) {
        String all = text.strip();
        return all.substring(Math.max(0, all.length() - TAIL_CHARACTERS));
    }
}
