package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.junit.jupiter.api.Test;

final class LimitsNeededTest {
    private static final long MANY = Long.MAX_VALUE;

    @Test
    void aLimitThatIsTooLowIsNamedWithTheMend() throws Exception {
        LimitsNeeded.check(1, 256, 1L << 30);
        LimitsNeeded.check(9, MANY, MANY);
        LimitsNeeded.checkMount(128);
        assertThatThrownBy(() -> LimitsNeeded.check(1, 255, MANY))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 255 threads")
                .hasMessageContaining("ulimit -u 65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.check(1, MANY, 64 << 20))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 64 MiB only")
                .hasMessageContaining("ulimit -f unlimited")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.checkMount(127))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("128 are needed");
    }
}
