package org.globalfs.jepsen.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of chunks that end too early. */
class CutFileTest {
    @TempDir private Path folder;
    private final Random random = new Random(1);

    private final byte[] content = new byte[10_000];

    private Path file() throws IOException {
        random.nextBytes(content);
        return Files.write(folder.resolve("segment-1.chunks"), content);
    }

    private static List<ServerFiles.Part> parts(Path file) {
        return List.of(
                new ServerFiles.Part(file, 4_096, 5_184, "07"),
                new ServerFiles.Part(file, 5_184, 7_232, "08"),
                new ServerFiles.Part(file, 7_232, 9_000, "09"));
    }

    @Test
    void endsWithinAChunkAndLacksAllBehind() throws IOException {
        Set<Integer> lost = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            Path file = file();
            CutFile cut = CutFile.in(parts(file), random);
            assertThat(cut.at()).isBetween(4_096L, 8_999L);
            assertThat(file).hasBinaryContent(Arrays.copyOf(content, (int) cut.at()));
            assertThat(cut.blocks()).contains("09");
            assertThat(cut.blocks().contains("08")).isEqualTo(cut.at() < 7_232);
            assertThat(cut.blocks().contains("07")).isEqualTo(cut.at() < 5_184);
            lost.add(cut.blocks().size());
            cut.undo();
            assertThat(file).hasBinaryContent(Arrays.copyOf(content, 9_000));
        }
        assertThat(lost).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    void whatWasWrittenSinceStays() throws IOException {
        Path file = file();
        CutFile cut = CutFile.in(parts(file), random);
        Files.write(file, new byte[] {9}, StandardOpenOption.APPEND);
        cut.undo();
        assertThat(Files.size(file)).isEqualTo(cut.at() + 1);
        Files.delete(file);
        cut.undo();
        assertThat(file).doesNotExist();
    }

    @Test
    void littleIsLostOfALargeOne() throws IOException {
        Path file = file();
        List<ServerFiles.Part> parts =
                List.of(
                        new ServerFiles.Part(file, 4_096, 5_000, "07"),
                        new ServerFiles.Part(file, 60 << 20, 61 << 20, "08"));
        assertThat(CutFile.in(parts, random).blocks()).containsExactly("08");
    }
}
