package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a data folder may hold before a server makes it its own. */
class ServerFolderTest {
    @TempDir Path folder;

    @Test
    void aFolderThatWasMadeReady() throws Exception {
        Files.createDirectories(folder.resolve("data/lost+found"));
        Files.createDirectories(folder.resolve("data/disks/s1"));
        Files.writeString(folder.resolve("data/server.log"), "");
        Files.writeString(folder.resolve("data/lock"), "");
        ServerConfig config = config();
        ServerFolder.claim(config).close();
        assertThat(folder.resolve("data/cluster")).exists();
        Files.writeString(folder.resolve("data/letter.txt"), "dear");
        ServerFolder.claim(config).close();
    }

    /** Whatever the umask; one that was made ready is as whoever made it wants it. */
    @Test
    void aNewFolderIsItsOwnersAlone() throws Exception {
        ServerConfig config = config();
        Path data = folder.resolve("data");
        ServerFolder.claim(config).close();
        assertThat(Files.getPosixFilePermissions(data))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-x---"));
        ServerFolder.claim(config).close();
        assertThat(Files.getPosixFilePermissions(data))
                .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
    }

    @Test
    void aFolderOfSomebodyElse() throws Exception {
        Files.createDirectories(folder.resolve("data/bin"));
        ServerConfig config = config();
        assertThatThrownBy(() -> ServerFolder.claim(config))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("holds something else (bin)");
        assertThat(folder.resolve("data/lock")).doesNotExist();
    }

    @Test
    void aFolderThatCannotBeWritten() throws Exception {
        Files.createDirectories(folder.resolve("data/lock"));
        ServerConfig config = config();
        assertThatThrownBy(() -> ServerFolder.claim(config))
                .isInstanceOfSatisfying(
                        Failure.class, f -> assertThat(f.code()).isEqualTo(ExitCode.CONFIG))
                .hasMessageContaining(
                        "cannot be used: " + folder.resolve("data/lock") + ": Is a dir")
                .hasMessageContaining("the key 'data'");
        Path lock = Path.of("/x/lock");
        assertThat(ServerFolder.unusable(Path.of("/x"), new AccessDeniedException(lock.toString())))
                .hasMessageContaining(
                        "/x/lock: user '" + System.getProperty("user.name") + "' may not use it");
    }

    private ServerConfig config() throws Exception {
        Path file = folder.resolve("server.yaml");
        Files.writeString(
                file,
                """
                cluster: demo
                zookeeper: 127.0.0.1:1
                data: data
                region: us-west
                datacenter: a
                roles:
                  storage:
                    - {id: s1, port: 1, data: data/disks/s1}
                topology:
                  - region: us-west
                    partition: 1
                    replicas:
                      - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
                """);
        return ServerConfig.read(file);
    }
}
