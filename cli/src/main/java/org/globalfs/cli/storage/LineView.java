package org.globalfs.cli.storage;

import java.io.PrintStream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Says every few seconds how far each node is, in a line each, and once how it ends. */
final class LineView implements ProgressView {
    static final long EVERY_MS = 5_000;

    private final PrintStream out;
    private final long everyNs;
    private final Set<String> told = new HashSet<>();
    private long lastNs = System.nanoTime();

    LineView(PrintStream out, long everyMs) {
        this.out = out;
        this.everyNs = TimeUnit.MILLISECONDS.toNanos(everyMs);
    }

    @Override
    public void show(List<Row> rows) {
        boolean due = System.nanoTime() - lastNs >= everyNs;
        for (Row row : rows) {
            if (row.over() ? told.add(row.node()) : due) {
                out.println(
                        ProgressView.padded(row, rows)
                                + "  "
                                + ProgressText.percent(row.done())
                                + "  "
                                + row.text());
            }
        }
        if (due) {
            lastNs = System.nanoTime();
        }
    }

    @Override
    public void say(String line) {
        out.println(line);
    }
}
