package org.globalfs.bench.lab;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** One quantity, measured once a round. */
public record Figure(String unit, List<Double> rounds) {
    public Figure {
        rounds = List.copyOf(rounds);
    }

    public double median() {
        List<Double> sorted = new ArrayList<>(rounds);
        Collections.sort(sorted);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** The median, and what the rounds spread over. */
    @Override
    public String toString() {
        String text = number(median()) + unit;
        return rounds.size() == 1
                ? text
                : text
                        + " ("
                        + number(Collections.min(rounds))
                        + "–"
                        + number(Collections.max(rounds))
                        + ")";
    }

    private static String number(double value) {
        String format =
                Math.abs(value) >= 100 || value == 0 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}
