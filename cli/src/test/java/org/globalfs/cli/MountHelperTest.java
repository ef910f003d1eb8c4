package org.globalfs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What mount(8)'s helper makes of its arguments; a stand-in for the program prints its own. */
class MountHelperTest {
    private static final Path HELPER = Path.of("..", "scripts", "mount.fuse.globalfs");

    @TempDir Path folder;

    private record Ended(int code, String output) {}

    @BeforeEach
    void install() throws IOException {
        Files.createDirectories(folder.resolve("scripts"));
        Files.createDirectories(folder.resolve("mnt"));
        Files.copy(HELPER, folder.resolve("scripts/mount.fuse.globalfs"));
        Path program = Files.writeString(folder.resolve("globalfs"), "#!/bin/sh\necho \"$*\"\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        Files.writeString(folder.resolve("client.yaml"), "");
    }

    @Test
    void theReadWriteThatMountSaysOfEveryMountIsNotPassedOn() throws Exception {
        assertThat(helper("client.yaml", "-o", "rw").output).doesNotContain("-o");
        assertThat(helper("client.yaml", "-o", "rw,nosuid,user").output)
                .contains(" -o nosuid,user ");
        assertThat(helper("client.yaml", "-o", "ro,nodev").output).contains(" -o ro,nodev ");
    }

    @Test
    void remountingIsSaidToBeImpossible() throws Exception {
        // mount(8) takes the source from the table of mounts
        Ended ended = helper("globalfs-local-1", "-o", "rw,remount,nosuid");
        assertThat(ended.code).isEqualTo(32);
        assertThat(ended.output).contains("remounting is not supported: umount").hasLineCount(1);
        assertThat(helper("none.yaml", "-o", "rw").output).contains("cannot read");
    }

    private Ended helper(String source, String... options) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "sh",
                                folder.resolve("scripts/mount.fuse.globalfs").toString(),
                                folder.resolve(source).toString(),
                                folder.resolve("mnt").toString()));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
