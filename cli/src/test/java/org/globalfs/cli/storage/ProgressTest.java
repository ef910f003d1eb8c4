package org.globalfs.cli.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.NodeStatistics;
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

    @Test
    void whatIsSaidBetweenStandsAboveTheBars() {
        TerminalView view = new TerminalView(out);
        view.show(List.of(row("a", 0.5, false)));
        shown();
        view.say("hear this");
        assertThat(shown()).isEqualTo("\u001b[1A\u001b[Jhear this\n");
        view.show(List.of(row("a", 0.5, false)));
        assertThat(shown()).contains("a  [###").doesNotContain("\u001b[1A");
        LineView lines = new LineView(out, 0);
        lines.say("hear this");
        assertThat(shown()).isEqualTo("hear this\n");
    }

    @Test
    void whoCannotReadAllItsChunksInItsPeriodIsToldTheMend() {
        long week = 7 * 86_400;
        assertThat(scrubbing(week * (32 << 20), week).isScrubLate()).isFalse();
        assertThat(scrubbing(1L << 60, 0).isScrubLate()).isFalse();
        NodeStatistics late = scrubbing(week * (33 << 20), week);
        assertThat(late.isScrubLate()).isTrue();
        assertThat(LateScrubs.line("s1", late))
                .isEqualTo(
                        "s1 cannot read all its chunks in its scrubPeriod of 168 h 00 min at 32.0"
                                + " MiB/s: set its scrubBandwidth to 33MiB at least, or a longer"
                                + " scrubPeriod");
    }

    private static NodeStatistics scrubbing(long bytes, long periodS) {
        return new NodeStatistics(
                1L << 60, bytes, bytes, 1, 0, 0, 1, true, 0, 0, periodS * 1_000, 32 << 20);
    }

    private static NodeStatistics holding(long chunks, long bytes) {
        return new NodeStatistics(1L << 40, bytes, bytes, chunks, 0, 0, 1, true, 0, 0, 0, 0);
    }

    private static long seconds(long s) {
        return TimeUnit.SECONDS.toNanos(s);
    }

    @Test
    void aDrainShowsHowFarItIsAndWhenItWillBeOver() {
        NodeDrain drain = new NodeDrain("a", 0);
        drain.heard(holding(4_000, 8L << 30), 0);
        assertThat(drain.row(0).done()).isZero();
        assertThat(drain.row(0).text()).isEqualTo("4,000 chunks, 8.0 GiB to give away");
        drain.heard(holding(4_000, 8L << 30), seconds(10)); // it takes some seconds to begin
        drain.heard(holding(3_000, 6L << 30), seconds(20));
        assertThat(drain.row(seconds(20)).text()).doesNotContain("about");
        drain.heard(holding(2_000, 4L << 30), seconds(30));
        assertThat(drain.row(seconds(30)).done()).isEqualTo(0.5);
        assertThat(drain.row(seconds(30)).text())
                .isEqualTo("2,000 chunks, 4.0 GiB to give away, about 20 s left");
        drain.unheard();
        assertThat(drain.row(seconds(31)).text()).startsWith("does not answer");
        assertThat(drain.row(seconds(31)).done()).isEqualTo(0.5);
        assertThat(drain.silentNs(seconds(40))).isEqualTo(seconds(10));
        drain.heard(holding(1, 10), seconds(41));
        assertThat(drain.silentNs(seconds(41))).isZero();
        assertThat(drain.row(seconds(41)).text()).startsWith("1 chunk, 10 B to give away");
        assertThat(drain.row(seconds(41)).over()).isFalse();
        drain.heard(holding(0, 0), seconds(59));
        assertThat(drain.row(seconds(59)))
                .isEqualTo(new ProgressView.Row("a", 1, "8.0 GiB given away in 59 s", true));
    }

    @Test
    void aDrainThatStandsStillSaysSoOnceAMinute() {
        NodeDrain drain = new NodeDrain("a", 0);
        drain.heard(holding(3, 10), seconds(1));
        assertThat(drain.hasStalled(seconds(60))).isFalse();
        assertThat(drain.hasStalled(seconds(61))).isTrue();
        assertThat(drain.hasStalled(seconds(62))).isFalse();
        drain.heard(holding(2, 7), seconds(100));
        assertThat(drain.hasStalled(seconds(159))).isFalse();
        assertThat(drain.hasStalled(seconds(160))).isTrue();
    }
}
