package org.globalfs.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LostThreadsTest {

    @ParameterizedTest
    @CsvSource({"error," + ExitCode.FAILED, "exception,0"})
    void onlyAnErrorEndsTheProcess(String kind, int exitCode) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command =
                List.of(
                        java,
                        "-cp",
                        System.getProperty("java.class.path"),
                        LosesOne.class.getName(),
                        kind);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(exitCode);
        assertThat(output).contains("the thread keeper ended", "without it");
    }

    /** A process one of whose threads ends. */
    static final class LosesOne {
        private LosesOne() {}

        public static void main(String[] arguments) throws InterruptedException {
            LostThreads.endTheProcess();
            Thread keeper =
                    Thread.ofPlatform()
                            .name("keeper")
                            .start(() -> {
                                if (arguments[0].equals("error")) {
                                    throw new NoClassDefFoundError("without it");
                                }
                                throw new IllegalStateException("without it");
                            });
            keeper.join();
        }
    }
}
