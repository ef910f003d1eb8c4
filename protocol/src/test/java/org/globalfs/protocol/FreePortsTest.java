package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreePortsTest {
    @Test
    void givesNoneTwice() throws IOException {
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            int port = FreePorts.one();
            assertThat(given.add(port)).isTrue();
            assertThat(port).isLessThan(32_768);
        }
    }

    @Test
    void passesOverOneThatIsListenedOn() throws IOException {
        int taken = FreePorts.one();
        int other = taken + 1;
        try (ServerSocket holder = new ServerSocket(taken, 1, InetAddress.getLoopbackAddress())) {
            assertThat(holder.isBound()).isTrue();
            assertThatThrownBy(() -> FreePorts.one(taken, other))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining(String.valueOf(taken));
        }
    }

    @Test
    void aBlockCanBeListenedOn() throws IOException {
        int first = FreePorts.block(20);
        for (int port = first; port < first + 20; port++) {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        }
    }
}
