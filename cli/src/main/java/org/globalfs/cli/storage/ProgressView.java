package org.globalfs.cli.storage;

import java.io.Console;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;

/** Shows how far several nodes are, again and again. */
public interface ProgressView {

    /**
     * A node and how far it is.
     *
     * @param done of 1
     * @param over nothing more comes of it
     */
    record Row(String node, double done, String text, boolean over) {}

    /**
     * @param rows all nodes, the same ones and in the same order each time
     */
    void show(List<Row> rows);

    /** Says something between. */
    void say(String line);

    /** Bars that are drawn over and over where somebody looks on, and lines now and then else. */
    static ProgressView of(PrintStream out) {
        boolean terminal =
                Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent()
                        && !"dumb".equals(System.getenv("TERM"));
        return terminal ? new TerminalView(out) : new LineView(out, LineView.EVERY_MS);
    }

    /** As wide as the widest, so that what comes behind is one column. */
    static String padded(Row row, List<Row> rows) {
        int width = rows.stream().mapToInt(other -> other.node().length()).max().orElse(1);
        return String.format("%-" + width + "s", row.node());
    }
}
