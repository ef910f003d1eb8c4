package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FoldersTest {
    @TempDir private Path folder;

    @Test
    void filesAreFoundInOrderWhereverTheyLie() throws IOException {
        Path last = Files.createFile(Files.createDirectories(folder.resolve("c/d")).resolve("z"));
        Path first = Files.createFile(folder.resolve("a"));
        Files.createFile(folder.resolve("b"));
        Files.createSymbolicLink(folder.resolve("link"), first);
        assertThat(Folders.files(folder, file -> !file.endsWith("b"))).containsExactly(first, last);
    }

    @Test
    void whatOthersRemoveMeanwhileIsLeftOut() throws IOException {
        List<String> names = List.of("a", "b", "c", "d");
        for (String name : names) {
            Files.createFile(Files.createDirectory(folder.resolve(name)).resolve("file"));
        }
        List<Path> found =
                Folders.files(
                        folder,
                        file -> {
                            for (String name : names) {
                                if (!file.startsWith(folder.resolve(name))) {
                                    delete(folder.resolve(name));
                                }
                            }
                            return true;
                        });
        assertThat(found).hasSize(1);
    }

    @Test
    void aFolderThatIsNotThereIsNamed() {
        Path none = folder.resolve("none");
        assertThatThrownBy(() -> Folders.files(none, file -> true))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(none.toString());
    }

    private static void delete(Path folder) {
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
