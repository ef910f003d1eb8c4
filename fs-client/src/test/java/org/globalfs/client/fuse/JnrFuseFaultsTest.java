package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same through libfuse 2. */
class JnrFuseFaultsTest extends FuseFaultsTest {
    @Override
    String[] with(String... options) {
        return Stream.concat(Stream.of(options), Stream.of("jnr")).toArray(String[]::new);
    }

    @BeforeEach
    @Override
    void prepare() throws Exception {
        assumeTrue(
                MountedProcess.hasLibFuse(),
                "SKIPPED: no libfuse 2: install it with 'apt-get install libfuse2'");
        super.prepare();
    }

    @Test
    void withoutTheLibraryItSaysWhatToInstall() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root to hide the library");
        Path mountpoint = Files.createDirectory(folder.resolve("without"));
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "unshare",
                                "-m",
                                "sh",
                                "-c",
                                "PATH=$PATH:/sbin:/usr/sbin;"
                                        + " for l in $(ldconfig -p | sed -n 's/.*libfuse.so.2 .*=> //p');"
                                        + " do mount --bind /dev/null $(readlink -f $l); done;"
                                        + " exec \"$@\"",
                                "sh"));
        command.addAll(MountedProcess.command(mountpoint, with("0", "1000")));
        try (MountedProcess mount = MountedProcess.launch(mountpoint, command)) {
            assertThat(mount.expectLine("refused "))
                    .contains("libfuse 2")
                    .contains("apt-get install libfuse2");
        }
    }
}
