package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.PidsLimit;
import org.junit.jupiter.api.Test;

final class LimitsNeededTest {
    private static final long MANY = Long.MAX_VALUE;
    private static final PidsLimit FREE = new PidsLimit(MANY, Path.of(""));

    @Test
    void aLimitThatIsTooLowIsNamedWithTheMend() throws Exception {
        LimitsNeeded.check(1, 256, FREE, 1L << 30);
        LimitsNeeded.check(9, MANY, FREE, MANY);
        LimitsNeeded.checkMount(128, FREE);
        assertThatThrownBy(() -> LimitsNeeded.check(1, 255, FREE, MANY))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 255 threads")
                .hasMessageContaining("ulimit -u 65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.check(1, MANY, FREE, 64 << 20))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 64 MiB only")
                .hasMessageContaining("ulimit -f unlimited")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.checkMount(127, FREE))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("128 are needed");
        PidsLimit group = new PidsLimit(64, Path.of("/group/pids.max"));
        assertThatThrownBy(() -> LimitsNeeded.checkMount(MANY, group))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 64 threads in all (/group/pids.max), 128 are")
                .hasMessageContaining("TasksMax=65536");
    }
}
