package org.globalfs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the script {@code globalfs} calls Java; a stand-in for Java prints what it is given. */
class LauncherTest {
    @TempDir Path folder;

    private record Ended(int code, String output) {}

    @BeforeEach
    void install() throws IOException {
        Files.copy(Path.of("..", "globalfs"), folder.resolve("globalfs"));
        Files.createDirectories(folder.resolve("cli/target"));
        Files.writeString(folder.resolve("cli/target/globalfs.jar"), "");
        Path jdk = Files.createDirectories(folder.resolve("jdk/bin")).resolveSibling("release");
        Files.writeString(jdk, "JAVA_VERSION=\"25\"\n");
        program("jdk/bin/javac", "");
        program("jdk/bin/java", "echo \"$LC_CTYPE ${LC_ALL-none} $*\"");
        Files.createDirectories(folder.resolve("tools"));
        for (String tool : List.of("dirname", "readlink", "find", "grep", "id")) {
            program("tools/" + tool, "PATH=/usr/bin:/bin exec " + tool + " \"$@\"");
        }
    }

    @Test
    void theCharactersOfNamesAreUtf8WhateverLocalesThereAre() throws Exception {
        assertThat(launch(Map.of("LC_ALL", "C"), "status").output).startsWith("C.UTF-8 none ");
        assertThat(launch(Map.of("LANG", "POSIX"), "status").output).startsWith("C.UTF-8 none ");
        assertThat(launch(Map.of(), "status").output).startsWith("C.UTF-8 none ");
        assertThat(launch(Map.of("LANG", "xx_YY.utf8"), "status").output)
                .startsWith("C.UTF-8 none ");
    }

    @Test
    void whoServesTakesMoreOptionsOfJavaAndEndsWithoutMemory() throws Exception {
        Map<String, String> more = Map.of("GLOBALFS_JVM_FLAGS", "-Xmx3g  -Dx=y");
        assertThat(launch(more, "server", "--config", "a.yaml").output)
                .containsPattern(
                        "-Xmx[0-9]+m .*-XX:\\+CrashOnOutOfMemoryError .*-Xmx3g -Dx=y -jar ");
        assertThat(launch(more, "status").output).doesNotContain("-Xmx3g");
        assertThat(launch(Map.of(), "server").output).contains(" -jar ");
    }

    @Test
    void whatMountsAreMadeWithIsNotMissedByOthers() throws Exception {
        for (String verb : List.of("server", "status", "stop", "fsck")) {
            assertThat(launch(Map.of(), verb)).extracting(Ended::code).isEqualTo(0);
        }
        Ended mount = launch(Map.of(), "mount");
        assertThat(mount.code).isEqualTo(1);
        assertThat(mount.output).contains("missing: ").contains("util-linux").hasLineCount(1);
    }

    private Ended launch(Map<String, String> variables, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("bash", folder.resolve("globalfs") + ""));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", folder.resolve("tools").toString());
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        builder.environment().putAll(variables);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }

    private void program(String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/bash\n" + body + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }
}
