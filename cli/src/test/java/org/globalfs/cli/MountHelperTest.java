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
        Path mount = folder.resolve("bin/mount");
        Files.createDirectories(folder.resolve("bin"));
        Files.writeString(mount, "#!/bin/sh\necho \"mount $*\"\n");
        assertThat(mount.toFile().setExecutable(true)).isTrue();
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
    void remountingChangesWhatTheKernelAloneGoesBy() throws Exception {
        // mount(8) takes the source, and what is there, from the table of mounts.
        assertThat(
                        helper(
                                        "globalfs-local-1",
                                        "-o",
                                        "rw,nosuid,user_id=0,allow_other,x-note=*,remount,ro")
                                .output)
                .isEqualTo(
                        "mount -i -t fuse.globalfs -o remount,rw,nosuid,ro "
                                + folder.resolve("globalfs-local-1")
                                + " "
                                + folder.resolve("mnt")
                                + "\n");
        Ended ended = helper("globalfs-local-1", "-o", "rw,remount,bogus=3");
        assertThat(ended.code).isEqualTo(32);
        assertThat(ended.output).contains("bogus=3 cannot be changed while").hasLineCount(1);
        // mount(8) adds what the line in fstab says.
        assertThat(helper("client.yaml", "-o", "threads=3,read_ahead_kb=0,remount,ro").output)
                .contains(" -o remount,ro ");
        assertThat(helper("none.yaml", "-o", "rw").output).contains("cannot read");
    }

    @Test
    void remountingDoesNotMakeWritableWhatTheFileSaysIsReadOnly() throws Exception {
        assertThat(helper("client.yaml", "-o", "rw,remount,noexec").output)
                .contains(" remount,rw,noexec ");
        for (String mount : List.of("mount:\n  readOnly: true\n", "mount: {readOnly: true}\n")) {
            Files.writeString(folder.resolve("client.yaml"), mount);
            assertThat(helper("client.yaml", "-o", "rw,remount,noexec").output)
                    .contains(" remount,rw,noexec,ro ");
        }
        Files.writeString(folder.resolve("client.yaml"), "mount: {sync: true} # readOnly: true\n");
        assertThat(helper("client.yaml", "-o", "rw,remount,noexec").output)
                .contains(" remount,rw,noexec ");
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
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().merge("PATH", folder.resolve("bin") + ":", (path, bin) -> bin + path);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
