package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeldFileTest {
    @TempDir Path folder;

    @Test
    void whatIsRemovedRenamedOrReplacedIsNoticed() throws IOException {
        Path path = Files.createDirectory(folder.resolve("log")).resolve("segment");
        try (FileChannel open =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            HeldFile held = HeldFile.of(path);
            open.truncate(0);
            assertThatNoException().isThrownBy(held::check);

            Files.move(folder.resolve("log"), folder.resolve("elsewhere"));
            assertThatThrownBy(held::check).hasMessageContaining(path + " was removed, renamed");
            Files.createDirectory(folder.resolve("log"));
            Files.createFile(path);
            assertThatThrownBy(held::check).hasMessageContaining(path + " was removed, renamed");

            Files.delete(path);
            Files.move(folder.resolve("elsewhere").resolve("segment"), path);
            assertThatNoException().isThrownBy(held::check);
        }
    }

    /** As where a file stands in the folder's place: it says nothing of the one that is open. */
    @Test
    void whatCannotBeLookedAtIsNotTakenForLost() throws IOException {
        Path path = Files.createDirectory(folder.resolve("log")).resolve("segment");
        Files.createFile(path);
        HeldFile held = HeldFile.of(path);
        Files.delete(path);
        Files.createSymbolicLink(path, path);
        assertThatNoException().isThrownBy(held::check);
    }
}
