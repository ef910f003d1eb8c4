package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreePortsTest {
    private static final int MANY = 300;

    @Test
    void givesNoneTwice() throws IOException {
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            int port = FreePorts.one();
            assertThat(given.add(port)).isTrue();
            assertThat(port).isLessThan(32_768);
        }
    }

    /** Tests run in several processes at a time. */
    @Test
    void otherProcessesGetOthers() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<Process> others = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            others.add(
                    new ProcessBuilder(
                                    java,
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    FreePortsTest.class.getName())
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start());
        }
        Set<Integer> given = new HashSet<>();
        try {
            for (int i = 0; i < MANY; i++) {
                given.add(FreePorts.one());
            }
            for (Process other : others) {
                BufferedReader ports = other.inputReader();
                for (int i = 0; i < MANY; i++) {
                    assertThat(given.add(Integer.parseInt(ports.readLine()))).isTrue();
                }
            }
        } finally {
            others.forEach(Process::destroyForcibly);
        }
        assertThat(given).hasSize(3 * MANY);
    }

    /** The other process: says which ports it gets, and keeps them until it is ended. */
    public static void main(String[] arguments) throws IOException {
        for (int i = 0; i < MANY; i++) {
            System.out.println(FreePorts.one());
        }
        System.out.flush();
        int _ = System.in.read();
    }

    @Test
    void onesThatWereGivenLongAgoComeAgain() throws IOException {
        int first = FreePorts.one();
        Set<Integer> later = new HashSet<>();
        for (int i = 0; i < 500; i++) {
            assertThat(later.add(FreePorts.one())).isTrue();
        }
        assertThat(later).doesNotContain(first);
        for (int i = 0; i < 200; i++) {
            later.add(FreePorts.one());
        }
        assertThat(later).contains(first);
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
