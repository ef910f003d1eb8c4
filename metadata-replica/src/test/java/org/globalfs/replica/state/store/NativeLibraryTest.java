package org.globalfs.replica.state.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

final class NativeLibraryTest {

    /** A process that is killed has no chance to remove it later. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void nothingIsLeftOfItOnceItIsLoaded(@TempDir Path folder) throws IOException {
        Store.open(folder, StateOptions.defaults()).close();
        List<String> mapped =
                Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(line -> line.contains("librocksdbjni"))
                        .toList();
        assertThat(mapped).isNotEmpty().allMatch(line -> line.endsWith(" (deleted)"));
    }
}
