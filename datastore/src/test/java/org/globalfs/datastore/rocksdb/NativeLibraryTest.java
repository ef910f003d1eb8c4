package org.globalfs.datastore.rocksdb;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

final class NativeLibraryTest {

    /** A process that is killed has no chance to remove it later. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void nothingIsLeftOfItOnceItIsLoaded() throws IOException {
        NativeLibrary.load();
        List<String> mapped =
                Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(line -> line.contains("librocksdbjni"))
                        .toList();
        assertThat(mapped).isNotEmpty().allMatch(line -> line.endsWith(" (deleted)"));
    }

    @Test
    void aTemporaryFolderThatCannotBeUsedIsNamedWithTheMend(@TempDir Path folder) {
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> NativeLibrary.loadUnpacked(missing))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("unpacked in " + missing + " ")
                .hasMessageContaining("-Djava.io.tmpdir=");
    }

    @Test
    void aCopyIsKeptAndReplacesAnotherVersions(@TempDir Path folder) throws IOException {
        NativeLibrary.Packed packed = requireNonNull(NativeLibrary.Packed.find());
        Path file = packed.file(folder);
        Path older = Files.createDirectories(folder.resolve("00000001")).resolve("library.so");
        Files.writeString(older, "older");
        packed.unpack(folder);
        assertThat(packed.isIn(file)).isTrue();
        assertThat(older.getParent()).doesNotExist();
        FileTime written = FileTime.fromMillis(1_000);
        Files.setLastModifiedTime(file, written);
        packed.unpack(folder);
        assertThat(Files.getLastModifiedTime(file)).as("not written again").isEqualTo(written);
        assertThat(file.getParent()).isDirectoryContaining(only -> only.equals(file));
        Files.writeString(file, "torn");
        assertThat(packed.isIn(file)).isFalse();
        packed.unpack(folder);
        assertThat(packed.isIn(file)).isTrue();
    }
}
