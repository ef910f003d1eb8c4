package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who calls it wrongly is told so, and finds nothing left in the temporary folder. */
@Timeout(120)
class JepsenMainTest {
    @TempDir Path folder;

    @Test
    void wrongArgumentsLeaveNothing() throws Exception {
        for (String[] wrong :
                new String[][] {
                    {"--bogus", "x"}, {"--nemesis", "nope"}, {"--minutes", "0"}, {"--workload", "x"}
                }) {
            Process process =
                    new ProcessBuilder(
                                    System.getProperty("java.home") + "/bin/java",
                                    "-XX:-UsePerfData",
                                    "-Djava.io.tmpdir=" + folder,
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    JepsenMain.class.getName(),
                                    wrong[0],
                                    wrong[1])
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String told =
                    new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(told).isEqualTo(2);
            assertThat(told)
                    .startsWith("globalfs jepsen: ")
                    .contains(wrong[1])
                    .endsWith(": try 'globalfs jepsen --help'\n")
                    .hasLineCount(1);
            assertThat(folder).isEmptyDirectory();
        }
    }
}
