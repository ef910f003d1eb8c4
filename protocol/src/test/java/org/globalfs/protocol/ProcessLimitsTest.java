package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessLimitsTest {
    @Test
    void aLimitIsReadAsLinuxTellsIt() {
        List<String> lines =
                List.of(
                        "Limit                     Soft Limit  Hard Limit  Units",
                        "Max file size             unlimited   unlimited   bytes",
                        "Max processes             96365       96365       processes",
                        "Max open files            1024        524288      files");
        assertThat(ProcessLimits.limit(lines, "Max open files")).isEqualTo(1024);
        assertThat(ProcessLimits.limit(lines, "Max processes")).isEqualTo(96_365);
        assertThat(ProcessLimits.limit(lines, "Max file size")).isEqualTo(Long.MAX_VALUE);
        assertThat(ProcessLimits.limit(List.of(), "Max open files")).isEqualTo(Long.MAX_VALUE);
    }
}
