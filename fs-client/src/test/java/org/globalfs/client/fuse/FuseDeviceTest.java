package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.Test;

/** A device that cannot be opened is told with what opens it. */
class FuseDeviceTest {
    @Test
    void whoMayNotOpenItIsToldHow() {
        assertThat(FuseDevice.refusal(Errno.EACCES))
                .contains("'chmod 666 /dev/fuse' as root")
                .contains("--device /dev/fuse");
        assertThat(FuseDevice.refusal(Errno.ENOENT)).contains("modprobe fuse");
    }
}
