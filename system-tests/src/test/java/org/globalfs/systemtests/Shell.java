package org.globalfs.systemtests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs programs for the tests: always with a deadline, never inside the test's own JVM, which must
 * not block in a mount that has died.
 */
final class Shell {
    private Shell() {}

    /**
     * What a program left: its exit code (124 when it was killed at its deadline) and all it
     * printed.
     */
    record Outcome(int exitCode, String output) {
        boolean ok() {
            return exitCode == 0;
        }

        /** The output, once the program succeeded. */
        String orFail() {
            if (!ok()) {
                throw new AssertionError("exit code " + exitCode + ":\n" + tail(output, 4000));
            }
            return output;
        }
    }

    static Outcome run(Duration deadline, Path folder, List<String> command) {
        try {
            Path log = Files.createTempFile("globalfs-test", ".out");
            try {
                Process process =
                        new ProcessBuilder(command)
                                .directory(folder.toFile())
                                .redirectErrorStream(true)
                                .redirectOutput(log.toFile())
                                .start();
                process.getOutputStream().close();
                boolean ended = process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
                if (!ended) {
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly();
                }
                String output =
                        new String(
                                Files.readAllBytes(log), java.nio.charset.StandardCharsets.UTF_8);
                return ended
                        ? new Outcome(process.exitValue(), output)
                        : new Outcome(124, output + "\nkilled after " + deadline);
            } finally {
                Files.deleteIfExists(log);
            }
        } catch (IOException e) {
            throw new AssertionError("cannot run " + command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while running " + command, e);
        }
    }

    /**
     * Runs a task beside the test, on a thread of its own: the common pool has a single one where
     * there are two processors, and its tasks would wait for each other.
     */
    static <T> CompletableFuture<T> meanwhile(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, Thread::startVirtualThread);
    }

    /** Runs a bash script with -e and pipefail in `folder`. */
    static Outcome bash(Duration deadline, Path folder, String script) {
        return run(deadline, folder, List.of("bash", "-euo", "pipefail", "-c", script));
    }

    static String tail(String text, int characters) {
        return text.length() <= characters
                ? text
                : "…" + text.substring(text.length() - characters);
    }
}
