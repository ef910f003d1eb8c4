package org.globalfs.client.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What one who asks a mount is told when there is no answer. */
@Timeout(60)
class ControlClientTest {
    private static final Path MOUNTPOINT = Path.of("/mnt/tree");

    @TempDir Path folder;

    @Test
    void aProcessThatIsStoppedDoesNotHoldUpWhoAsks() throws IOException {
        try (ServerSocketChannel server = listen()) {
            assertThat(server.isOpen()).isTrue();
            try (ControlClient client = ask(Duration.ofMillis(100))) {
                assertThatThrownBy(client::line)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("/mnt/tree has not answered for")
                        .hasMessageContaining("stopped or stuck")
                        .hasNoCause();
            }
        }
    }

    @Test
    void anAnswerInTime() throws IOException {
        try (ServerSocketChannel server = listen();
                ControlClient client = ask(Duration.ofMinutes(1));
                SocketChannel asked = server.accept()) {
            asked.write(ByteBuffer.wrap("one\n".getBytes(StandardCharsets.UTF_8)));
            asked.shutdownOutput();
            assertThat(client.line()).isEqualTo("one");
            assertThat(client.line()).isNull();
        }
    }

    @Test
    void anAnswerThatIsCutOffIsNone() throws IOException {
        for (boolean whole : new boolean[] {true, false}) {
            try (ServerSocketChannel server = listen();
                    ControlClient client = ask(Duration.ofMinutes(1));
                    SocketChannel asked = server.accept()) {
                String answer = whole ? "one\n.\n" : "one\n";
                asked.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8)));
                asked.shutdownOutput();
                if (whole) {
                    assertThat(client.lines()).containsExactly("one");
                } else {
                    assertThatThrownBy(client::lines)
                            .hasMessageContaining("/mnt/tree ended before it had answered");
                }
            }
            Files.delete(folder.resolve("mount.sock"));
        }
    }

    @Test
    void aProcessThatIsGone() throws IOException {
        listen().close();
        assertThatThrownBy(() -> ask(Duration.ofMinutes(1)).close())
                .hasMessageContaining("does not answer")
                .hasMessageContaining("umount --lazy");
    }

    /** The JDK's own answer to EACCES, which root is never given by the kernel. */
    @Test
    void anotherUsersMount() throws Exception {
        assumeTrue(
                Files.getOwner(Path.of("/proc/self")).getName().equals("root")
                        && Files.isExecutable(Path.of("/usr/bin/setpriv")),
                "SKIPPED: needs root and setpriv to become another user");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        Path source =
                Files.writeString(
                        folder.resolve("Asker.java"),
                        """
                        import java.net.UnixDomainSocketAddress;
                        import java.nio.channels.SocketChannel;

                        class Asker {
                            public static void main(String[] path) throws Exception {
                                try {
                                    SocketChannel.open(UnixDomainSocketAddress.of(path[0]));
                                } catch (Exception e) {
                                    System.out.print(e.getClass().getName());
                                }
                            }
                        }
                        """);
        Files.setPosixFilePermissions(source, PosixFilePermissions.fromString("rw-r--r--"));
        Process process =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid=65534",
                                "--regid=65534",
                                "--clear-groups",
                                System.getProperty("java.home") + "/bin/java",
                                source.toString(),
                                closed.resolve("x.sock").toString())
                        .start();
        String thrown = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        IOException denied =
                Class.forName(thrown)
                        .asSubclass(IOException.class)
                        .getConstructor(String.class)
                        .newInstance("Permission denied");
        assertThat(ControlClient.failure(MOUNTPOINT, denied))
                .hasMessage("/mnt/tree is another user's mount: ask as that user, or as root")
                .hasNoCause();
    }

    private ServerSocketChannel listen() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(folder.resolve("mount.sock")));
        return server;
    }

    private ControlClient ask(Duration limit) throws IOException {
        return ControlClient.ask(
                MOUNTPOINT,
                UnixDomainSocketAddress.of(folder.resolve("mount.sock")),
                "stats",
                limit);
    }
}
