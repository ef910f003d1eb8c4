package org.globalfs.bench.datastore;

import java.util.Locale;
import org.globalfs.bench.lab.Figure;
import org.jspecify.annotations.Nullable;

/**
 * One line of the printed table.
 *
 * @param beside what it is measured against in the same run
 * @param goal what the figure, or its ratio to the other, should be at least; null: none is set
 */
record Line(String what, Figure ours, @Nullable Figure beside, @Nullable Goal goal) {
    static final String HEAD =
            "| measurement | GlobalFS | beside | ratio | target | met |%n|---|---|---|---|---|---|"
                    .formatted();

    /**
     * @param ofRatio else of the figure itself
     */
    record Goal(double atLeast, boolean ofRatio, String text) {
        static Goal ratio(double atLeast, String text) {
            return new Goal(atLeast, true, text);
        }

        static Goal figure(double atLeast, String text) {
            return new Goal(atLeast, false, text);
        }
    }

    private double ratio() {
        return beside == null || beside.median() == 0
                ? Double.NaN
                : ours.median() / beside.median();
    }

    /** Null: there is no target, or nothing to compare with. */
    @Nullable Boolean isMet() {
        if (goal == null || goal.ofRatio() && Double.isNaN(ratio())) {
            return null;
        }
        return (goal.ofRatio() ? ratio() : ours.median()) >= goal.atLeast();
    }

    String markdown() {
        Boolean met = isMet();
        return "| %s | %s | %s | %s | %s | %s |"
                .formatted(
                        what,
                        ours,
                        beside == null ? "–" : beside,
                        Double.isNaN(ratio()) ? "–" : String.format(Locale.ROOT, "%.2f", ratio()),
                        goal == null ? "–" : goal.text(),
                        met == null ? "–" : met ? "yes" : "**no**");
    }
}
