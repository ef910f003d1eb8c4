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
        try (FreePorts.Block block = FreePorts.block(20)) {
            for (int port = block.first(); port < block.first() + 20; port++) {
                new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
            }
        }
    }

    /** As two clusters that are made at the same time would. */
    @Test
    void blocksThatAreHeldHaveNoPortInCommon() throws IOException {
        int first;
        try (FreePorts.Block room = FreePorts.block(21)) {
            first = room.first();
        }
        try (FreePorts.Block one = FreePorts.block(10, first, first + 22);
                FreePorts.Block other = FreePorts.block(10, first, first + 22)) {
            assertThat(Math.abs(one.first() - other.first())).isGreaterThanOrEqualTo(10);
            assertThatThrownBy(() -> FreePorts.block(10, first, first + 22).close())
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("no 10 consecutive free ports");
        }
        FreePorts.block(10, first, first + 22).close();
    }
}
