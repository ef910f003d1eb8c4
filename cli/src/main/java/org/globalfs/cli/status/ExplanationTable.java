package org.globalfs.cli.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.globalfs.client.vfs.Explanation;

/** Why a directory lives where it does, for people. */
public final class ExplanationTable {
    private ExplanationTable() {}

    public static String of(Explanation explanation) {
        StringBuilder out = new StringBuilder();
        out.append("lives in  ").append(explanation.home()).append('\n');
        if (!explanation.rule().isEmpty()) {
            out.append("rule      ").append(explanation.rule().replace("\n", "\n          "));
            out.append('\n');
        }
        if (!explanation.uses().isEmpty()) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("REGION", "READS", "WRITES"));
            for (Explanation.Use use : explanation.uses()) {
                rows.add(List.of(use.region(), rounded(use.reads()), rounded(use.writes())));
            }
            out.append('\n').append(Columns.of(rows));
        }
        if (!explanation.verdict().isEmpty()) {
            out.append('\n').append(explanation.verdict()).append('\n');
        }
        return out.toString();
    }

    private static String rounded(double count) {
        return String.format(Locale.ROOT, count < 10 ? "%.1f" : "%,.0f", count);
    }
}
