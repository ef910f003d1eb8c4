package org.globalfs.bench.agar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.JavaCommand;
import org.globalfs.bench.lab.Wan;

/** A {@code globalfs server} in a region of the lab. */
final class LiveServer implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 30;

    private final Process process;

    /**
     * @param name of its configuration, log and data in the folder
     */
    LiveServer(Path home, Wan.Region place, Path folder, String name, String yaml) {
        Path config = folder.resolve(name + ".yaml");
        List<String> command = new ArrayList<>(place.prefix());
        command.addAll(java());
        command.addAll(
                List.of("-jar", jar(home).toString(), "server", "--config", config.toString()));
        try {
            Files.writeString(config, yaml);
            process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(folder.resolve(name + ".log").toFile())
                            .start();
        } catch (IOException e) {
            throw new BenchFailure("cannot start " + name, e);
        }
    }

    /** Builds the program that servers run, if it is not there or old. */
    static void build(Path home) {
        try {
            Process build =
                    new ProcessBuilder(home.resolve("globalfs").toString(), "--version")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            if (build.waitFor() != 0 || !Files.isReadable(jar(home))) {
                throw new BenchFailure("there is no program for servers: " + jar(home));
            }
        } catch (IOException e) {
            throw new BenchFailure("start this through ./globalfs bench", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    private static Path jar(Path home) {
        return home.resolve("cli/target/globalfs.jar");
    }

    /** What a command line for one of GlobalFS's processes begins with. */
    static List<String> java() {
        return JavaCommand.with(List.of("-XX:+UseSerialGC", "-Xmx160m"));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
