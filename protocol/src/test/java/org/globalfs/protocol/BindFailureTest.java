package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A port that is busy, and one that the user may not have, are told apart. */
class BindFailureTest {
    @TempDir Path folder;

    @Test
    void aBusyPort() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            BindException e =
                    Assertions.catchThrowableOfType(
                            BindException.class,
                            () ->
                                    new ServerSocket(
                                                    taken.getLocalPort(),
                                                    1,
                                                    InetAddress.getLoopbackAddress())
                                            .close());
            assertThat(BindFailure.isDenied(e)).isFalse();
            assertThat(BindFailure.mend(e)).contains("busy");
        }
    }

    /** As another user, which root is never refused. */
    @Test
    void aPortOfRoot() throws Exception {
        List<String> asUser =
                List.of(
                        "unshare", // a network of its own: this one's may let all use all ports
                        "--net",
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        "--bounding-set=-net_bind_service");
        assumeTrue(
                Files.getOwner(Path.of("/proc/self")).getName().equals("root") && runs(asUser),
                "SKIPPED: needs root, unshare and setpriv to become another user");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path source =
                Files.writeString(
                        folder.resolve("Listener.java"),
"""
                        import java.io.IOException;
import java.net.BindException;
                        import java.net.ServerSocket;

                        class Listener {
                            public static void main(String[] arguments) throws Exception {
                                try {
                                    new ServerSocket(1);
                                } catch (BindException e) {
                                    System.out.print(e.getMessage());
                                }
                            }
                        }
""");
        Files.setPosixFilePermissions(source, PosixFilePermissions.fromString("rw-r--r--"));
        List<String> command = new ArrayList<>(asUser);
        command.add(System.getProperty("java.home") + "/bin/java");
        command.add(source.toString());
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        BindException denied = new BindException(told);
        assertThat(BindFailure.isDenied(denied)).as(told).isTrue();
        assertThat(BindFailure.mend(denied)).contains("root").doesNotContain("busy");
    }

    private static boolean runs(List<String> prefix) throws Exception {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException e) {
            return false; // one of them is not installed
        }
    }
}
