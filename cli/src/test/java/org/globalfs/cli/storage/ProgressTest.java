package org.globalfs.cli.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is shown of nodes that are at work. */
class ProgressTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, UTF_8);

    private String shown() {
        String text = bytes.toString(UTF_8);
        bytes.reset();
        return text;
    }

    private static ProgressView.Row row(String node, double done, boolean over) {
        return new ProgressView.Row(node, done, "as said", over);
    }

    @Test
    void barsAndPercent() {
        assertThat(ProgressText.bar(0)).isEqualTo("[--------------------]");
        assertThat(ProgressText.bar(0.52)).isEqualTo("[##########----------]");
        assertThat(ProgressText.bar(1.5)).isEqualTo("[####################]");
        assertThat(ProgressText.percent(0.999)).isEqualTo(" 99 %");
        assertThat(ProgressText.percent(1)).isEqualTo("100 %");
        assertThat(ProgressText.part(1, 0)).isZero();
    }

    @Test
    void times() {
        assertThat(ProgressText.time(59_000)).isEqualTo("59 s");
        assertThat(ProgressText.time(60_000)).isEqualTo("1 min 00 s");
        assertThat(ProgressText.time(3_599_000)).isEqualTo("59 min 59 s");
        assertThat(ProgressText.time(7_380_000)).isEqualTo("2 h 03 min");
        assertThat(ProgressText.timeLeft(10_000, 1, 4)).isEqualTo(", about 30 s left");
        assertThat(ProgressText.timeLeft(10_000, 0, 4)).as("who knows").isEmpty();
        assertThat(ProgressText.timeLeft(10_000, 4, 4)).isEmpty();
    }

    @Test
    void linesNowAndThenAndOneAtTheEnd() {
        LineView always = new LineView(out, 0);
        always.show(List.of(row("a", 0.5, false), row("long", 1, true)));
        assertThat(shown()).isEqualTo("a      50 %  as said\nlong  100 %  as said\n");
        always.show(List.of(row("a", 1, true), row("long", 1, true)));
        assertThat(shown()).as("only what is news").isEqualTo("a     100 %  as said\n");
        LineView seldom = new LineView(out, 3_600_000);
        seldom.show(List.of(row("a", 0.5, false)));
        assertThat(shown()).isEmpty();
        seldom.show(List.of(row("a", 1, true)));
        assertThat(shown()).isEqualTo("a  100 %  as said\n");
    }

    @Test
    void barsAreDrawnOverAndTheirLastStays() {
        TerminalView view = new TerminalView(out);
        view.show(List.of(row("a", 0.5, false), row("b", 0, false)));
        assertThat(shown())
                .doesNotContain("A")
                .contains("a  [##########----------]  50 %  as said\u001b[K\n")
                .contains("b  [--------------------]   0 %  as said\u001b[K\n");
        view.show(List.of(row("a", 0.6, false), row("b", 1, true)));
        String second = shown();
        assertThat(second).contains("\u001b[2A").endsWith("\u001b[J\u001b[?7h");
        assertThat(second.indexOf("b  [####")).isLessThan(second.indexOf("a  [####"));
        view.show(List.of(row("a", 1, true), row("b", 1, true)));
        assertThat(shown()).contains("\u001b[1A").contains("a  [").doesNotContain("b  [");
    }

    @Test
    void moreThanFitAScreenAreCounted() {
        List<ProgressView.Row> rows = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            rows.add(row("n" + i, 0, false));
        }
        TerminalView view = new TerminalView(out);
        view.show(rows);
        assertThat(shown()).contains("n15").doesNotContain("n16").contains("and 4 more");
        view.show(rows);
        assertThat(shown()).contains("\u001b[17A");
    }
}
