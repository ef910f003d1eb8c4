package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who reaches whom in a lab. */
@Timeout(120)
class WanLabTest {
    private static final String LISTEN =
            """
            import socket, sys
            with socket.create_server((sys.argv[1], 4711)) as server:
                print('listens', flush=True)
                while True: server.accept()[0].close()
            """;
    private static final String CONNECT =
            """
            import socket, sys
            try:
                with socket.create_connection((sys.argv[1], 4711), 1): print('reached')
            except OSError as e: print(e)
            """;

    private final List<Process> listeners = new ArrayList<>();
    private WanLab lab;

    @BeforeEach
    void make() throws IOException {
        Optional<String> missing = WanLab.missing().or(() -> Command.missing("python3"));
        assumeTrue(missing.isEmpty(), () -> "SKIPPED: " + missing.orElseThrow());
        lab =
                new WanLab(
                        Path.of("..").toAbsolutePath().normalize(),
                        List.of("one", "two"),
                        Map.of("one-a", "one", "one-b", "one", "two-a", "two"));
        lab.up();
        for (String name : List.of("one", "one-a", "one-b", "two-a")) {
            Process listener = python(name, LISTEN, lab.address(name));
            listeners.add(listener);
            assertThat(listener.inputReader(StandardCharsets.UTF_8).readLine())
                    .isEqualTo("listens");
        }
    }

    @AfterEach
    void takeAway() throws IOException {
        listeners.forEach(Process::destroyForcibly);
        if (lab != null) {
            lab.close();
        }
    }

    private Process python(String from, String script, String argument) throws IOException {
        List<String> command = new ArrayList<>(lab.prefix(from));
        command.addAll(List.of("python3", "-c", script, argument));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private boolean reaches(String from, String to) throws IOException {
        Process connecting = python(from, CONNECT, lab.address(to));
        return new String(connecting.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .contains("reached");
    }

    @Test
    void serversReachEachOtherUntilOneIsCutOff() throws IOException {
        assertThat(reaches("one-a", "one-b")).isTrue();
        assertThat(reaches("one-a", "two-a")).isTrue();
        assertThat(reaches("one", "one-a")).isTrue();
        assertThat(reaches("two", "one-a")).isTrue();
        lab.cutOff("one-a", List.of("one-b", "two-a"));
        assertThat(reaches("one-a", "one-b")).isFalse();
        assertThat(reaches("one-b", "one-a")).isFalse();
        assertThat(reaches("two-a", "one-a")).isFalse();
        assertThat(reaches("one", "one-a")).as("clients still reach it").isTrue();
        assertThat(reaches("two", "one-a")).as("clients still reach it").isTrue();
        assertThat(reaches("one-a", "one")).isTrue();
        assertThat(reaches("one-b", "two-a")).as("the others").isTrue();
        lab.rejoin("one-a", List.of("one-b", "two-a"));
        assertThat(reaches("one-a", "two-a")).isTrue();
        assertThat(reaches("two-a", "one-a")).isTrue();
    }
}
