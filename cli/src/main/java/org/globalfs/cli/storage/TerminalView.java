package org.globalfs.cli.storage;

import java.io.PrintStream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A bar for each node, drawn anew in its place; that of a node that is through stays above the
 * others.
 */
final class TerminalView implements ProgressView {

    /** Lines that left the screen cannot be drawn over. */
    private static final int MOST_BARS = 16;

    private static final String UP = "\u001b[%dA";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";

    /** A line that is too long would be two, and the next drawing one too low. */
    private static final String NO_WRAP = "\u001b[?7l";

    private static final String WRAP = "\u001b[?7h";

    private final PrintStream out;
    private final Set<String> told = new HashSet<>();
    private int drawn;

    TerminalView(PrintStream out) {
        this.out = out;
    }

    @Override
    public void show(List<Row> rows) {
        StringBuilder screen = new StringBuilder(NO_WRAP);
        if (drawn > 0) {
            screen.append(String.format(UP, drawn));
        }
        for (Row row : rows) {
            if (row.over() && told.add(row.node())) {
                line(screen, bar(row, rows));
            }
        }
        List<Row> running = rows.stream().filter(row -> !row.over()).toList();
        drawn = Math.min(MOST_BARS, running.size());
        running.stream().limit(MOST_BARS).forEach(row -> line(screen, bar(row, rows)));
        if (running.size() > MOST_BARS) {
            line(screen, "and " + (running.size() - MOST_BARS) + " more");
            drawn++;
        }
        out.print(screen.append(CLEAR_BELOW).append(WRAP));
        out.flush();
    }

    /** Above the bars, which are drawn again below it. */
    @Override
    public void say(String line) {
        String bars = drawn > 0 ? String.format(UP, drawn) + CLEAR_BELOW : "";
        out.println(bars + line);
        drawn = 0;
    }

    private static String bar(Row row, List<Row> rows) {
        return ProgressView.padded(row, rows)
                + "  "
                + ProgressText.bar(row.done())
                + ' '
                + ProgressText.percent(row.done())
                + "  "
                + row.text();
    }

    private static void line(StringBuilder screen, String text) {
        screen.append(text).append(CLEAR_LINE).append('\n');
    }
}
