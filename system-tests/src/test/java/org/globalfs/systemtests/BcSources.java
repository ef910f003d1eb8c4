package org.globalfs.systemtests;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** GNU bc's source, as Debian distributes it, fetched once into the build folder. */
final class BcSources {
    private BcSources() {}

    /** The tarball; the calling test is skipped, and says why, when it cannot be had here. */
    static Path tarball() throws IOException {
        Path folder = Path.of("target", "sources").toAbsolutePath();
        Files.createDirectories(folder);
        Path found = find(folder);
        if (found == null) {
            Path script =
                    Path.of("..", "scripts", "bench", "sources.sh").toAbsolutePath().normalize();
            Shell.Outcome fetched =
                    Shell.bash(
                            Duration.ofMinutes(5), folder, "'" + script + "' '" + folder + "' bc");
            found = find(folder);
            assumeTrue(
                    fetched.ok() && found != null,
                    () ->
                            "SKIPPED: GNU bc's source package cannot be fetched: "
                                    + Shell.tail(fetched.output(), 600));
        }
        return java.util.Objects.requireNonNull(found);
    }

    private static @org.jspecify.annotations.Nullable Path find(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.getFileName().toString().matches("bc_.*\\.orig\\.tar\\.gz"))
                    .findFirst()
                    .orElse(null);
        }
    }
}
