package org.globalfs.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
    void howFarTheKernelReadsAheadIsChosen() throws Exception {
        assertThat(options("{}").readAheadKb()).isEqualTo(1024);
        assertThat(options("{}", "read_ahead_kb=4096").readAheadKb()).isEqualTo(4096);
        assertThat(options("{}", "read_ahead_kb=0").readAheadKb()).isZero();
        for (String wrong : new String[] {"-1", "65537", "1M", ""}) {
            assertThatThrownBy(() -> options("{}", "read_ahead_kb=" + wrong))
                    .isInstanceOf(Failure.class)
                    .hasMessageContaining("give a number from 0 to 65536");
        }
    }

    @Test
    void remountIsLeftToMount() {
        assertThatThrownBy(() -> options("{}", "remount", "ro"))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("unmount it and mount it again");
        assertThatThrownBy(() -> options("{}", "nosiud")).hasMessageContaining("is unknown");
    }

    /** Commits are tried for as long as programs wait for them. */
    @Test
    void howLongRequestsMayTakeIsSaidForCommitsToo() throws Exception {
        ClientConfig client = config("{sync: false}");
        MountFlags flags = MountFlags.of(client, List.of("request_timeout=600", "sync"), false);
        assertThat(flags.options().requestTimeout()).isEqualTo(Duration.ofMinutes(10));
        assertThat(flags.over(client).mount().requestTimeoutMs()).isEqualTo(600_000);
        assertThat(flags.over(client).mount().sync()).isTrue();
    }

    private MountOptions options(String mount, String... flags)
            throws IOException, ConfigException, Failure {
        return MountFlags.of(config(mount), List.of(flags), false).options();
    }

    private ClientConfig config(String mount) throws IOException, ConfigException {
        Path file = folder.resolve("client.yaml");
        Files.writeString(
                file,
                "cluster: c\nzookeeper: 127.0.0.1:1\nregion: us-west\nmount: " + mount + "\n");
        return ClientConfig.read(file);
    }
}
