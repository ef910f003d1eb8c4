package org.globalfs.jepsen.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A report of a small history, in which a region is cut off and its client's write is lost. */
class ReportTest {
    private static final Path RECORDED =
            Path.of("src", "test", "resources", "report", "register-1.edn");

    @TempDir private Path folder;

    @Test
    void countsOperationsAndFaults() throws Exception {
        String text = Report.text(List.of(new Verdict("register", RECORDED, 0, "valid")));
        assertThat(text.lines().map(String::strip))
                .anyMatch(line -> line.matches("register +valid +1 +3 +1 +2 +1"))
                // the client in reach: two updates, the slower of 290 ms without any answer
                .anyMatch(line -> line.matches("isolate +1 +2\\.1 +2 +290 +0\\.29"));
    }

    @Test
    void aClientThatWasCutOffIsNotHeldAgainstAvailability() throws Exception {
        String spared = "\"us-west>us-west\" \"us-east>us-east\"";
        String text = Files.readString(RECORDED);
        Path history = folder.resolve("register-1.edn");
        Files.writeString(history, text.replace(spared, spared + " \"us-east>us-west\""));
        assertThat(Report.text(List.of(new Verdict("register", history, 0, "valid"))).lines())
                // now its unanswered write counts: as long as it was under way
                .anyMatch(line -> line.matches("isolate +1 +2\\.1 +2 +290 +1\\.98"));
    }

    @Test
    void drawsAPage() throws Exception {
        Path history = folder.resolve("register-1.edn");
        Files.copy(RECORDED, history);
        Files.writeString(folder.resolve("register-1.edn.html"), "drawn");
        String page =
                Report.html(
                        List.of(
                                new Verdict("register", history, 0, "valid"),
                                new Verdict("lock", history, 1, "invalid: <two> holders")));
        assertThat(page)
                .contains("<a href=\"#register\">register</a></td><td>valid</td>")
                .contains("<td class=\"bad\">invalid</td>")
                .contains("<a href=\"register-1.edn.html\">drawn</a>")
                .contains("invalid: &lt;two&gt; holders")
                .contains("<title>isolate us-west&gt;us-east us-east&gt;us-west, 2.1 s</title>")
                .contains("<polyline class=\"p50\" points=\"")
                .doesNotContain("NaN", "Infinity");
    }
}
