package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FilesNeededTest {
    @TempDir private Path folder;

    @Test
    void aLimitThatIsTooLowIsNamedWithTheMend() throws Exception {
        ServerConfig server =
                ServerConfig.read(Files.writeString(folder.resolve("s.yaml"), OneServer.YAML));
        FilesNeeded.check(List.of(server), 256);
        List<ServerConfig> nine = Collections.nCopies(9, server);
        FilesNeeded.check(nine, 784);
        assertThatThrownBy(() -> FilesNeeded.check(nine, 783))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 783 files")
                .hasMessageContaining("ulimit -n 65536")
                .hasMessageContaining("LimitNOFILE=65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
    }

    @Test
    void aMountThatCouldNotServeAFewProgramsIsNotBegun() throws Exception {
        FilesNeeded.checkMount(128);
        assertThatThrownBy(() -> FilesNeeded.checkMount(127))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("128 are needed")
                .hasMessageContaining("ulimit -n 65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
    }
}
