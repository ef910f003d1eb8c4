package org.globalfs.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.cli.Failure;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What mount(8) and fstab say holds over what the client's file says. */
class MountFlagsTest {
    @TempDir Path folder;

    @Test
    void theFileHoldsWhereNothingElseIsSaid() throws Exception {
        MountOptions options = options("{setId: true, devices: true, readOnly: true}");
        assertThat(options.allowSetId()).isTrue();
        assertThat(options.allowDevices()).isTrue();
        assertThat(options.readOnly()).isTrue();
        assertThat(options.allowExec()).isTrue();
    }

    @Test
    void optionsTakeBackWhatTheFileAllows() throws Exception {
        MountOptions options =
                options("{setId: true, devices: true, readOnly: true}", "nosuid", "nodev", "rw");
        assertThat(options.allowSetId()).isFalse();
        assertThat(options.allowDevices()).isFalse();
        assertThat(options.readOnly()).isFalse();
    }

    @Test
    void whatAnFstabLineWithUserBecomes() throws Exception {
        MountOptions options = options("{setId: true}", "rw", "noexec", "nosuid", "nodev", "user");
        assertThat(options.allowExec()).isFalse();
        assertThat(options.allowSetId()).isFalse();
        assertThat(options.allowDevices()).isFalse();
    }

    @Test
    void ofTwoThatContradictTheLaterHolds() throws Exception {
        assertThat(options("{}", "noexec", "exec").allowExec()).isTrue();
        assertThat(options("{}", "suid", "nosuid").allowSetId()).isFalse();
        assertThat(options("{}", "ro", "rw").readOnly()).isFalse();
    }

    @Test
    void remountIsLeftToMount() {
        assertThatThrownBy(() -> options("{}", "remount", "ro"))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("unmount it and mount it again");
        assertThatThrownBy(() -> options("{}", "nosiud")).hasMessageContaining("is unknown");
    }

    private MountOptions options(String mount, String... flags)
            throws IOException, ConfigException, Failure {
        Path file = folder.resolve("client.yaml");
        Files.writeString(
                file,
                "cluster: c\nzookeeper: 127.0.0.1:1\nregion: us-west\nmount: " + mount + "\n");
        return MountFlags.of(ClientConfig.read(file), List.of(flags), false).options();
    }
}
