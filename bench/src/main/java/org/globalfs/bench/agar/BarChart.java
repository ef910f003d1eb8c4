package org.globalfs.bench.agar;

import java.util.List;
import java.util.Locale;

/**
 * Groups of bars as SVG.
 *
 * @param groups labels along the x axis
 * @param series names, one bar of each in every group
 * @param values by group, then series
 */
record BarChart(
        String title,
        String xLabel,
        String yLabel,
        List<String> groups,
        List<String> series,
        double[][] values) {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 360;
    private static final int LEFT = 70;
    private static final int RIGHT = 130;
    private static final int TOP = 36;
    private static final int BOTTOM = 50;
    private static final String[] COLOURS = {
        "#1b5e8c", "#e07b39", "#5a9e6f", "#b0413e", "#8a6bb1", "#8d8d8d", "#d4b13f", "#4fb0c6"
    };

    String svg() {
        double top = niceTop();
        StringBuilder out = new StringBuilder();
        out.append(
                String.format(
                        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'"
                                + " font-family='sans-serif' font-size='12'>%n"
                                + "<rect width='100%%' height='100%%' fill='white'/>%n",
                        WIDTH, HEIGHT));
        text(out, WIDTH / 2.0, 20, "middle", title);
        text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", xLabel);
        text(out, LEFT, TOP - 6, "start", yLabel);
        for (int i = 0; i <= 4; i++) {
            double y = y(top * i / 4, top);
            out.append(
                    String.format(
                            Locale.ROOT,
                            "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>%n",
                            LEFT,
                            WIDTH - RIGHT,
                            y,
                            y));
            text(out, LEFT - 6, y + 4, "end", String.format(Locale.ROOT, "%.4g", top * i / 4));
        }
        double groupWidth = (double) (WIDTH - LEFT - RIGHT) / groups.size();
        double barWidth = groupWidth * 0.8 / series.size();
        for (int g = 0; g < groups.size(); g++) {
            double x = LEFT + groupWidth * (g + 0.1);
            for (int s = 0; s < series.size(); s++) {
                double y = y(values[g][s], top);
                out.append(
                        String.format(
                                Locale.ROOT,
                                "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>%n",
                                x + barWidth * s,
                                y,
                                barWidth,
                                HEIGHT - BOTTOM - y,
                                COLOURS[s % COLOURS.length]));
            }
            text(out, x + groupWidth * 0.4, HEIGHT - BOTTOM + 16, "middle", groups.get(g));
        }
        for (int s = 0; s < series.size() && series.size() > 1; s++) {
            int y = TOP + 18 * s;
            out.append(
                    String.format(
                            "<rect x='%d' y='%d' width='12' height='12' fill='%s'/>%n",
                            WIDTH - RIGHT + 10, y, COLOURS[s % COLOURS.length]));
            text(out, WIDTH - RIGHT + 28, y + 11, "start", series.get(s));
        }
        return out.append("</svg>\n").toString();
    }

    private static double y(double value, double top) {
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
    }

    private double niceTop() {
        double max = 1e-9;
        for (double[] group : values) {
            for (double value : group) {
                max = Math.max(max, value);
            }
        }
        double step = Math.pow(10, Math.floor(Math.log10(max)));
        return Math.ceil(max / step * 2) / 2 * step;
    }

    private static void text(StringBuilder out, double x, double y, String anchor, String text) {
        out.append(
                String.format(
                        Locale.ROOT,
                        "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>%n",
                        x,
                        y,
                        anchor,
                        text.replace("&", "&amp;").replace("<", "&lt;")));
    }
}
