package org.globalfs.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ShellWordTest {
    @Test
    void whatAShellMakesOfIt() throws Exception {
        assertThat(ShellWord.of(Path.of("/tmp/a-b_1.x/mnt"))).isEqualTo("/tmp/a-b_1.x/mnt");
        for (String path : new String[] {"/tmp/a b", "/tmp/it's $HOME", "~x", "a*\"b\\", "a;b&c"}) {
            Process shell =
                    new ProcessBuilder("sh", "-c", "printf %s " + ShellWord.of(Path.of(path)))
                            .start();
            assertThat(new String(shell.getInputStream().readAllBytes(), UTF_8)).isEqualTo(path);
            assertThat(shell.waitFor()).isZero();
        }
    }
}
