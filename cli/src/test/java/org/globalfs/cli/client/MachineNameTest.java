package org.globalfs.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class MachineNameTest {
    @Test
    void isWhatTheSystemSays() throws Exception {
        Process uname = new ProcessBuilder("uname", "-n").start();
        String said = new String(uname.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(uname.waitFor()).isZero();
        assertThat(MachineName.get()).isEqualTo(said.strip());
    }
}
