package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.globalfs.jepsen.GoProgram;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What can be done to a server's disk. */
@Timeout(120)
class DisksTest {
    private static final String SERVER = "a";

    @TempDir private Path work;
    private Disks disks;
    private Path folder;

    @BeforeEach
    void mount() throws IOException {
        Optional<String> missing = Disks.missing();
        assumeTrue(missing.isEmpty(), () -> "SKIPPED: " + missing.orElseThrow());
        GoProgram.Result built = GoProgram.buildAll(Path.of("").toAbsolutePath(), work);
        assumeTrue(built.exitCode() == 0, "SKIPPED: needs Go: " + built.output());
        disks = new Disks(work.resolve("disks"), work.resolve("poweroff"), List.of(SERVER));
        disks.mount(work.resolve("data"));
        folder = work.resolve("data").resolve(SERVER);
    }

    @AfterEach
    void takeAway() throws IOException {
        if (disks != null) {
            disks.close();
        }
    }

    @Test
    void aPowerCutTakesWhatWasNotSynced() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "synced");
        Folders.sync(file);
        Folders.sync(folder);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {'c', 'h', 'a', 'n', 'g', 'e'}));
        }
        Files.writeString(folder.resolve("new"), "never synced");
        disks.cutPower(SERVER);
        assertThatThrownBy(() -> Files.writeString(folder.resolve("late"), "late"))
                .isInstanceOf(IOException.class);
        disks.restorePower(SERVER);
        assertThat(file).hasContent("synced");
        assertThat(folder.toFile().list()).containsExactly("file");
        Files.writeString(folder.resolve("late"), "not any more");
    }

    @Test
    void whatIsWrittenDurablyOutlivesAPowerCut() throws IOException {
        Path deep = folder.resolve("one/two");
        Folders.create(deep);
        Folders.write(deep.resolve("mark"), "first");
        Folders.write(deep.resolve("mark"), "second");
        disks.cutPower(SERVER);
        disks.restorePower(SERVER);
        assertThat(deep.resolve("mark")).hasContent("second");
        assertThat(deep.toFile().list()).containsExactly("mark");
    }

    @Test
    void aFrozenDiskIsWaitedFor() throws Exception {
        disks.freeze(SERVER);
        CompletableFuture<Path> writing =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return Files.writeString(folder.resolve("file"), "late");
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        },
                        Thread::startVirtualThread);
        assertThat(folder.resolve("file")).doesNotExist();
        assertThat(writing).isNotDone();
        disks.thaw(SERVER);
        assertThat(writing.get(30, TimeUnit.SECONDS)).hasContent("late");
    }

    @Test
    void aFullDiskTakesNothing() throws IOException {
        disks.fill(SERVER, 0);
        assertThatThrownBy(() -> Files.write(folder.resolve("file"), new byte[1 << 20]))
                .hasMessageContaining("No space left");
        disks.free(SERVER);
        disks.cutPower(SERVER);
        disks.restorePower(SERVER);
        Files.write(folder.resolve("file"), new byte[1 << 20]);
    }
}
