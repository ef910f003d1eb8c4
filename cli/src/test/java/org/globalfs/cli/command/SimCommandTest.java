package org.globalfs.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.globalfs.cli.ExitCode;
import org.globalfs.multicast.sim.Coverage;
import org.globalfs.multicast.sim.RingSimulation;
import org.junit.jupiter.api.Test;

class SimCommandTest {

    private record Ended(int code, String output) {}

    @Test
    void theSameSeedsHappenTheSameWay() {
        Ended once = run("sim", "--from", "7", "--seeds", "3");
        Ended again = run("sim", "--from", "7", "--seeds", "3", "--threads", "1");
        assertThat(once.code).isEqualTo(ExitCode.OK);
        assertThat(once.output).contains("seeds from 7").contains("3 runs in").contains("0 failed");
        assertThat(hash(again)).isEqualTo(hash(once));
        assertThat(hash(run("sim", "--from", "8", "--seeds", "3"))).isNotEqualTo(hash(once));
    }

    private static String hash(Ended ended) {
        return ended.output
                .lines()
                .filter(line -> line.startsWith("hash "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void refusesCountsThatMakeNoSense() {
        assertThat(run("sim", "--seeds", "0").code).isEqualTo(ExitCode.USAGE);
        assertThat(run("sim", "--minutes", "-1").code).isEqualTo(ExitCode.USAGE);
        assertThat(run("sim", "--threads", "0").code).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void endsWhenTheTimeIsOver() {
        Ended ended = run("sim", "--minutes", "0.001");
        assertThat(ended.code).isEqualTo(ExitCode.OK);
    }

    @Test
    void tellsHowToRepeatAFailure() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        SimReport report = new SimReport(new PrintStream(out, true, UTF_8), () -> 0);
        report.accept(new RingSimulation.Outcome(41, 1, 1, new Coverage(), null));
        report.accept(new RingSimulation.Outcome(42, 2, 1, new Coverage(), "two values"));
        report.end();
        assertThat(report.failures()).isEqualTo(1);
        assertThat(out.toString(UTF_8))
                .contains("seed 42 FAILED: two values")
                .contains("globalfs sim --from 42 --seeds 1")
                .contains("2 runs in 0 s, 1 failed");
    }

    private static Ended run(String... args) {
        ByteArrayOutputStream captured = new ByteArrayOutputStream();
        PrintStream out = System.out;
        PrintStream err = System.err;
        try (PrintStream to = new PrintStream(captured, true, UTF_8)) {
            System.setOut(to);
            System.setErr(to);
            int code = GlobalFsCommand.commandLine(args).execute(args);
            return new Ended(code, captured.toString(UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
