package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

class OpenFilesTest {

    @Test
    void whatItsCausesSayCounts() {
        Throwable cause = new SocketException("Too many open files");
        assertThat(OpenFiles.areUsedUp(cause)).isTrue();
        assertThat(OpenFiles.areUsedUp(new IllegalStateException("no", new IOException(cause))))
                .isTrue();
        assertThat(OpenFiles.areUsedUp(new IOException("No space left on device"))).isFalse();
        assertThat(OpenFiles.areUsedUp(null)).isFalse();
    }

    @Test
    void theRemedyNamesTheLimitIfItIsKnown() {
        assertThat(OpenFiles.remedy(256))
                .isEqualTo(
                        "This process may have 256 files and connections open: raise the limit"
                                + " ('ulimit -n 65536' before it is started, or LimitNOFILE=65536 in"
                                + " its systemd unit)");
        assertThat(OpenFiles.remedy(Long.MAX_VALUE))
                .startsWith("Raise the limit of files and connections ('ulimit -n ");
    }
}
