package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
                    {"--bogus", "x"},
                    {"--nemesis", "nope"},
                    {"--minutes", "0"},
                    {"--workload", "x"},
                    {"--minutes", "0.1"},
                    {"--minutes", "Infinity"}
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

    @Test
    void aGoProgramThatCannotBeBuiltLeavesNothing() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Path programs = Files.createDirectory(folder.resolve("bin"));
        Files.createSymbolicLink(programs.resolve("rm"), Path.of("/bin/rm"));
        ProcessBuilder builder =
                new ProcessBuilder(
                                System.getProperty("java.home") + "/bin/java",
                                "-XX:-UsePerfData",
                                "-Djava.io.tmpdir=" + temporary,
                                "-Dglobalfs.home=" + Path.of("..").toRealPath(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                JepsenMain.class.getName(),
                                "--no-wan",
                                "--output",
                                folder.resolve("results").toString())
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("PATH", programs.toString());
        Process process = builder.start();
        String told = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(told).isNotZero();
        assertThat(told).contains("cannot build what is written in Go");
        assertThat(temporary).isEmptyDirectory();
    }
}
