package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplicaFolderTest {
    @TempDir Path folder;

    /** Whatever the umask: names, attributes and small files of everybody are in it. */
    @Test
    void aNewFolderIsItsOwnersAlone() throws Exception {
        Path own = folder.resolve("replica-1");
        ReplicaFolder.claim(own, "demo", 1, 1);
        assertThat(Files.getPosixFilePermissions(own))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }
}
